package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const repository = "../../.."

var examples = []string{"dev", "prod", "managed-scram", "managed-oauth"}

// helm runs Helm, which has no cluster and no files of a user.
func helm(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	program := os.Getenv("RECRAWL_HELM")
	if program == "" {
		t.Fatal("RECRAWL_HELM is not set: run .tools/k8s-check/helm/run")
	}
	home := t.TempDir()
	command := exec.Command(program, arguments...)
	command.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "KUBECONFIG=" + filepath.Join(home, "none")}
	output, err := command.CombinedOutput()
	return string(output), err
}

// render is what `helm template` makes of the chart, by an example of values or "" and further arguments.
func render(t *testing.T, namespace, example string, further ...string) []object {
	t.Helper()
	return parse(t, rendered(t, filepath.Join(repository, chart), namespace, example, further...))
}

func rendered(t *testing.T, chart, namespace, example string, further ...string) string {
	t.Helper()
	arguments := []string{"template", "recrawl", chart, "--namespace", namespace}
	if example != "" {
		arguments = append(arguments, "--values", valuesOf(example))
	}
	output, err := helm(t, append(arguments, further...)...)
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return output
}

func valuesOf(example string) string {
	return filepath.Join(repository, "k8s/helm/values", example+".yaml")
}

func parse(t *testing.T, documents string) (objects []object) {
	t.Helper()
	for _, document := range strings.Split("\n"+documents, "\n---\n") {
		fields := object{}
		if err := yaml.UnmarshalStrict([]byte(document), &fields); err != nil {
			t.Fatalf("%v in:\n%s", err, document)
		}
		if len(fields) > 0 {
			objects = append(objects, fields)
		}
	}
	return objects
}

// overlay is what Kustomize makes of an overlay of the repository, with further components, or of one that is given.
func overlay(t *testing.T, name, kustomization string, files map[string]string) []object {
	t.Helper()
	memory, err := manifests(repository)
	if err != nil {
		t.Fatal(err)
	}
	root := "/k8s/overlays/" + name
	if kustomization != "" {
		files["kustomization.yaml"] = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n" + kustomization
	}
	for file, text := range files {
		if err := memory.WriteFile(filepath.Join(root, file), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := build(memory, root)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// withComponents is the kustomization of an overlay with the components that it names in comments.
func withComponents(t *testing.T, name string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "k8s/overlays", name, "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	taken := strings.ReplaceAll(string(text), "  # - ../../components/", "  - ../../components/")
	if strings.Count(taken, "- ../../components/")-strings.Count(string(text), "  - ../../components/") != 4 {
		t.Fatalf("the overlay %s names other components than delivery and console", name)
	}
	return map[string]string{"kustomization.yaml": taken}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// The repository's own manifests in memory, where one can be broken at a time.
func repository(t *testing.T) filesys.FileSystem {
	t.Helper()
	files := filesys.MakeFsInMemory()
	root := filepath.Join("..", "..")
	copyFile := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		if err := files.WriteFile(filepath.Join("/", name), text); err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.Walk(filepath.Join(root, "k8s"), func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			copyFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	services, err := filepath.Glob(filepath.Join(root, "services", "*", "Cargo.toml"))
	if err != nil || len(services) == 0 {
		t.Fatal("no services found", err)
	}
	for _, service := range services {
		copyFile(service)
	}
	return files
}

func TestTheManifestsAreValid(t *testing.T) {
	roots, faults := checkAll(repository(t), "/")
	if len(faults) > 0 {
		t.Fatal(strings.Join(faults, "\n"))
	}
	if len(roots) < 2 {
		t.Fatalf("only %v was checked", roots)
	}
}

func TestABrokenManifestIsRefused(t *testing.T) {
	cases := []struct{ claim, file, text, instead, fault string }{
		{"unknown field", "base/scheduler.yaml", "  replicas: 1\n", "  replicsa: 1\n", `unknown field "spec.replicsa"`},
		{"field of another kind", "base/fetcher.yaml", "  replicas: 1\n", "  replicas: 1\n  serviceName: x\n", `unknown field "spec.serviceName"`},
		{"repeated field", "base/detector.yaml", "  replicas: 1\n", "  replicas: 1\n  replicas: 2\n", `replicas" already set`},
		{"wrong type", "base/estimator.yaml", "  replicas: 1\n", "  replicas: one\n", "estimator"},
		{"missing file", "base/kustomization.yaml", "  - topics.yaml\n", "  - topic.yaml\n", "topic.yaml"},
		{"no memory limit", "base/fetcher.yaml", "            limits: {memory: 1Gi}\n", "", "limit for memory"},
		{"root", "base/common/pod.yaml", "        runAsNonRoot: true\n", "", "runAsNonRoot"},
		{"container as root", "base/common/pod.yaml", "            allowPrivilegeEscalation: false\n", "            allowPrivilegeEscalation: false\n            runAsUser: 0\n", "runs as root"},
		{"writable root", "base/common/pod.yaml", "            readOnlyRootFilesystem: true\n", "", "readOnlyRootFilesystem"},
		{"capabilities", "base/common/pod.yaml", "drop: [ALL]", "drop: [NET_RAW]", "all capabilities"},
		{"service links", "base/common/pod.yaml", "      enableServiceLinks: false\n", "", "enableServiceLinks"},
		{"no such account", "base/common/pod.yaml", "serviceAccountName: recrawl", "serviceAccountName: crawler", `ServiceAccount "crawler"`},
		{"no such settings", "base/common/pod.yaml", "            name: recrawl\n", "            name: settings\n", `ConfigMap "settings"`},
		{"wrong probe", "base/common/stage.yaml", "/readyz", "/ready", "no readinessProbe"},
		{"probe of no port", "base/common/stage.yaml", "              port: http\n            initial", "              port: https\n            initial", `asks port "https"`},
		{"no Prometheus", "base/common/stage.yaml", "scrape: \"true\"", "scrape: \"false\"", "Prometheus"},
		{"no grace", "base/topics.yaml", "      terminationGracePeriodSeconds: 10\n", "", "terminationGracePeriodSeconds"},
		{"state without volume", "base/scheduler.yaml", "        name: state\n", "        name: pages\n", "volume pages is mounted nowhere"},
		{"no headless service", "base/scheduler.yaml", "  clusterIP: None\n", "", "no headless Service"},
		{"budget for nobody", "base/detector.yaml", "  maxUnavailable: 1\n  selector:\n    matchLabels:\n      app.kubernetes.io/name: recrawl-detector", "  maxUnavailable: 1\n  selector:\n    matchLabels:\n      app.kubernetes.io/name: detector", "has no PodDisruptionBudget"},
		{"service of nobody", "base/estimator.yaml", "  selector:\n    app.kubernetes.io/name: recrawl-estimator", "  selector:\n    app.kubernetes.io/name: estimator", "selects no pods"},
		{"image of no service", "base/fetcher.yaml", "image: recrawl-fetcher", "image: recrawl-fetch:1", "no service that k8s/Dockerfile builds"},
		{"image without version", "base/kustomization.yaml", "  - name: recrawl-fetcher\n    newTag: 0.1.0\n", "", "no version"},
		{"another's binary", "base/fetcher.yaml", "command: [recrawl-fetcher,", "command: [recrawl-detector,", "does not start with recrawl-fetcher"},
		{"overlay of nothing", "overlays/example/kustomization.yaml", "- name: recrawl-estimator\n    count", "- name: recrawl-estimater\n    count", "recrawl-estimater"},
		{"no argument", "Dockerfile", "\nARG SERVICE\n", "\n", "ARG SERVICE"},
	}
	for _, c := range cases {
		t.Run(c.claim, func(t *testing.T) {
			files := repository(t)
			path := filepath.Join("/k8s", c.file)
			text, err := files.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), c.text) {
				t.Fatalf("%s no longer contains %q: change this test with it", c.file, c.text)
			}
			if err := files.WriteFile(path, []byte(strings.ReplaceAll(string(text), c.text, c.instead))); err != nil {
				t.Fatal(err)
			}
			_, faults := checkAll(files, "/")
			if !strings.Contains(strings.Join(faults, "\n"), c.fault) {
				t.Fatalf("wanted a fault with %q, got %d:\n%s", c.fault, len(faults), strings.Join(faults, "\n"))
			}
		})
	}
}

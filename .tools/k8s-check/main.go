// Are the Kubernetes manifests valid, and do they keep the house rules? Answered offline.
//
//	k8s-check REPOSITORY
//
// Builds k8s/base and every k8s/overlays/* with Kustomize, also with the components that they leave out (delivery.go). It
// decodes every object strictly into the API's own types (an unknown or repeated field is an error) and looks for the fields
// that its schema requires, or validates it against the schema of its custom resource. It lets the library of the API server
// judge pods by the pod security standards, and applies the rules of rules.go. Then it checks alerts and dashboards
// (monitoring.go), what is generated from the catalogue of topics (catalogue.go), and compose.yaml. It never talks to a
// cluster, so what only a cluster knows (quotas, further admission, storage classes, whether an image exists) is not looked
// at. UPDATE=1 writes what is generated.
//
// The API types are those of Kubernetes 1.26: what passes here works on every release since, and this builds with the
// Go of any current Debian.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	models "k8s.io/kube-openapi/pkg/util/proto"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	strictyaml "sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: k8s-check REPOSITORY")
		os.Exit(2)
	}
	files := filesys.MakeFsOnDisk()
	roots, faults := checkAll(files, os.Args[1], os.Getenv("UPDATE") != "")
	for _, fault := range faults {
		fmt.Fprintln(os.Stderr, fault)
	}
	if len(faults) > 0 {
		fmt.Fprintf(os.Stderr, "error: %d faults in the Kubernetes manifests\n", len(faults))
		os.Exit(1)
	}
	fmt.Printf("Kubernetes manifests are valid: %s\n", strings.Join(roots, ", "))
}

// checkAll checks the base and all overlays, and what belongs to them. It returns what it built, and all faults.
func checkAll(files filesys.FileSystem, repository string, update bool) (roots []string, faults []string) {
	k8s := filepath.Join(repository, "k8s")
	faults = append(repeatedKeys(files, k8s), generated(files, repository, update)...)

	schemas, err := customSchemas()
	if err != nil {
		return nil, append(faults, err.Error())
	}
	builtIn, err := kubernetesSchemas()
	if err != nil {
		return nil, append(faults, err.Error())
	}
	topics, err := catalogue(files, repository)
	if err != nil {
		return nil, append(faults, err.Error())
	}
	faults = append(faults, checkCompose(files, repository, stagesOf(topics))...)
	if !enough(faults) {
		faults = append(faults, checkMonitoring(files, repository)...)
	}
	overlays, err := files.Glob(filepath.Join(k8s, "overlays", "*", "kustomization.yaml"))
	if err != nil {
		return nil, append(faults, err.Error())
	}
	sort.Strings(overlays)
	check := func(files filesys.FileSystem, root, name string) {
		if enough(faults) {
			return
		}
		roots = append(roots, name)
		objects, customs, errs := build(files, root, builtIn)
		for _, err := range errs {
			faults = append(faults, fmt.Sprintf("%s: %v", name, err))
		}
		if len(errs) > 0 {
			return
		}
		settings, err := files.ReadFile(filepath.Join(root, "recrawl.toml"))
		if err != nil {
			faults = append(faults, err.Error())
		}
		found := append(brokenRules(objects, stagesOf(topics)), kafkaTopics(customs, topics, string(settings))...)
		found = append(found, rights(customs, topics)...)
		for _, object := range customs {
			found = append(found, checkCustom(schemas, object)...)
		}
		for _, fault := range append(found, referencesOfCustoms(objects, customs, stagesOf(topics))...) {
			faults = append(faults, name+": "+fault)
		}
	}
	for _, kustomization := range append([]string{filepath.Join(k8s, "base", "kustomization.yaml")}, overlays...) {
		root := filepath.Dir(kustomization)
		name, err := filepath.Rel(repository, root)
		if err != nil {
			name = root
		}
		if !skipWithout {
			check(files, root, name)
		}
	}
	extended, extendedRoots, err := withComponents(files, k8s, overlays)
	if err != nil {
		return nil, append(faults, err.Error())
	}
	for _, root := range extendedRoots {
		check(extended, root, strings.TrimPrefix(root, "/")+" with all components")
	}
	return roots, faults
}

// enough says whether the faults so far answer the question, so that nothing more need be built. Tests that wait for one
// fault set it.
var enough = func(faults []string) bool { return false }

// build runs Kustomize and decodes what it gives.
func build(files filesys.FileSystem, root string, schemas models.Models) (objects []runtime.Object, customs []custom, errs []error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, root)
	if err != nil {
		return nil, nil, []error{err}
	}
	strict := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	for _, resource := range built.Resources() {
		text, err := resource.AsYAML()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		fields := map[string]interface{}{}
		if err := strictyaml.Unmarshal(text, &fields); err != nil {
			errs = append(errs, err)
			continue
		}
		if !scheme.Scheme.Recognizes(schema.FromAPIVersionAndKind(resource.GetApiVersion(), resource.GetKind())) {
			customs = append(customs, custom{resource.GetApiVersion(), resource.GetKind(), resource.GetName(), fields})
			continue
		}
		object, _, err := strict.Decode(text, nil, nil)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", resource.GetKind(), resource.GetName(), err))
			continue
		}
		for _, err := range missingFields(schemas, object, fields) {
			errs = append(errs, fmt.Errorf("%s %s: %w", resource.GetKind(), resource.GetName(), err))
		}
		objects = append(objects, object)
	}
	return objects, customs, errs
}

// repeatedKeys finds keys written twice in one mapping. Kustomize keeps one of them and says nothing. Templates of the Helm chart
// are no YAML yet; helm/ reads what Helm makes of them.
func repeatedKeys(files filesys.FileSystem, directory string) (faults []string) {
	err := files.Walk(directory, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() || filepath.Ext(path) != ".yaml" || filepath.Base(filepath.Dir(path)) == "templates" {
			return err
		}
		text, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		documents := yaml.NewDecoder(bytes.NewReader(text))
		for err == nil {
			var document interface{}
			err = documents.Decode(&document)
		}
		if !errors.Is(err, io.EOF) {
			faults = append(faults, fmt.Sprintf("%s: %v", path, err))
		}
		return nil
	})
	if err != nil {
		faults = append(faults, err.Error())
	}
	return faults
}

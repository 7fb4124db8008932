// The Helm chart k8s/helm/recrawl is written from what Kustomize makes of k8s/base and k8s/components.
//
//	helm REPOSITORY
//
// compares the chart's written files with their source; UPDATE=1 writes them. Workloads and network policies become
// templates: their objects, with values of the chart in the places that edits.go lists. Topics, Kafka users, alerts
// and dashboards are copied to the chart's `files`, because a chart cannot read what lies outside of it, and Flux
// hands on no symbolic links. By hand are Chart.yaml, values.yaml, its schema, the notes, and the templates without
// the first line of a written one. The tests render the chart by Helm itself and compare every object with the
// overlays.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
)

const chart = "k8s/helm/recrawl"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: helm REPOSITORY")
		os.Exit(2)
	}
	faults, err := written(os.Args[1], os.Getenv("UPDATE") != "")
	if err != nil {
		faults = append(faults, err.Error())
	}
	for _, fault := range faults {
		fmt.Fprintln(os.Stderr, "error:", fault)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
}

// copied are files of k8s/components that the chart has as they are.
var copied = map[string]string{
	"strimzi/topics.yaml":        "files/topics.yaml",
	"strimzi/users.yaml":         "files/users.yaml",
	"delivery/strimzi/user.yaml": "files/delivery-user.yaml",
	"monitoring/rules.yaml":      "files/rules.yaml",
}

// written compares the chart's written files with their source, or writes them. Files whose source is gone are
// faults, too.
func written(repository string, update bool) (faults []string, err error) {
	texts, err := templates(repository)
	if err != nil {
		return nil, err
	}
	components := filepath.Join(repository, "k8s/components")
	dashboards, err := filepath.Glob(filepath.Join(components, "monitoring/dashboards/*.json"))
	if err != nil {
		return nil, err
	}
	sources := map[string]string{}
	for from, to := range copied {
		sources[filepath.Join(components, from)] = to
	}
	for _, dashboard := range dashboards {
		sources[dashboard] = filepath.Join("files/dashboards", filepath.Base(dashboard))
	}
	for from, to := range sources {
		text, err := os.ReadFile(from)
		if err != nil {
			return nil, err
		}
		texts[to] = string(text)
	}
	for name, text := range texts {
		path := filepath.Join(repository, chart, name)
		if update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return nil, err
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return nil, err
			}
		} else if old, err := os.ReadFile(path); err != nil || string(old) != text {
			faults = append(faults, fmt.Sprintf("%s/%s differs from what it is written from; UPDATE=1 make k8s-check writes it", chart, name))
		}
	}
	left, err := filepath.Glob(filepath.Join(repository, chart, "files/dashboards/*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range left {
		if _, there := texts[filepath.Join("files/dashboards", filepath.Base(path))]; !there {
			faults = append(faults, path+" has no source any more; delete it")
		}
	}
	sort.Strings(faults)
	return faults, nil
}

package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// checkCompose: compose.yaml parses, every mounted file exists, what it waits for is there, and our services run our programs.
func checkCompose(files filesys.FileSystem, repository string, programs map[string]bool) (faults []string) {
	fault := func(format string, arguments ...interface{}) {
		faults = append(faults, "compose.yaml: "+fmt.Sprintf(format, arguments...))
	}
	text, err := files.ReadFile(filepath.Join(repository, "compose.yaml"))
	if err != nil {
		return []string{err.Error()}
	}
	var compose struct {
		Services map[string]struct {
			Image      string
			Build      map[string]interface{}
			Command    []string
			Entrypoint []string
			Volumes    []string
			DependsOn  map[string]interface{} `json:"depends_on"`
		}
		Volumes map[string]interface{}
	}
	if err := yaml.UnmarshalStrict(text, &map[string]interface{}{}); err != nil {
		fault("%v", err)
	}
	if err := yaml.Unmarshal(text, &compose); err != nil {
		fault("%v", err)
	}
	run := map[string]bool{}
	for name, service := range compose.Services {
		if _, tag, _ := strings.Cut(service.Image, ":"); tag == "" || tag == "latest" {
			fault("%s: image %q has no version", name, service.Image)
		}
		if strings.HasPrefix(service.Image, "recrawl:") {
			if len(service.Command) == 0 || !programs[service.Command[0]] {
				fault("%s: command %v is none of our programs", name, service.Command)
			} else {
				run[service.Command[0]] = true
			}
		}
		for _, mount := range service.Volumes {
			source, target, found := strings.Cut(mount, ":")
			switch {
			case !found || !strings.HasPrefix(target, "/"):
				fault("%s: %q mounts nothing", name, mount)
			case strings.HasPrefix(source, "."):
				if !files.Exists(filepath.Join(repository, source)) {
					fault("%s: %s does not exist", name, source)
				}
			default:
				if _, declared := compose.Volumes[source]; !declared {
					fault("%s: volume %s is not declared", name, source)
				}
			}
		}
		for other := range service.DependsOn {
			if _, there := compose.Services[other]; !there {
				fault("%s: waits for %s, which is no service", name, other)
			}
		}
	}
	for _, stage := range stages {
		if !run["recrawl-"+stage] {
			fault("no service runs recrawl-%s", stage)
		}
	}
	return faults
}

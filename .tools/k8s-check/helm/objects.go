package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// An object is what YAML or JSON makes of it.
type object = map[string]any

// manifests is k8s/ in memory, where overlays can be added.
func manifests(repository string) (filesys.FileSystem, error) {
	memory := filesys.MakeFsInMemory()
	k8s := filepath.Join(repository, "k8s")
	err := filepath.WalkDir(k8s, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(k8s, path)
		if err != nil {
			return err
		}
		return memory.WriteFile(filepath.Join("/k8s", inside), text)
	})
	return memory, err
}

// build is what Kustomize makes of a directory.
func build(files filesys.FileSystem, root string) (objects []object, err error) {
	options := krusty.MakeDefaultOptions()
	// An overlay of ours may name single files of a component.
	options.LoadRestrictions = types.LoadRestrictionsNone
	built, err := krusty.MakeKustomizer(options).Run(files, root)
	if err != nil {
		return nil, err
	}
	for _, resource := range built.Resources() {
		fields, err := resource.Map()
		if err != nil {
			return nil, err
		}
		objects = append(objects, fields)
	}
	return objects, nil
}

// at is the value at a path of keys, and nil if there is none. Lists are entered by number.
func at(value any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			fields, _ := value.(object)
			value = fields[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

func text(value any, path ...any) string {
	found, _ := at(value, path...).(string)
	return found
}

// nameOf is kind, namespace and name.
func nameOf(of object) string {
	return fmt.Sprintf("%s %s/%s", text(of, "kind"), text(of, "metadata", "namespace"), text(of, "metadata", "name"))
}

// podOf is the template of an object's pods, nil if it has none.
func podOf(of object) object {
	template, _ := at(of, "spec", "template").(object)
	if text(of, "kind") == "CronJob" {
		template, _ = at(of, "spec", "jobTemplate", "spec", "template").(object)
	}
	return template
}

// stageOf is the stage that an object belongs to, "" if it belongs to none: it has the settings' port and a common
// budget.
func stageOf(of object, stages []string) string {
	for _, stage := range stages {
		if text(of, "metadata", "name") == "recrawl-"+stage {
			return stage
		}
	}
	return ""
}

// stagesOf are the stages: what a workload runs by `recrawl stage NAME`.
func stagesOf(objects []object) (stages []string) {
	for _, of := range objects {
		command, _ := at(podOf(of), "spec", "containers", 0, "command").([]any)
		if len(command) > 2 && command[1] == "stage" {
			stages = append(stages, strings.TrimPrefix(text(of, "metadata", "name"), "recrawl-"))
		}
	}
	return stages
}

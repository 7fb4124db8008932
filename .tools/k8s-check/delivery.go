package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	core "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// The pod that tells changes to others. No overlay has it by default.
const delivery = "recrawl-delivery"

// The components that overlays name in comments, for operators to take in.
var leftOut = []string{"delivery", "delivery/strimzi", "console", "console/strimzi"}

// Set by tests of what has a fault only without these components, or only with them: each takes seconds.
var skipComponents, skipWithout bool

// withComponents is k8s/ in memory, where each overlay has the components that it names in comments, as an operator would take
// them in; and an overlay of the base, the delivery and the console alone, for a Kafka without Strimzi.
func withComponents(files filesys.FileSystem, k8s string, overlays []string) (filesys.FileSystem, []string, error) {
	memory := filesys.MakeFsInMemory()
	if skipComponents {
		return memory, nil, nil
	}
	err := files.Walk(k8s, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		text, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(k8s, path)
		if err != nil {
			return err
		}
		return memory.WriteFile(filepath.Join("/k8s", inside), text)
	})
	if err != nil {
		return nil, nil, err
	}
	var roots []string
	for _, overlay := range overlays {
		root := filepath.Join("/k8s/overlays", filepath.Base(filepath.Dir(overlay)))
		kustomization := filepath.Join(root, "kustomization.yaml")
		text, err := memory.ReadFile(kustomization)
		if err != nil {
			return nil, nil, err
		}
		taken := string(text)
		for _, component := range leftOut {
			line := "  # - ../../components/" + component + "\n"
			if !strings.Contains(taken, line) {
				return nil, nil, fmt.Errorf("%s: has no line %q for operators to take in", overlay, strings.TrimSpace(line))
			}
			taken = strings.Replace(taken, line, strings.Replace(line, "# ", "", 1), 1)
		}
		if err := memory.WriteFile(kustomization, []byte(taken)); err != nil {
			return nil, nil, err
		}
		roots = append(roots, root)
	}
	const bare = "/k8s/overlays/bare"
	settings, err := memory.ReadFile("/k8s/base/recrawl.toml")
	if err == nil {
		err = memory.WriteFile(bare+"/recrawl.toml", settings)
	}
	if err == nil {
		err = memory.WriteFile(bare+"/kustomization.yaml", []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"+
			"resources: [../../base]\ncomponents: [../../components/delivery, ../../components/console]\n"))
	}
	return memory, append(roots, bare), err
}

func (w workload) isDelivery() bool { return w.name == "StatefulSet "+delivery }

// delivery: its words are those of a command that goes on for ever, shows its health, reads Kafka, keeps its position on a
// volume that outlives the pod, and has what is secret from files of a Secret: a list of processes shows all words.
func (r *rules) delivery(w workload, c core.Container) {
	words := append(append([]string{}, c.Command...), c.Args...)
	r.require(len(words) > 1 && words[0] == "recrawl" && words[1] == "changes", "%s: does not run recrawl changes", w.name)
	r.require(w.replicas == 1, "%s: has %d replicas, and each would tell all changes", w.name, w.replicas)
	values := map[string]string{}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		values[name] = value
		r.require(!strings.Contains(word, "://"), "%s: an address is among the words of its command", w.name)
	}
	has := func(name string) bool { _, there := values[name]; return there }
	r.require(has("--follow") && has("--serve"), "%s: does not follow, or does not serve its health", w.name)
	isClaim := false
	for _, claim := range w.claims {
		isClaim = isClaim || claim.Name == volumeOf(c, values["--cursor-file"])
	}
	r.require(isClaim, "%s: its --cursor-file is on no claimed volume", w.name)
	address := values["--webhook"]
	r.require(strings.HasPrefix(address, "@") && inSecret(w, c, address[1:]), "%s: --webhook is not @ and a file of a Secret that must be there", w.name)
	for _, option := range []string{"--secret-file", "--header-file"} {
		r.require(!has(option) || inSecret(w, c, values[option]), "%s: %s is no file of a Secret that must be there", w.name, option)
	}
	readsKafka := false
	for _, variable := range c.Env {
		r.require(variable.Name != "RECRAWL_WEBHOOK_SECRET" && !strings.Contains(variable.Value, "://"),
			"%s: variable %s: what is secret belongs into a file", w.name, variable.Name)
		readsKafka = readsKafka || variable.Name == "RECRAWL_CRAWL_DATA" && variable.Value == "" && variable.ValueFrom == nil
	}
	r.require(readsKafka, "%s: RECRAWL_CRAWL_DATA is not empty: it would not read Kafka", w.name)
}

// volumeOf is the volume that a file of a container is on, "" if it is on none.
func volumeOf(c core.Container, file string) (volume string) {
	for _, mount := range c.VolumeMounts {
		if strings.HasPrefix(file, mount.MountPath+"/") {
			volume = mount.Name
		}
	}
	return volume
}

// inSecret says whether a file is of a Secret without which the pod does not start.
func inSecret(w workload, c core.Container, file string) bool {
	for _, volume := range w.template.Spec.Volumes {
		if volume.Name == volumeOf(c, file) && volume.Secret != nil {
			return volume.Secret.Optional == nil || !*volume.Secret.Optional
		}
	}
	return false
}

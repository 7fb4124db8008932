package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"sort"
	"strings"

	"github.com/BurntSushi/toml"
)

// The two ways in which the objects are made.
type maker int

const (
	byKustomize maker = iota
	byHelm
)

// A difference that is meant. It takes it out of an object, or the object itself out of the comparison.
type difference struct {
	why     string
	takeOut func(by maker, of object) (isCompared bool, err error)
}

// The settings' ConfigMap, as the chart names it and as Kustomize does, whose hashes have these characters.
var settingsName = regexp.MustCompile(`^recrawl(-[2456789bcdfghkmt]{10})?$`)

const checksum, keep = "checksum/settings", "helm.sh/resource-policy"

var meant = []difference{
	{"the namespace is made before a release, by --create-namespace, by GitOps or by hand", func(by maker, of object) (bool, error) {
		return by == byHelm || text(of, "kind") != "Namespace", nil
	}},
	{"Kafka outlives a release: `helm uninstall` must not remove it", func(by maker, of object) (bool, error) {
		kind := text(of, "kind")
		return by == byHelm || kind != "Kafka" && kind != "KafkaNodePool", nil
	}},
	{"topics outlive a release, and Strimzi deletes a topic with its object", func(by maker, of object) (bool, error) {
		if by == byHelm && text(of, "kind") == "KafkaTopic" {
			if text(of, "metadata", "annotations", keep) != "keep" {
				return true, fmt.Errorf("%s: Helm would delete it with the release", nameOf(of))
			}
			withoutAnnotation(at(of, "metadata"), keep)
		}
		return true, nil
	}},
	{"Kustomize names the settings by their content, so that pods are replaced with them; the chart has an annotation for that, as " +
		"Helm deletes the settings of the version before, to which the pods of a rollout still refer", func(by maker, of object) (bool, error) {
		pod := podOf(of)
		if by == byHelm && pod != nil && text(of, "kind") != "CronJob" {
			if text(pod, "metadata", "annotations", checksum) == "" {
				return true, fmt.Errorf("%s: its pods stay as they are when settings change", nameOf(of))
			}
			withoutAnnotation(at(pod, "metadata"), checksum)
		}
		volumes := volumesOf(of)
		for _, volume := range volumes {
			if source, ok := at(volume, "configMap").(object); ok && settingsName.MatchString(text(source, "name")) {
				source["name"] = "recrawl"
			}
		}
		if text(of, "kind") == "ConfigMap" && settingsName.MatchString(text(of, "metadata", "name")) {
			at(of, "metadata").(object)["name"] = "recrawl"
		}
		return true, nil
	}},
	{"the chart writes recrawl.toml from values: settings are compared, and not their order and comments", func(by maker, of object) (bool, error) {
		data, _ := at(of, "data").(object)
		file, there := data["recrawl.toml"].(string)
		if !there {
			return true, nil
		}
		settings := object{}
		_, err := toml.Decode(file, &settings)
		if err != nil {
			return true, fmt.Errorf("%s: %w in:\n%s", nameOf(of), err, file)
		}
		// 50 is as good as 50.0 for a setting that is a number (crates/settings/src/raw.rs).
		data["recrawl.toml"], err = plain(settings)
		return true, err
	}},
	{"volumes of a pod have no order, and a patch of Kustomize puts its own first", func(by maker, of object) (bool, error) {
		volumes := volumesOf(of)
		sort.Slice(volumes, func(one, other int) bool { return text(volumes[one], "name") < text(volumes[other], "name") })
		return true, nil
	}},
}

func volumesOf(of object) []any {
	volumes, _ := at(podOf(of), "spec", "volumes").([]any)
	return volumes
}

// plain is an object as JSON has it: with one kind of number.
func plain(of object) (copied object, err error) {
	text, err := json.Marshal(of)
	if err == nil {
		err = json.Unmarshal(text, &copied)
	}
	return copied, err
}

func withoutAnnotation(metadata any, name string) {
	annotations := at(metadata, "annotations").(object)
	delete(annotations, name)
	if len(annotations) == 0 {
		delete(metadata.(object), "annotations")
	}
}

// normal is objects by their name, without what differs on purpose.
func normal(by maker, objects []object) (map[string]object, error) {
	named := map[string]object{}
	for _, of := range objects {
		copied, err := plain(of)
		if err != nil {
			return nil, err
		}
		isCompared := true
		for _, is := range meant {
			compared, err := is.takeOut(by, copied)
			if err != nil {
				return nil, fmt.Errorf("%w (%s)", err, is.why)
			}
			isCompared = isCompared && compared
		}
		if !isCompared {
			continue
		}
		name := nameOf(copied)
		if _, there := named[name]; there {
			return nil, fmt.Errorf("%s is there twice", name)
		}
		named[name] = copied
	}
	return named, nil
}

// compare lists what differs between the objects of an overlay and those of the chart.
func compare(overlay, chart []object) (found []string, err error) {
	wanted, err := normal(byKustomize, overlay)
	if err != nil {
		return nil, err
	}
	got, err := normal(byHelm, chart)
	if err != nil {
		return nil, err
	}
	for name, of := range wanted {
		if other, there := got[name]; there {
			found = append(found, differences(name, of, other)...)
		} else {
			found = append(found, name+" is missing in the chart")
		}
	}
	for name := range got {
		if _, there := wanted[name]; !there {
			found = append(found, name+" is only in the chart")
		}
	}
	sort.Strings(found)
	return found, nil
}

// differences are the places where two values differ.
func differences(path string, wanted, got any) (found []string) {
	switch wanted := wanted.(type) {
	case object:
		other, isObject := got.(object)
		if !isObject {
			break
		}
		for key, value := range wanted {
			found = append(found, differences(path+" "+key, value, other[key])...)
		}
		for key, value := range other {
			if _, there := wanted[key]; !there {
				found = append(found, differences(path+" "+key, nil, value)...)
			}
		}
		return found
	case []any:
		other, isList := got.([]any)
		if !isList || len(wanted) != len(other) {
			break
		}
		for number := range wanted {
			found = append(found, differences(fmt.Sprintf("%s %d", path, number), wanted[number], other[number])...)
		}
		return found
	}
	if reflect.DeepEqual(wanted, got) {
		return nil
	}
	return []string{fmt.Sprintf("%s: Kustomize has %s, the chart %s", path, short(wanted), short(got))}
}

func short(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return strings.ToValidUTF8(fmt.Sprintf("%.300s", text), "")
}

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// namespace stands for that of the release until the text is made.
const namespace = "release-namespace"

const source = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: ` + namespace + `
resources: [../base, ../components/keda/fetcher.yaml, ../components/monitoring/pod-monitor.yaml]
components: [../components/network-policies, ../components/delivery, ../components/console]
`

// A place of the text that Helm fills.
type place struct {
	template string
	// Whether the template takes the whole line, and not only the value.
	isLine bool
}

// A writer of templates. Places are marked in the objects and become text when the object has become YAML.
type writer struct{ places []place }

// value marks a value. In the template, @ stands for the indentation of what is below the value.
func (w *writer) value(template string) string { return w.mark(template, false) }

// line marks a line, with an element of a list or a field of any name. In the template, @ stands for its indentation,
// and @@ for as many blanks.
func (w *writer) line(template string) string { return w.mark(template, true) }

// Marks sort behind all other keys, so that a mark is never the first field of an element.
func (w *writer) mark(template string, isLine bool) string {
	w.places = append(w.places, place{template, isLine})
	return fmt.Sprintf("zPLACE%d", len(w.places)-1)
}

var mark = regexp.MustCompile(`(?m)^( *)(.*?)zPLACE(\d+)(: null)?$`)

func (w *writer) text(of object) (string, error) {
	plain, err := yaml.Marshal(of)
	if err != nil {
		return "", err
	}
	filled := mark.ReplaceAllStringFunc(string(plain), func(line string) string {
		parts := mark.FindStringSubmatch(line)
		number, _ := strconv.Atoi(parts[3])
		at := w.places[number]
		if at.isLine {
			return strings.NewReplacer("@@", parts[1], "@", strconv.Itoa(len(parts[1]))).Replace(at.template)
		}
		below := len(parts[1]) + 2
		if strings.HasPrefix(parts[2], "- ") {
			below += 2
		}
		return parts[1] + parts[2] + strings.ReplaceAll(at.template, "@", strconv.Itoa(below))
	})
	filled = strings.ReplaceAll(filled, namespace, "{{ .Release.Namespace }}")
	if strings.Contains(filled, "zPLACE") {
		return "", fmt.Errorf("%s: a place of the template was lost", nameOf(of))
	}
	return filled, nil
}

// templates are the texts of the templates that are written, by name of file.
func templates(repository string) (map[string]string, error) {
	files, err := manifests(repository)
	if err != nil {
		return nil, err
	}
	if err := files.WriteFile("/k8s/chart/kustomization.yaml", []byte(source)); err != nil {
		return nil, err
	}
	objects, err := build(files, "/k8s/chart")
	if err != nil {
		return nil, err
	}
	stages := stagesOf(objects)
	texts, conditions := map[string]string{}, map[string]string{}
	for _, of := range objects {
		file, condition := fileOf(of, stages)
		if file == "" {
			continue
		}
		w := &writer{}
		if err := w.edit(of, stages); err != nil {
			return nil, fmt.Errorf("%s: %w", nameOf(of), err)
		}
		text, err := w.text(of)
		if err != nil {
			return nil, err
		}
		name := "templates/" + file
		texts[name] += "---\n" + text
		conditions[name] = condition
	}
	for name, condition := range conditions {
		if condition != "" {
			texts[name] = "{{- if " + condition + " }}\n" + texts[name] + "{{- end }}\n"
		}
		texts[name] = "# Written from k8s/base and k8s/components by `UPDATE=1 make k8s-check`, do not edit.\n" + texts[name]
	}
	return texts, nil
}

// fileOf is the file of an object, and the condition of the file. Objects without a file have a template by hand.
func fileOf(of object, stages []string) (file, condition string) {
	kind, name := text(of, "kind"), text(of, "metadata", "name")
	switch {
	case kind == "ConfigMap":
		return "", ""
	case name == "recrawl-console" || name == "recrawl-delivery":
		part := strings.TrimPrefix(name, "recrawl-")
		return part + ".yaml", ".Values." + part + ".enabled"
	case kind == "NetworkPolicy":
		return "network-policies.yaml", ".Values.networkPolicies.enabled"
	case kind == "PodMonitor":
		return "pod-monitor.yaml", ".Values.monitoring.enabled"
	case kind == "ScaledObject":
		return "autoscaling.yaml", ".Values.autoscaling.enabled"
	case stageOf(of, stages) != "":
		return "stage-" + stageOf(of, stages) + ".yaml", ""
	case kind == "CronJob":
		return "topics.yaml", ""
	case kind == "Deployment":
		return "command.yaml", ""
	}
	return "service-account.yaml", ""
}

// edit puts values of the chart into an object.
func (w *writer) edit(of object, stages []string) error {
	switch text(of, "kind") {
	case "NetworkPolicy":
		return w.policy(of)
	case "PodMonitor":
		at(of, "metadata").(object)["labels"] = w.line("@@{{- with .Values.monitoring.labels }}\n@@labels: {{- toYaml . | nindent 4 }}\n@@{{- end }}")
		endpoint := at(of, "spec", "podMetricsEndpoints", 0).(object)
		endpoint["interval"] = w.value("{{ .Values.monitoring.interval }}")
	case "ScaledObject":
		spec := at(of, "spec").(object)
		spec["minReplicaCount"] = w.value("{{ .Values.autoscaling.minReplicas }}")
		spec["maxReplicaCount"] = w.value("{{ .Values.autoscaling.maxReplicas }}")
		at(spec, "fallback").(object)["replicas"] = w.value("{{ .Values.autoscaling.minReplicas }}")
		trigger := at(spec, "triggers", 0, "metadata").(object)
		trigger["serverAddress"] = w.value("{{ .Values.autoscaling.prometheus }}")
		trigger["threshold"] = w.value("{{ .Values.autoscaling.requestsPerPod | quote }}")
		query, _ := trigger["query"].(string)
		if !strings.Contains(query, `{namespace="recrawl"}`) {
			return fmt.Errorf("its query has no namespace to replace: %s", query)
		}
		trigger["query"] = w.value(strings.Replace(query, `"recrawl"`, `"{{ .Release.Namespace }}"`, 1))
	case "CronJob":
		at(of, "spec").(object)["schedule"] = w.value("{{ .Values.topics.schedule | quote }}")
		return w.pod(of, "topics", ".Values.topics")
	case "Deployment", "StatefulSet":
		part := strings.TrimPrefix(text(of, "metadata", "name"), "recrawl-")
		values := ".Values." + part
		if slices.Contains(stages, part) {
			values = ".Values.stages." + part
		}
		return w.workload(of, part, values)
	}
	return nil
}

// workload: replicas and the volume of the state.
func (w *writer) workload(of object, part, values string) error {
	spec := at(of, "spec").(object)
	switch part {
	case "fetcher":
		// KEDA owns the number. A number here would set it back with every upgrade.
		spec["replicas"] = w.line("@@{{- if not .Values.autoscaling.enabled }}\n@@replicas: {{ " + values + ".replicas }}\n@@{{- end }}")
	case "delivery", "command": // A second delivery would send everything again. One pod for commands is enough.
	default:
		spec["replicas"] = w.value("{{ " + values + ".replicas }}")
	}
	if claim, ok := at(spec, "volumeClaimTemplates", 0, "spec").(object); ok {
		at(claim, "resources", "requests").(object)["storage"] = w.value("{{ " + values + ".storage }}")
		claim["storageClassName"] = w.line("@@{{- with " + values + ".storageClassName | default .Values.storageClassName }}\n@@storageClassName: {{ . }}\n@@{{- end }}")
	}
	return w.pod(of, part, values)
}

// pod: image, resources, words of the command, volumes, and where pods run.
func (w *writer) pod(of object, part, values string) error {
	template := podOf(of)
	spec, container := at(template, "spec").(object), at(template, "spec", "containers", 0).(object)
	container["image"] = w.value(`{{ include "recrawl.image" . | quote }}`)
	container["imagePullPolicy"] = w.line("@@{{- with .Values.image.pullPolicy }}\n@@imagePullPolicy: {{ . }}\n@@{{- end }}")
	container["resources"] = w.value("{{- toYaml " + values + ".resources | nindent @ }}")
	spec[w.line(`@@{{- include "recrawl.scheduling" . | nindent @ }}`)] = nil
	user := "recrawl-" + part
	volumes, _ := spec["volumes"].([]any)
	for number, volume := range volumes {
		secret := text(volume, "secret", "secretName")
		switch text(volume, "name") {
		case "kafka":
			if part == "topics" || part == "console" {
				user = "recrawl-command"
			}
			volumes[number] = w.line(`@@{{- include "recrawl.kafka" (list . "` + user + `") | nindent @ }}`)
		case "scratch":
			at(volume, "emptyDir").(object)["sizeLimit"] = w.value("{{ " + values + ".storage }}")
		case "registry":
			at(volume, "secret").(object)["secretName"] = w.value("{{ .Values.registry.secretName }}")
		case "settings":
			// Kustomize names it by its content, so that pods are replaced with it. Here an annotation does that.
			at(volume, "configMap").(object)["name"] = "recrawl"
		default:
			if secret == "" {
				return fmt.Errorf("volume %s is unknown here: say in edits.go which value it has", text(volume, "name"))
			}
			at(volume, "secret").(object)["secretName"] = w.value("{{ " + values + ".secretName }}")
		}
	}
	metadata := at(template, "metadata").(object)
	annotations, _ := metadata["annotations"].(object)
	if annotations == nil {
		annotations = object{}
		metadata["annotations"] = annotations
	}
	if part == "topics" {
		// The next run has the new settings. A changed annotation would change nothing else.
		delete(metadata, "annotations")
		words := container["command"].([]any)
		words[2] = w.value(`{{ include "recrawl.topicsCommand" . }}`)
		return nil
	}
	annotations[w.line(`@@{{- include "recrawl.podAnnotations" . | nindent @ }}`)] = nil
	if part == "delivery" {
		container["args"] = w.value("{{- toYaml .Values.delivery.args | nindent @ }}")
	}
	if part == "console" {
		for _, variable := range container["env"].([]any) {
			if text(variable, "name") == "RECRAWL_HTTP_NAMES" {
				variable.(object)["value"] = w.value(`{{ prepend .Values.console.names "recrawl-console" | join "," | quote }}`)
			}
		}
	}
	return nil
}

// policy: where Kafka, DNS, Prometheus and collectors are, and which public addresses are closed.
func (w *writer) policy(of object) error {
	egress, _ := at(of, "spec", "egress").([]any)
	for _, rule := range egress {
		to, _ := at(rule, "to").([]any)
		fields := rule.(object)
		switch {
		case text(to[0], "podSelector", "matchLabels", "strimzi.io/kind") == "Kafka":
			fields["to"] = w.value(`{{- include "recrawl.brokers" . | nindent @ }}`)
			fields["ports"] = w.value(`{{- include "recrawl.ports" .Values.networkPolicies.kafka.ports | trim | nindent @ }}`)
		case text(to[0], "podSelector", "matchLabels", "k8s-app") == "kube-dns":
			fields["to"] = w.value("{{- toYaml .Values.networkPolicies.dns | nindent @ }}")
		case text(to[0], "podSelector", "matchLabels", "app.kubernetes.io/name") == "schema-registry":
			fields["to"] = w.value("{{- toYaml .Values.networkPolicies.registry.to | nindent @ }}")
			fields["ports"] = w.value(`{{- include "recrawl.ports" .Values.networkPolicies.registry.ports | trim | nindent @ }}`)
		case text(to[0], "podSelector", "matchLabels", "app.kubernetes.io/name") == "opentelemetry-collector":
			fields["to"] = w.value("{{- toYaml .Values.networkPolicies.traces | nindent @ }}")
		case at(to[0], "ipBlock") != nil:
			for _, peer := range to {
				block := at(peer, "ipBlock").(object)
				test := `not (contains ":" .)`
				if strings.Contains(text(block, "cidr"), ":") {
					test = `contains ":" .`
				}
				block["except"] = append(block["except"].([]any), w.line(
					"@@{{- range .Values.networkPolicies.denyAddresses }}\n@@{{- if "+test+" }}\n@@- {{ . | quote }}\n@@{{- end }}\n@@{{- end }}"))
			}
		}
	}
	ingress, _ := at(of, "spec", "ingress").([]any)
	for _, rule := range ingress {
		from, _ := at(rule, "from").([]any)
		for _, peer := range from {
			if labels, ok := at(peer, "namespaceSelector", "matchLabels").(object); ok && labels["kubernetes.io/metadata.name"] == "monitoring" {
				labels["kubernetes.io/metadata.name"] = w.value("{{ .Values.networkPolicies.prometheusNamespace }}")
			}
		}
	}
	return nil
}

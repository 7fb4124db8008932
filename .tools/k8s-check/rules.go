package main

import (
	"fmt"
	"path"
	"strings"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	levels "k8s.io/pod-security-admission/api"
	podsecurity "k8s.io/pod-security-admission/policy"
)

// workload is what the rules look at: a pod template and what it belongs to.
type workload struct {
	name        string // "StatefulSet recrawl-scheduler"
	template    core.PodTemplateSpec
	longRunning bool // a stage, the delivery, or the console
	claims      []core.PersistentVolumeClaim
	replicas    int32
}

// rules collects the broken ones.
type rules struct {
	stages    []string
	standards podsecurity.Evaluator // by which the API server admits pods
	broken    []string
}

func (r *rules) require(holds bool, format string, arguments ...interface{}) {
	if !holds {
		r.broken = append(r.broken, fmt.Sprintf(format, arguments...))
	}
}

// brokenRules says which house rules the objects of one build break.
func brokenRules(objects []runtime.Object, stages []string) []string {
	standards, err := podsecurity.NewEvaluator(podsecurity.DefaultChecks())
	if err != nil {
		return []string{err.Error()}
	}
	r := &rules{stages: stages, standards: standards}
	workloads := r.workloads(objects)
	r.require(len(workloads) > 0, "no workload at all")

	named := map[string]bool{} // "ConfigMap recrawl", "Service recrawl-scheduler", …
	for _, object := range objects {
		if accessor, ok := object.(meta.Object); ok {
			named[object.GetObjectKind().GroupVersionKind().Kind+" "+accessor.GetName()] = true
		}
	}
	images := map[string]bool{}
	for _, w := range workloads {
		r.pod(w, named)
		for _, container := range append(w.template.Spec.InitContainers, w.template.Spec.Containers...) {
			r.container(w, container)
			images[container.Image] = true
			if w.isDelivery() {
				r.delivery(w, container)
			}
			if w.isConsole() {
				r.console(w, container)
			}
		}
	}
	r.require(len(images) == 1, "the pods have different images: %v", images)
	r.references(objects, workloads)
	return r.broken
}

func (r *rules) workloads(objects []runtime.Object) (found []workload) {
	for _, object := range objects {
		switch o := object.(type) {
		case *apps.Deployment:
			name := "Deployment " + o.Name
			r.require(len(o.Spec.Template.Spec.Volumes) > 0, "%s has no volumes", name)
			r.selects(name, o.Spec.Selector, o.Spec.Template.Labels)
			longRunning := o.Name == console || contains(r.stages, strings.TrimPrefix(o.Name, "recrawl-"))
			found = append(found, workload{name, o.Spec.Template, longRunning, nil, replicasOf(o.Spec.Replicas)})
		case *apps.StatefulSet:
			name := "StatefulSet " + o.Name
			r.require(len(o.Spec.VolumeClaimTemplates) > 0, "%s has no volumeClaimTemplates: its state would be lost with the pod", name)
			r.selects(name, o.Spec.Selector, o.Spec.Template.Labels)
			found = append(found, workload{name, o.Spec.Template, true, o.Spec.VolumeClaimTemplates, replicasOf(o.Spec.Replicas)})
			r.require(isHeadless(objects, o.Spec.ServiceName), "%s: serviceName %q is no headless Service here", name, o.Spec.ServiceName)
			policy := o.Spec.PersistentVolumeClaimRetentionPolicy
			r.require(policy != nil && policy.WhenDeleted == apps.RetainPersistentVolumeClaimRetentionPolicyType, "%s: does not retain its volumes", name)
		case *batch.Job:
			r.require(false, "Job %s cannot be applied a second time with other settings; use a CronJob", o.Name)
		case *batch.CronJob:
			found = append(found, workload{"CronJob " + o.Name, o.Spec.JobTemplate.Spec.Template, false, nil, 1})
		}
	}
	return found
}

func replicasOf(written *int32) int32 {
	if written == nil {
		return 1
	}
	return *written
}

func (r *rules) selects(name string, selector *meta.LabelSelector, template map[string]string) {
	parsed, err := meta.LabelSelectorAsSelector(selector)
	r.require(err == nil && !parsed.Empty() && parsed.Matches(labels.Set(template)), "%s does not select its own pods", name)
}

func isHeadless(objects []runtime.Object, name string) bool {
	for _, object := range objects {
		if service, ok := object.(*core.Service); ok && service.Name == name {
			return service.Spec.ClusterIP == core.ClusterIPNone
		}
	}
	return false
}

// pod: an identity without rights, what the namespaces enforce, time to drain, and nothing mounted or referred to that is not
// there.
func (r *rules) pod(w workload, named map[string]bool) {
	spec := w.template.Spec
	r.require(named["ServiceAccount "+spec.ServiceAccountName], "%s: ServiceAccount %q is not here", w.name, spec.ServiceAccountName)
	r.require(isFalse(spec.AutomountServiceAccountToken), "%s: automountServiceAccountToken is not false", w.name)
	r.require(isFalse(spec.EnableServiceLinks), "%s: enableServiceLinks is not false: Service variables look like settings", w.name)
	r.require(spec.TerminationGracePeriodSeconds != nil, "%s: no terminationGracePeriodSeconds", w.name)
	restricted := levels.LevelVersion{Level: levels.LevelRestricted, Version: levels.LatestVersion()}
	verdict := podsecurity.AggregateCheckResults(r.standards.EvaluatePod(restricted, &w.template.ObjectMeta, &spec))
	r.require(verdict.Allowed, "%s: would not be admitted: %s", w.name, verdict.ForbiddenDetail())
	// The standard also admits a profile of the node, which may permit anything.
	context := spec.SecurityContext
	r.require(context != nil && context.SeccompProfile != nil && context.SeccompProfile.Type == core.SeccompProfileTypeRuntimeDefault,
		"%s: seccompProfile is not RuntimeDefault", w.name)

	volumes := map[string]bool{}
	for _, volume := range spec.Volumes {
		volumes[volume.Name] = true
		if volume.ConfigMap != nil {
			r.require(named["ConfigMap "+volume.ConfigMap.Name], "%s: ConfigMap %q is not here", w.name, volume.ConfigMap.Name)
		}
	}
	mounted := map[string]bool{}
	for _, container := range spec.Containers {
		for _, mount := range container.VolumeMounts {
			mounted[mount.Name] = true
		}
	}
	for _, claim := range w.claims {
		volumes[claim.Name] = true
		_, sized := claim.Spec.Resources.Requests[core.ResourceStorage]
		r.require(sized, "%s: volume claim %s asks for no storage", w.name, claim.Name)
	}
	for name := range volumes {
		r.require(mounted[name], "%s: volume %s is mounted nowhere", w.name, name)
	}
	for name := range mounted {
		r.require(volumes[name], "%s: mounts %s, which is no volume", w.name, name)
	}
	if w.longRunning {
		r.require(w.isDelivery() || len(spec.TopologySpreadConstraints) > 0, "%s: is not spread over nodes", w.name)
		annotations := w.template.Annotations
		r.require(annotations["prometheus.io/scrape"] == "true" && annotations["prometheus.io/port"] != "", "%s: not announced to Prometheus", w.name)
	}
}

func (r *rules) container(w workload, c core.Container) {
	name := w.name + ", container " + c.Name
	r.image(w, name, c)

	_, cpu := c.Resources.Requests[core.ResourceCPU]
	_, memory := c.Resources.Requests[core.ResourceMemory]
	_, bound := c.Resources.Limits[core.ResourceMemory]
	r.require(cpu && memory && bound, "%s: resources lack a request for cpu or memory, or a limit for memory", name)

	context := c.SecurityContext
	if context == nil {
		context = &core.SecurityContext{}
	}
	r.require(isTrue(context.ReadOnlyRootFilesystem), "%s: readOnlyRootFilesystem is not true", name)
	// The standard lets a pod keep one for ports below 1024.
	r.require(context.Capabilities == nil || len(context.Capabilities.Add) == 0, "%s: adds capabilities", name)

	if w.longRunning {
		r.probe(name, c, "startupProbe", c.StartupProbe, "/healthz")
		r.probe(name, c, "livenessProbe", c.LivenessProbe, "/healthz")
		r.probe(name, c, "readinessProbe", c.ReadinessProbe, "/readyz")
	}
}

// image: the one image with a version, and its program, which runs the stage of the workload's name.
func (r *rules) image(w workload, name string, c core.Container) {
	image, version, _ := strings.Cut(path.Base(c.Image), ":")
	r.require(image == "recrawl", "%s: image %s is not the one that k8s/Dockerfile builds", name, c.Image)
	r.require(version != "" && version != "latest", "%s: image %s has no version", name, c.Image)
	command := append(c.Command, "")[0]
	r.require(command == "recrawl" || (!w.longRunning && command == "sleep"), "%s: command %q is not recrawl", name, command)
	stage := stageOf(c.Command)
	r.require(!w.longRunning || w.isExtra() || strings.HasSuffix(w.name, " recrawl-"+stage), "%s: runs the stage %q, which is another than its name says", name, stage)
}

// stageOf is the stage that a command runs, "" if it runs none.
func stageOf(command []string) string {
	if len(command) > 2 && command[0] == "recrawl" && command[1] == "stage" {
		return command[2]
	}
	return ""
}

func (r *rules) probe(name string, c core.Container, kind string, probe *core.Probe, at string) {
	ok := probe != nil && probe.HTTPGet != nil && probe.HTTPGet.Path == at
	r.require(ok, "%s: no %s on %s", name, kind, at)
	if ok {
		port := probe.HTTPGet.Port.String()
		found := false
		for _, p := range c.Ports {
			found = found || p.Name == port
		}
		r.require(found, "%s: %s asks port %q, which has no such name here", name, kind, port)
	}
}

// references: every Service and every PodDisruptionBudget selects a pod, and every long-running pod has a budget.
func (r *rules) references(objects []runtime.Object, workloads []workload) {
	guarded := map[string]bool{}
	for _, object := range objects {
		switch o := object.(type) {
		case *core.Service:
			selected := selectedBy(labels.SelectorFromSet(o.Spec.Selector), workloads)
			r.require(len(selected) > 0, "Service %s selects no pods", o.Name)
			for _, port := range o.Spec.Ports {
				for _, w := range selected {
					r.require(hasPort(w, port.TargetPort.String()), "Service %s: port %s is none of %s", o.Name, port.TargetPort.String(), w.name)
				}
			}
		case *policy.PodDisruptionBudget:
			selector, err := meta.LabelSelectorAsSelector(o.Spec.Selector)
			r.require(err == nil, "PodDisruptionBudget %s: %v", o.Name, err)
			if err == nil {
				selected := selectedBy(selector, workloads)
				r.require(len(selected) > 0, "PodDisruptionBudget %s selects no pods", o.Name)
				for _, w := range selected {
					guarded[w.name] = true
				}
			}
		}
	}
	for _, w := range workloads {
		r.require(!w.longRunning || guarded[w.name], "%s has no PodDisruptionBudget", w.name)
	}
}

func selectedBy(selector labels.Selector, workloads []workload) (selected []workload) {
	for _, w := range workloads {
		if !selector.Empty() && selector.Matches(labels.Set(w.template.Labels)) {
			selected = append(selected, w)
		}
	}
	return selected
}

func hasPort(w workload, name string) bool {
	for _, container := range w.template.Spec.Containers {
		for _, port := range container.Ports {
			if port.Name == name {
				return true
			}
		}
	}
	return false
}

func isTrue(value *bool) bool  { return value != nil && *value }
func isFalse(value *bool) bool { return value != nil && !*value }

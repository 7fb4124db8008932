package main

import (
	"fmt"
	"net"
	"strings"

	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// referencesOfCustoms: what custom resources and network policies point to is there.
func referencesOfCustoms(objects []runtime.Object, customs []custom, stages []string) (faults []string) {
	fault := func(format string, arguments ...interface{}) {
		faults = append(faults, fmt.Sprintf(format, arguments...))
	}
	silent := &rules{stages: stages}
	workloads := silent.workloads(objects)
	named, clusters := map[string]workload{}, map[string]bool{}
	for _, w := range workloads {
		named[w.name] = w
	}
	for _, object := range customs {
		if object.kind == "Kafka" {
			clusters[object.name] = true
		}
	}
	for _, object := range customs {
		switch object.kind {
		case "KafkaTopic", "KafkaUser", "KafkaNodePool":
			cluster, _ := at(object.fields, "metadata", "labels", "strimzi.io/cluster").(string)
			if !clusters[cluster] {
				fault("%s %s: there is no Kafka %q here", object.kind, object.name, cluster)
			}
		case "PrometheusRule":
			for _, of := range rulesOf(object) {
				if page, _, _ := strings.Cut(of.runbook, "#"); of.alert != "" && page != "docs/OPERATIONS.md" && !strings.HasPrefix(page, "https://") {
					fault("%s: runbook_url %q is no address", of.alert, of.runbook)
				}
			}
		case "ScaledObject":
			target := fmt.Sprintf("%v %v", at(object.fields, "spec", "scaleTargetRef", "kind"), at(object.fields, "spec", "scaleTargetRef", "name"))
			if _, there := named[target]; !there {
				fault("ScaledObject %s scales %s, which is not here", object.name, target)
			}
			faults = append(faults, queriedNamespace(object)...)
		}
	}
	faults = append(faults, mountedUsers(workloads, customs)...)
	for _, object := range objects {
		if policy, ok := object.(*networking.NetworkPolicy); ok {
			faults = append(faults, networkPolicy(policy, workloads)...)
		}
	}
	faults = append(faults, reachable(objects, workloads)...)
	return faults
}

// queriedNamespace: a query for another namespace than that of the object finds nothing, and nothing is ever scaled.
func queriedNamespace(object custom) (faults []string) {
	namespace, _ := at(object.fields, "metadata", "namespace").(string)
	triggers, _ := at(object.fields, "spec", "triggers").([]interface{})
	for _, trigger := range triggers {
		query, _ := at(trigger, "metadata", "query").(string)
		if strings.Contains(query, "namespace=") && !strings.Contains(query, fmt.Sprintf("namespace=%q", namespace)) {
			faults = append(faults, fmt.Sprintf("ScaledObject %s: its query is not for the namespace %q: %s", object.name, namespace, query))
		}
	}
	return faults
}

// mountedUsers: where Strimzi has users, every pod has the certificate of a user of its own name. What does the work of commands has
// theirs.
func mountedUsers(workloads []workload, customs []custom) (faults []string) {
	users := map[string]bool{}
	for _, object := range customs {
		if object.kind == "KafkaUser" {
			users[object.name] = true
		}
	}
	if len(users) == 0 {
		return nil
	}
	for _, w := range workloads {
		found := false
		for _, volume := range w.template.Spec.Volumes {
			if volume.Projected == nil {
				continue
			}
			for _, source := range volume.Projected.Sources {
				name := w.template.Labels["app.kubernetes.io/name"]
				if name == "recrawl-topics" || name == console {
					name = "recrawl-command"
				}
				found = found || (source.Secret != nil && source.Secret.Name == name && users[name])
			}
		}
		if !found {
			faults = append(faults, w.name+": mounts no certificate of a KafkaUser of its name")
		}
	}
	return faults
}

// privateAddresses are of networks that no pod reaches.
var privateAddresses = []string{
	"10.0.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1", "192.168.0.1", "100.64.0.1", "168.63.129.16", "fd00::1", "fe80::1", "::1",
}

// networkPolicy: it selects pods, and only those of webPorts reach addresses, none of them private.
func networkPolicy(policy *networking.NetworkPolicy, workloads []workload) (faults []string) {
	selected := selectedBy(labels.SelectorFromSet(policy.Spec.PodSelector.MatchLabels), workloads)
	if len(selected) == 0 {
		faults = append(faults, fmt.Sprintf("NetworkPolicy %s selects no pods", policy.Name))
	}
	for _, egress := range policy.Spec.Egress {
		if len(egress.To) == 0 {
			faults = append(faults, fmt.Sprintf("NetworkPolicy %s allows every address", policy.Name))
		}
		for _, peer := range egress.To {
			if peer.IPBlock == nil {
				continue
			}
			for _, w := range selected {
				if len(webPorts[w.template.Labels["app.kubernetes.io/name"]]) == 0 {
					faults = append(faults, fmt.Sprintf("NetworkPolicy %s lets %s reach addresses", policy.Name, w.name))
				}
			}
			for _, private := range privateAddresses {
				if reaches(peer.IPBlock, net.ParseIP(private)) {
					faults = append(faults, fmt.Sprintf("NetworkPolicy %s allows %s", policy.Name, private))
				}
			}
		}
	}
	return faults
}

func reaches(block *networking.IPBlock, address net.IP) bool {
	in := func(cidr string) bool {
		_, network, err := net.ParseCIDR(cidr)
		return err == nil && network.Contains(address)
	}
	for _, except := range block.Except {
		if in(except) {
			return false
		}
	}
	return in(block.CIDR)
}

package main

import (
	"fmt"
	"net"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// A party to a connection: a pod of ours, a pod elsewhere, or an address outside of the cluster.
type party struct {
	what      string
	namespace string
	pod       labels.Set
	address   net.IP
}

const ours, otherNamespace = "", "elsewhere"

func podOf(namespace, label, value string) party {
	return party{value, namespace, labels.Set{label: value}, nil}
}

func outside(address string) party { return party{address, "", nil, net.ParseIP(address)} }

var (
	kafka     = party{"Kafka", ours, labels.Set{"strimzi.io/cluster": "recrawl", "strimzi.io/kind": "Kafka"}, nil}
	dns       = podOf("kube-system", "k8s-app", "kube-dns")
	collector = podOf("monitoring", "app.kubernetes.io/name", "opentelemetry-collector")
	registry  = podOf(ours, "app.kubernetes.io/name", "schema-registry")
	scheduler = party{"recrawl-scheduler", ours, labels.Set{"app.kubernetes.io/name": "recrawl-scheduler", "app.kubernetes.io/part-of": "recrawl"}, nil}
	command   = party{"recrawl-command", ours, labels.Set{"app.kubernetes.io/name": "recrawl-command", "app.kubernetes.io/part-of": "recrawl"}, nil}
)

// webPorts are the ports of the public web that pods reach, by name. No other pod reaches any address.
var webPorts = map[string][]int32{"recrawl-fetcher": {80, 443, 8443}, console: {80, 443, 8443}, delivery: {443}}

// reachable: with all policies together, pods reach what their programs connect to, are reached by what connects to them, and
// no others. The policies are evaluated as the API's documentation says.
func reachable(objects []runtime.Object, workloads []workload) (faults []string) {
	var policies []*networking.NetworkPolicy
	for _, object := range objects {
		if policy, ok := object.(*networking.NetworkPolicy); ok {
			policies = append(policies, policy)
		}
	}
	if len(policies) == 0 {
		return nil
	}
	// Without the component network-policies, all other pods are free.
	alone := true
	for _, policy := range policies {
		alone = alone && (policy.Name == delivery || policy.Name == console)
	}
	for _, w := range workloads {
		if alone && !w.isExtra() {
			continue
		}
		pod := party{w.name, ours, labels.Set(w.template.Labels), nil}
		name := w.template.Labels["app.kubernetes.io/name"]
		check := func(from, to party, protocol core.Protocol, port int32, wanted bool) {
			if connects(policies, from, to, protocol, port) != wanted {
				faults = append(faults, fmt.Sprintf("network policies: may %s reach %s at %s %d? %t", from.what, to.what, protocol, port, !wanted))
			}
		}
		check(pod, kafka, core.ProtocolTCP, 9093, true)
		check(pod, dns, core.ProtocolUDP, 53, true)
		check(pod, dns, core.ProtocolTCP, 53, true)
		check(pod, registry, core.ProtocolTCP, 8081, name == "recrawl-detector")
		for _, address := range []string{"93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"} {
			for _, port := range []int32{80, 443, 8443} {
				check(pod, outside(address), core.ProtocolTCP, port, hasPortOf(webPorts[name], port))
			}
			check(pod, outside(address), core.ProtocolTCP, 25, false)
		}
		for _, private := range privateAddresses {
			check(pod, outside(private), core.ProtocolTCP, 443, false)
		}
		check(pod, scheduler, core.ProtocolTCP, 9464, name == "recrawl-command")
		check(pod, collector, core.ProtocolTCP, 4318, w.longRunning && !w.isExtra())
		if w.longRunning {
			check(command, pod, core.ProtocolTCP, 9464, true)
			check(podOf("monitoring", "app.kubernetes.io/name", "prometheus"), pod, core.ProtocolTCP, 9464, true)
			check(podOf(otherNamespace, "app.kubernetes.io/name", "anybody"), pod, core.ProtocolTCP, 9464, false)
		}
	}
	return faults
}

func hasPortOf(ports []int32, port int32) bool {
	for _, of := range ports {
		if of == port {
			return true
		}
	}
	return false
}

// connects: a connection is allowed if the policies for the one end's egress and those for the other's ingress allow it.
func connects(policies []*networking.NetworkPolicy, from, to party, protocol core.Protocol, port int32) bool {
	egress, ingress := true, true
	if from.namespace == ours && from.pod != nil {
		egress = permits(policies, networking.PolicyTypeEgress, from, to, protocol, port)
	}
	if to.namespace == ours && to.pod != nil {
		ingress = permits(policies, networking.PolicyTypeIngress, to, from, protocol, port)
	}
	return egress && ingress
}

// permits: what no policy selects is free; what some select may do what any of them says.
func permits(policies []*networking.NetworkPolicy, direction networking.PolicyType, pod, peer party, protocol core.Protocol, port int32) bool {
	isSelected := false
	for _, policy := range policies {
		if !hasType(policy, direction) || !matches(&policy.Spec.PodSelector, pod.pod) {
			continue
		}
		isSelected = true
		if direction == networking.PolicyTypeEgress {
			for _, rule := range policy.Spec.Egress {
				if takesPort(rule.Ports, protocol, port) && takesPeer(rule.To, peer) {
					return true
				}
			}
			continue
		}
		for _, rule := range policy.Spec.Ingress {
			if takesPort(rule.Ports, protocol, port) && takesPeer(rule.From, peer) {
				return true
			}
		}
	}
	return !isSelected
}

func hasType(policy *networking.NetworkPolicy, direction networking.PolicyType) bool {
	for _, of := range policy.Spec.PolicyTypes {
		if of == direction {
			return true
		}
	}
	return false
}

func takesPort(ports []networking.NetworkPolicyPort, protocol core.Protocol, port int32) bool {
	for _, of := range ports {
		if of.Protocol != nil && *of.Protocol != protocol || of.Protocol == nil && protocol != core.ProtocolTCP {
			continue
		}
		if of.Port == nil || of.Port.IntVal == port || of.EndPort != nil && of.Port.IntVal <= port && port <= *of.EndPort {
			return true
		}
	}
	return len(ports) == 0
}

func takesPeer(peers []networking.NetworkPolicyPeer, peer party) bool {
	for _, of := range peers {
		switch {
		case of.IPBlock != nil:
			if peer.address != nil && reaches(of.IPBlock, peer.address) {
				return true
			}
		case peer.pod == nil:
		case of.NamespaceSelector == nil:
			if peer.namespace == ours && matches(of.PodSelector, peer.pod) {
				return true
			}
		default:
			namespace := labels.Set{"kubernetes.io/metadata.name": peer.namespace}
			if matches(of.NamespaceSelector, namespace) && (of.PodSelector == nil || matches(of.PodSelector, peer.pod)) {
				return true
			}
		}
	}
	return len(peers) == 0
}

func matches(selector *meta.LabelSelector, of labels.Set) bool {
	parsed, err := meta.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(of)
}

// A module of its own, because it needs a newer Go than the rest of k8s-check.
module recrawl/k8s-check/grafana

go 1.21

require github.com/grafana/grafana-foundation-sdk/go v0.0.22

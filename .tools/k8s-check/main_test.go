package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// The repository's own manifests in memory, where one can be broken at a time.
func repository(t *testing.T) filesys.FileSystem {
	t.Helper()
	files := filesys.MakeFsInMemory()
	root := filepath.Join("..", "..")
	copyFile := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		if err := files.WriteFile(filepath.Join("/", name), text); err != nil {
			t.Fatal(err)
		}
	}
	copyTree := func(parts ...string) {
		err := filepath.Walk(filepath.Join(append([]string{root}, parts...)...), func(path string, info os.FileInfo, err error) error {
			if err == nil && !info.IsDir() {
				copyFile(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	copyTree("k8s")
	copyTree("compose")
	for _, file := range []string{"Cargo.toml", "compose.yaml", "docs/OPERATIONS.md", "schemas/README.md"} {
		copyFile(filepath.Join(root, file))
	}
	return files
}

// The place of a user's right to a topic among its rights.
func rightOf(t *testing.T, user, topic string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "k8s/components/strimzi/users.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for documents := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var found struct {
			Metadata struct{ Name string }
			Spec     struct {
				Authorization struct {
					Acls []struct{ Resource struct{ Name string } }
				}
			}
		}
		if err := documents.Decode(&found); err != nil {
			t.Fatalf("%s has no right to %s: %v", user, topic, err)
		}
		for place, right := range found.Spec.Authorization.Acls {
			if found.Metadata.Name == user && right.Resource.Name == topic {
				return strconv.Itoa(place)
			}
		}
	}
}

func TestTheManifestsAreValid(t *testing.T) {
	// `make k8s-check` has them judged by promtool, too.
	skipPromtool = true
	defer func() { skipPromtool = false }()
	roots, faults := checkAll(repository(t), "/", false)
	if len(faults) > 0 {
		t.Fatal(strings.Join(faults, "\n"))
	}
	if len(roots) < 6 {
		t.Fatalf("only %v was checked", roots)
	}
}

func TestABrokenManifestIsRefused(t *testing.T) {
	cases := []struct{ claim, file, text, instead, fault string }{
		{"unknown field", "k8s/base/stages.yaml", "  replicas: 1\n", "  replicsa: 1\n", `unknown field "spec.replicsa"`},
		{"field of another kind", "k8s/base/stages.yaml", "            sizeLimit: 1Gi\n", "            sizeLimit: 1Gi\n  serviceName: x\n", `unknown field "spec.serviceName"`},
		{"repeated field", "k8s/base/stages.yaml", "  replicas: 1\n", "  replicas: 1\n  replicas: 2\n", `"replicas" already defined`},
		{"missing field", "k8s/base/topics.yaml", "  schedule:", "  timeZone:", `missing required field "schedule"`},
		{"missing field of a port", "k8s/base/common/stage.yaml", "              containerPort: 9464\n", "", `missing required field "containerPort"`},
		{"wrong type", "k8s/base/stages.yaml", "  replicas: 1\n", "  replicas: one\n", "estimator"},
		{"missing file", "k8s/base/kustomization.yaml", "  - topics.yaml\n", "  - topic.yaml\n", "topic.yaml"},
		{"no memory limit", "k8s/base/stages.yaml", "            limits: {memory: 1Gi}\n", "", "limit for memory"},
		{"root", "k8s/base/common/pod.yaml", "        runAsNonRoot: true\n", "", "runAsNonRoot"},
		{"container as root", "k8s/base/common/pod.yaml", "            allowPrivilegeEscalation: false\n", "            allowPrivilegeEscalation: false\n            runAsUser: 0\n", "runAsUser=0"},
		{"writable root", "k8s/base/common/pod.yaml", "            readOnlyRootFilesystem: true\n", "", "readOnlyRootFilesystem"},
		{"capabilities", "k8s/base/common/pod.yaml", "drop: [ALL]", "drop: [NET_RAW]", `capabilities.drop=["ALL"]`},
		{"a capability kept", "k8s/base/common/pod.yaml", "drop: [ALL]", "drop: [ALL]\n              add: [NET_BIND_SERVICE]", "adds capabilities"},
		{"a seccomp profile of the node", "k8s/base/common/pod.yaml", "          type: RuntimeDefault\n", "          type: Localhost\n          localhostProfile: open.json\n", "seccompProfile is not RuntimeDefault"},
		{"the network of the node", "k8s/base/topics.yaml", "          enableServiceLinks: false\n", "          enableServiceLinks: false\n          hostNetwork: true\n", "host namespaces (hostNetwork=true)"},
		{"service links", "k8s/base/topics.yaml", "          enableServiceLinks: false\n", "", "enableServiceLinks"},
		{"no such account", "k8s/base/common/pod.yaml", "serviceAccountName: recrawl", "serviceAccountName: crawler", `ServiceAccount "crawler"`},
		{"no such settings", "k8s/base/common/pod.yaml", "            name: recrawl\n", "            name: settings\n", `ConfigMap "settings"`},
		{"wrong probe", "k8s/base/common/stage.yaml", "/readyz", "/ready", "no readinessProbe"},
		{"no startup probe", "k8s/base/common/stage.yaml", "startupProbe:", "x-startupProbe:", "startupProbe"},
		{"probe of no port", "k8s/base/common/stage.yaml", "              port: http\n            periodSeconds: 10", "              port: https\n            periodSeconds: 10", `asks port "https"`},
		{"no Prometheus", "k8s/base/common/stage.yaml", "scrape: \"true\"", "scrape: \"false\"", "Prometheus"},
		{"no grace", "k8s/base/topics.yaml", "          terminationGracePeriodSeconds: 10\n", "", "terminationGracePeriodSeconds"},
		{"topics by a Job", "k8s/base/topics.yaml", "kind: CronJob", "kind: Job", "Job"},
		{"state without volume", "k8s/base/stages.yaml", "        name: state\n", "        name: pages\n", "volume pages is mounted nowhere"},
		{"volumes that go", "k8s/base/common/stateful.yaml", "whenDeleted: Retain", "whenDeleted: Delete", "does not retain"},
		{"no headless service", "k8s/base/stages.yaml", "  clusterIP: None\n", "", "no headless Service"},
		{"budget for nobody", "k8s/base/stages.yaml", "  maxUnavailable: 1\n  selector:\n    matchLabels:\n      app.kubernetes.io/name: recrawl-detector", "  maxUnavailable: 1\n  selector:\n    matchLabels:\n      app.kubernetes.io/name: detector", "has no PodDisruptionBudget"},
		{"service of nobody", "k8s/base/stages.yaml", "  selector:\n    app.kubernetes.io/name: recrawl-estimator", "  selector:\n    app.kubernetes.io/name: estimator", "selects no pods"},
		{"another image", "k8s/base/stages.yaml", "image: recrawl", "image: recrawler:1", "is not the one that k8s/Dockerfile builds"},
		{"image without version", "k8s/base/kustomization.yaml", "    newTag: 0.1.0\n", "", "no version"},
		{"another's program", "k8s/base/stages.yaml", "command: [recrawl, stage, fetcher,", "command: [recrawl, stage, detector,", "another than its name says"},
		{"no program", "k8s/base/topics.yaml", "command: [recrawl,", "command: [recrawler,", "is not recrawl"},
		{"overlay of nothing", "k8s/overlays/prod/kustomization.yaml", "- name: recrawl-estimator\n    count", "- name: recrawl-estimater\n    count", "recrawl-estimater"},
		{"unknown field of Strimzi", "k8s/overlays/dev/kafka.yaml", "    authorization: {type: simple}", "    authorisation: {type: simple}", "authorisation"},
		{"unknown value of Strimzi", "k8s/overlays/dev/kafka.yaml", "roles: [controller, broker]", "roles: [controller, worker]", "Kafka"},
		{"old API of Strimzi", "k8s/overlays/dev/kafka.yaml", "kafka.strimzi.io/v1\n", "kafka.strimzi.io/v1beta1\n", "has no schema"},
		{"no Kafka of the name", "k8s/overlays/prod/kafka.yaml", "kind: Kafka\nmetadata:\n  name: recrawl\n", "kind: Kafka\nmetadata:\n  name: kafka\n", `no Kafka "recrawl"`},
		{"unknown field of KEDA", "k8s/components/keda/fetcher.yaml", "  pollingInterval:", "  pollInterval:", "pollInterval"},
		{"scaling of nothing", "k8s/components/keda/fetcher.yaml", "    name: recrawl-fetcher\n  # Two", "    name: recrawl-fetch\n  # Two", "which is not here"},
		{"unknown field of a PodMonitor", "k8s/components/monitoring/pod-monitor.yaml", "      path: /metrics", "      paths: /metrics", "paths"},
		{"topics by hand", "k8s/components/strimzi/topics.yaml", "partitions: 16", "partitions: 8", "differs from what it is written from"},
		{"rights by hand", "k8s/components/strimzi/users.yaml", "operations: [Read, Describe]", "operations: [All]", "differs from what it is written from"},
		{"another catalogue", "schemas/README.md", "| `page-changes` |", "| `page-news` |", "differs from what it is written from"},
		{"partitions unlike the settings", "k8s/overlays/prod/recrawl.toml", "partitions = 64", "partitions = 32", "recrawl.toml means 32"},
		{"retention unlike the settings", "k8s/overlays/prod/recrawl.toml", "[kafka]\n", "[log]\nretention_results = \"7d\"\n\n[kafka]\n", "topic recrawl.fetch-results keeps records for 259200000 ms, recrawl.toml means 7 days"},
		{"copies unlike the settings", "k8s/overlays/dev/recrawl.toml", "replication_factor = 1", "replication_factor = 3", "recrawl.toml means 3"},
		{"another's certificate", "k8s/components/strimzi/kustomization.yaml", "secret: {name: recrawl-detector,", "secret: {name: recrawl-scheduler,", "no certificate of a KafkaUser of its name"},
		{"a right taken away", "k8s/overlays/dev/kustomization.yaml", "patches:\n", "patches:\n  - target: {kind: KafkaUser, name: recrawl-command}\n    patch: |\n      - {op: remove, path: /spec/authorization/acls/" + rightOf(t, "recrawl-command", "recrawl.focus-orders") + "}\n", "recrawl-command: may it write recrawl.focus-orders? false"},
		{"a right too many", "k8s/overlays/dev/kustomization.yaml", "patches:\n", "patches:\n  - target: {kind: KafkaUser, name: recrawl-fetcher}\n    patch: |\n      - {op: add, path: /spec/authorization/acls/0/operations/-, value: All}\n", "recrawl-fetcher: may it write recrawl.scheduler-events? true"},
		{"scaling by another crawl", "k8s/overlays/prod/kustomization.yaml", "namespace: recrawl\n", "namespace: crawl\n", `not for the namespace "crawl"`},
		{"private addresses", "k8s/components/network-policies/web.yaml", "              - 169.254.0.0/16\n", "", "allows 169.254.169.254"},
		{"the web for all", "k8s/components/network-policies/web.yaml", "app.kubernetes.io/name: recrawl-fetcher", "app.kubernetes.io/part-of: recrawl", "reach addresses"},
		{"no way to Kafka", "k8s/components/network-policies/kafka.yaml", "port: 9093", "port: 9092", "may StatefulSet recrawl-scheduler reach Kafka at TCP 9093? false"},
		{"no way to names", "k8s/components/network-policies/kustomization.yaml", "  - dns.yaml\n", "", "reach kube-dns at UDP 53? false"},
		{"no way to the collector", "k8s/components/network-policies/traces.yaml", "port: 4318", "port: 4317", "reach opentelemetry-collector at TCP 4318? false"},
		{"no way to the registry", "k8s/components/network-policies/kustomization.yaml", "  - registry.yaml\n", "", "may StatefulSet recrawl-detector reach schema-registry at TCP 8081? false"},
		{"no way for Prometheus", "k8s/components/network-policies/metrics.yaml", "kubernetes.io/metadata.name: monitoring", "kubernetes.io/metadata.name: prometheus", "may prometheus reach Deployment recrawl-fetcher at TCP 9464? false"},
		{"metrics for all", "k8s/components/network-policies/metrics.yaml", "        - namespaceSelector:\n            matchLabels:\n              kubernetes.io/metadata.name: monitoring\n", "        - namespaceSelector: {}\n", "may anybody reach"},
		{"mail for the fetcher", "k8s/components/network-policies/web.yaml", "port: 80}", "port: 25}", "at TCP 25? true"},
		{"nothing is denied", "k8s/components/network-policies/kustomization.yaml", "  - metrics.yaml\n", "", "may recrawl-command reach"},
		{"policy for nobody", "k8s/components/network-policies/web.yaml", "app.kubernetes.io/name: recrawl-fetcher", "app.kubernetes.io/name: fetcher", "selects no pods"},
		{"two deliveries", "k8s/components/delivery/delivery.yaml", "  replicas: 1\n", "  replicas: 2\n", "has 2 replicas, and each would tell all changes"},
		{"a delivery that ends", "k8s/components/delivery/delivery.yaml", "            - --follow\n", "", "does not follow"},
		{"a delivery that nobody sees", "k8s/components/delivery/delivery.yaml", "            - --serve\n", "", "does not serve its health"},
		{"an address that everybody sees", "k8s/components/delivery/delivery.yaml", "--webhook=@/run/secrets/webhook/address", "--webhook=https://hooks.example.org/secret", "an address is among the words"},
		{"an address in the settings", "k8s/components/delivery/delivery.yaml", "--webhook=@/run/secrets/webhook/address", "--webhook=@/etc/recrawl/address", "is not @ and a file of a Secret"},
		{"a secret in the environment", "k8s/components/delivery/delivery.yaml", "            - name: RECRAWL_CRAWL_DATA\n              value: \"\"\n", "            - name: RECRAWL_CRAWL_DATA\n              value: \"\"\n            - name: RECRAWL_WEBHOOK_SECRET\n              value: ours\n", "what is secret belongs into a file"},
		{"a signing secret in the settings", "k8s/components/delivery/delivery.yaml", "--secret-file=/run/secrets/webhook/secret", "--secret-file=/etc/recrawl/secret", "--secret-file is no file of a Secret"},
		{"an address that need not be there", "k8s/components/delivery/delivery.yaml", "            secretName: recrawl-webhook\n", "            secretName: recrawl-webhook\n            optional: true\n", "a Secret that must be there"},
		{"a position that is lost", "k8s/components/delivery/delivery.yaml", "--cursor-file=/var/lib/recrawl/delivery.cursor", "--cursor-file=/tmp/delivery.cursor", "is on no claimed volume"},
		{"a delivery that reads a directory", "k8s/components/delivery/delivery.yaml", "            - name: RECRAWL_CRAWL_DATA\n              value: \"\"\n", "            - name: RECRAWL_CRAWL_DATA\n              value: /var/lib/recrawl\n", "it would not read Kafka"},
		{"a delivery of another version", "k8s/components/delivery/delivery.yaml", "image: recrawl:0.1.0", "image: recrawl:0.0.9", "the pods have different images"},
		{"a delivery as root", "k8s/components/delivery/delivery.yaml", "        runAsNonRoot: true\n", "", "runAsNonRoot"},
		{"a delivery that the probes do not reach", "k8s/components/delivery/delivery.yaml", "/readyz", "/ready", "no readinessProbe"},
		{"private receivers", "k8s/components/delivery/network-policy.yaml", "              - 10.0.0.0/8\n", "", "allows 10.0.0.1"},
		{"the whole web for the delivery", "k8s/components/delivery/network-policy.yaml", "port: 443}", "port: 80}", "may StatefulSet recrawl-delivery reach 93.184.215.14 at TCP 80? true"},
		{"pods for the delivery", "k8s/components/delivery/network-policy.yaml", "              strimzi.io/cluster: recrawl\n              strimzi.io/kind: Kafka\n      ports:\n        - {protocol: TCP, port: 9093}\n", "              app.kubernetes.io/part-of: recrawl\n      ports:\n        - {protocol: TCP, port: 9464}\n", "may StatefulSet recrawl-delivery reach recrawl-scheduler at TCP 9464? true"},
		{"no way to names for the delivery alone", "k8s/components/delivery/network-policy.yaml", "        - {protocol: UDP, port: 53}\n", "", "bare with all components: network policies: may StatefulSet recrawl-delivery reach kube-dns at UDP 53? false"},
		{"traces of the delivery", "k8s/components/network-policies/traces.yaml", ", recrawl-delivery,", ",", "may StatefulSet recrawl-delivery reach opentelemetry-collector at TCP 4318? true"},
		{"the web for commands", "k8s/components/delivery/network-policy.yaml", "      app.kubernetes.io/name: recrawl-delivery", "      app.kubernetes.io/part-of: recrawl", "lets Deployment recrawl-command reach addresses"},
		{"rights of the delivery by hand", "k8s/components/delivery/strimzi/user.yaml", "operations: [Read, Describe]", "operations: [Read, Write, Describe]", "differs from what it is written from"},
		{"a right too many for the delivery", "k8s/components/delivery/strimzi/kustomization.yaml", "patches:\n", "patches:\n  - target: {kind: KafkaUser, name: recrawl-delivery}\n    patch: |\n      - {op: replace, path: /spec/authorization/acls/0/resource/name, value: recrawl.page-contents}\n", "KafkaUser recrawl-delivery: may it read recrawl.page-contents? true"},
		{"another's certificate for the delivery", "k8s/components/delivery/strimzi/kustomization.yaml", "secret: {name: recrawl-delivery,", "secret: {name: recrawl-command,", "no certificate of a KafkaUser of its name"},
		{"a delivery that nobody can take in", "k8s/overlays/prod/kustomization.yaml", "  # - ../../components/delivery/strimzi\n", "", "has no line"},
		{"a console that is another program", "k8s/components/console/console.yaml", "            - console\n", "            - status\n", "does not run recrawl console"},
		{"a console that would end at once", "k8s/components/console/console.yaml", "            - name: RECRAWL_HTTP_BEHIND_PROXY\n              value: \"true\"\n", "", "has neither TLS nor a proxy before it"},
		{"forms that the other pod refuses", "k8s/components/console/console.yaml", "RECRAWL_HTTP_FORMS_KEY_FILE", "RECRAWL_FORMS_KEY_FILE", "RECRAWL_HTTP_FORMS_KEY_FILE is no file of a Secret"},
		{"keys in the settings", "k8s/components/console/console.yaml", "/run/secrets/console/keys.toml", "/etc/recrawl/keys.toml", "RECRAWL_HTTP_KEYS_FILE is no file of a Secret"},
		{"keys that need not be there", "k8s/components/console/console.yaml", "            secretName: recrawl-console\n", "            secretName: recrawl-console\n            optional: true\n", "a Secret that must be there"},
		{"a console without a budget", "k8s/components/console/console.yaml", "  maxUnavailable: 1\n  selector:\n    matchLabels:\n      app.kubernetes.io/name: recrawl-console\n", "  maxUnavailable: 1\n  selector:\n    matchLabels:\n      app.kubernetes.io/name: console\n", "Deployment recrawl-console has no PodDisruptionBudget"},
		{"a console that the probes do not reach", "k8s/components/console/console.yaml", "/readyz", "/ready", "no readinessProbe"},
		{"a console for everybody", "k8s/components/console/network-policy.yaml", "        - namespaceSelector:\n            matchLabels:\n              kubernetes.io/metadata.name: monitoring\n", "        - namespaceSelector: {}\n", "may anybody reach Deployment recrawl-console at TCP 9464? true"},
		{"private pages for the console", "k8s/components/console/network-policy.yaml", "              - 10.0.0.0/8\n", "", "NetworkPolicy recrawl-console allows 10.0.0.1"},
		{"no way to names for the console alone", "k8s/components/console/network-policy.yaml", "        - {protocol: UDP, port: 53}\n", "", "bare with all components: network policies: may Deployment recrawl-console reach kube-dns at UDP 53? false"},
		{"traces of the console", "k8s/components/network-policies/traces.yaml", ", recrawl-console]", "]", "may Deployment recrawl-console reach opentelemetry-collector at TCP 4318? true"},
		{"another's certificate for the console", "k8s/components/console/strimzi/kustomization.yaml", "secret: {name: recrawl-command,", "secret: {name: recrawl-scheduler,", "no certificate of a KafkaUser of its name"},
		{"a console that operators cannot take in", "k8s/overlays/prod/kustomization.yaml", "  # - ../../components/console/strimzi\n", "", "has no line"},
		{"alert without runbook", "docs/OPERATIONS.md", "## RecrawlRejoins\n", "", "is no section of docs/OPERATIONS.md"},
		{"runbook that is no address", "k8s/overlays/prod/namespace.yaml", "https://example.org", "example.org", `runbook_url "example.org/recrawl/docs/OPERATIONS.md#recrawlbacklogold" is no address`},
		{"alert that is no expression", "k8s/components/monitoring/rules.yaml", "increase(recrawl_invariant_violations_total[1h]) > 0", "increase(recrawl_invariant_violations_total) > 0", "promtool check rules"},
		{"alert with another threshold", "k8s/components/monitoring/rules.yaml", "(recrawl_backlog_seconds) > 900", "(recrawl_backlog_seconds) > 9000", "promtool test rules"},
		{"alert without a test", "k8s/components/monitoring/rules_test.yaml", "alertname: RecrawlRejoins", "alertname: RecrawlRejoined", "needs a case in which it fires"},
		{"dashboard that is no expression", "k8s/components/monitoring/dashboards/recrawl-state.json", "sum by (stage) (recrawl_stage_ready{", "sum by (stage) (recrawl_stage_ready{{", "promtool check rules"},
		{"dashboard that nobody loads", "k8s/components/monitoring/kustomization.yaml", "      - dashboards/recrawl-state.json\n", "", "not in the kustomization"},
		{"compose mounts nothing", "compose.yaml", "./compose/prometheus.yaml", "./compose/prometheus.yml", "does not exist"},
		{"compose without a program", "compose.yaml", "command: [recrawl, stage, ranker, --numbered]", "command: [recrawler, stage, ranker]", "is not recrawl"},
		{"compose waits for nobody", "compose.yaml", "      kafka: {condition: service_healthy}", "      kafca: {condition: service_healthy}", "undefined service kafca"},
		{"compose waits for ever", "compose.yaml", "    topics: {condition: service_completed_successfully}", "    topics: {condition: service_healthy}", "waits for the health of topics"},
		{"compose with an unknown field", "compose.yaml", "restart: on-failure", "restarts: on-failure", "restarts is not allowed"},
		{"compose with a repeated field", "compose.yaml", "    restart: on-failure\n", "    restart: on-failure\n    restart: always\n", `"restart" already defined`},
		{"compose with a field of no use", "compose.yaml", "interval: 10s", "interval: ten", "format 'duration'"},
		{"compose with a volume of nobody", "compose.yaml", "[\"./compose/recrawl.toml:/etc/recrawl/recrawl.toml:ro\", \"ranker:", "[\"./compose/recrawl.toml:/etc/recrawl/recrawl.toml:ro\", \"rank:", "undefined volume rank"},
		{"compose without version", "compose.yaml", "prom/prometheus:v2.53.0", "prom/prometheus", "has no version"},
		{"compose of another version", "compose.yaml", "image: recrawl:0.1.0", "image: recrawl:0.0.9", "another version than Cargo.toml"},
		{"compose with state in the container", "compose.yaml", "RECRAWL_CRAWL_DATA: /var/lib/recrawl,", "RECRAWL_CRAWL_DATA: /recrawl,", "RECRAWL_CRAWL_DATA is at no mount"},
		{"compose without settings", "compose.yaml", "RECRAWL_CONFIG: /etc/recrawl/recrawl.toml,", "RECRAWL_CONFIG: /etc/recrawl.toml,", "RECRAWL_CONFIG is at no mount"},
		{"compose with a command that would not read Kafka", "compose.yaml", "profiles: [command]\n    environment: {RECRAWL_CONFIG: /etc/recrawl/recrawl.toml}", "profiles: [command]\n    environment: {RECRAWL_CONFIG: /etc/recrawl/recrawl.toml, RECRAWL_CRAWL_DATA: /var/lib/recrawl}", "RECRAWL_CRAWL_DATA is for stages"},
		{"compose asking a command for its health", "compose.yaml", "    healthcheck: {disable: true}\n", "", "the image's health check is for stages and a delivery"},
		{"compose that shows where changes go", "compose.yaml", "--webhook=@/run/secrets/webhook-address", "--webhook=https://hooks.example.org/secret", "an address is among the words"},
		{"compose with a secret of nobody", "compose.yaml", "secrets: [webhook-address, webhook-secret]", "secrets: [webhook-address, webhook-key]", "undefined secret webhook-key"},
		{"Prometheus without the delivery", "compose/prometheus.yaml", ", delivery", "", "does not ask delivery"},
		{"compose with another Dockerfile", "compose.yaml", "dockerfile: k8s/Dockerfile", "dockerfile: Dockerfile", "Dockerfile does not exist"},
		{"Prometheus without its settings", "compose.yaml", "prometheus.yml:ro", "prometheus.yaml:ro", "nothing is mounted at /etc/prometheus/prometheus.yml"},
		{"Prometheus without a stage", "compose/prometheus.yaml", ", ranker", "", "does not ask ranker"},
		{"Prometheus at another port", "compose/recrawl.toml", "0.0.0.0:9464", "0.0.0.0:9465", "no stage listens at scheduler:9464"},
		{"Prometheus without its rules", "compose/prometheus.yaml", "/etc/prometheus/rules.yaml", "/etc/prometheus/alerts.yaml", "nothing is mounted at /etc/prometheus/alerts.yaml"},
		{"Prometheus with a wrong value", "compose/prometheus.yaml", "scrape_interval: 15s", "scrape_interval: fifteen", "promtool check config"},
		{"Grafana of another Prometheus", "compose/grafana/datasource.yaml", "prometheus:9090", "localhost:9090", "is not prometheus:9090"},
		{"Grafana without dashboards", "compose/grafana/dashboards.yaml", "/var/lib/grafana/dashboards", "/var/lib/dashboards", "nothing is mounted at /var/lib/dashboards"},
		{"compose with other alerts", "compose/rules.yaml", "> 900", "> 90", "differs from what it is written from"},
	}
	for _, c := range cases {
		t.Run(c.claim, func(t *testing.T) {
			files := repository(t)
			path := filepath.Join("/", c.file)
			text, err := files.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), c.text) {
				t.Fatalf("%s no longer contains %q: change this test with it", c.file, c.text)
			}
			if err := files.WriteFile(path, []byte(strings.ReplaceAll(string(text), c.text, c.instead))); err != nil {
				t.Fatal(err)
			}
			skipPromtool = !strings.HasPrefix(c.fault, "promtool")
			skipWithout = strings.Contains(c.claim+c.file, "deliver") || strings.Contains(c.claim+c.file, "console")
			skipComponents = !skipWithout
			isFound := func(faults []string) bool { return strings.Contains(strings.Join(faults, "\n"), c.fault) }
			checksAll := enough
			enough = isFound
			defer func() { skipPromtool, skipWithout, skipComponents, enough = false, false, false, checksAll }()
			_, faults := checkAll(files, "/", false)
			if !isFound(faults) {
				t.Fatalf("wanted a fault with %q, got %d:\n%s", c.fault, len(faults), strings.Join(faults, "\n"))
			}
		})
	}
}

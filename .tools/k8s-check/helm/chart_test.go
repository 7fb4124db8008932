package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

func TestTheChartIsWhatTheOverlaysAre(t *testing.T) {
	extras := []string{"--set", "delivery.enabled=true,console.enabled=true"}
	scram := "namespace: recrawl\nresources: [../../base]\ncomponents: [../../components/network-policies, ../../components/monitoring]\n" +
		"images: [{name: recrawl, newName: registry.example.org/recrawl}]\n" +
		"configMapGenerator: [{name: recrawl, behavior: replace, files: [recrawl.toml]}]\npatches:\n" +
		"  - target: {kind: NetworkPolicy, name: recrawl-kafka}\n    patch: |\n" +
		"      - {op: replace, path: /spec/egress/0/to, value: [{ipBlock: {cidr: 10.20.0.0/24}}]}\n" +
		"      - {op: replace, path: /spec/egress/0/ports/0/port, value: 9096}\n" +
		"  - target: {kind: CronJob}\n    patch: |\n" +
		"      - {op: replace, path: /spec/jobTemplate/spec/template/spec/containers/0/command/2, value: check}\n"
	scramSettings := "[crawl]\ndata = \"/var/lib/recrawl\"\ncontact = \"https://example.org/our-crawler\"\n[kafka]\n" +
		"brokers = \"broker-0.example.net:9096,broker-1.example.net:9096,broker-2.example.net:9096\"\npartitions = 16\nreplication_factor = 3\n" +
		"security_protocol = \"sasl_ssl\"\nsasl_mechanism = \"SCRAM-SHA-512\"\nusername = \"recrawl\"\n" +
		"password_file = \"/run/secrets/kafka/password\"\nca_file = \"/run/secrets/kafka/ca.pem\"\n" +
		"[http]\nbind = \"0.0.0.0:9464\"\n[observability]\nlog_format = \"json\"\n"
	cases := []struct {
		claim, overlay, kustomization string
		files                         map[string]string
		namespace, example            string
		further                       []string
	}{
		{"the base is the chart without values", "base-alone", "namespace: recrawl\nresources: [../../base]\n", map[string]string{}, "recrawl", "", nil},
		{"delivery and console for another Kafka", "bare", "namespace: recrawl\nresources: [../../base]\n" +
			"components: [../../components/delivery, ../../components/console]\n", map[string]string{}, "recrawl", "", extras},
		{"dev", "dev", "", nil, "recrawl-dev", "dev", nil},
		{"dev with all components", "dev", "", withComponents(t, "dev"), "recrawl-dev", "dev", extras},
		{"prod", "prod", "", nil, "recrawl", "prod", nil},
		{"prod with all components", "prod", "", withComponents(t, "prod"), "recrawl", "prod", extras},
		{"a managed Kafka", "managed", scram, map[string]string{"recrawl.toml": scramSettings}, "recrawl", "managed-scram", nil},
	}
	for _, c := range cases {
		t.Run(c.claim, func(t *testing.T) {
			found, err := compare(overlay(t, c.overlay, c.kustomization, c.files), render(t, c.namespace, c.example, c.further...))
			if err != nil {
				t.Fatal(err)
			}
			if len(found) > 0 {
				t.Fatal(strings.Join(found, "\n"))
			}
		})
	}
}

func TestADifferenceIsFound(t *testing.T) {
	base := overlay(t, "base-alone", "namespace: recrawl\nresources: [../../base]\n", map[string]string{})
	cases := []struct{ set, found string }{
		{"stages.fetcher.resources.limits.memory=3Gi", `limits memory: Kustomize has "1Gi", the chart "3Gi"`},
		{"settings.http.bind=0.0.0.0:1", `recrawl.toml http bind: Kustomize has "0.0.0.0:9464", the chart "0.0.0.0:1"`},
		{"settings.kafka.partitions=8", "recrawl.toml kafka partitions: Kustomize has null, the chart 8"},
		{"networkPolicies.enabled=true", "NetworkPolicy recrawl/recrawl-default-deny is only in the chart"},
		{"podAnnotations.ours=x", "annotations ours: Kustomize has null"},
	}
	for _, c := range cases {
		found, err := compare(base, render(t, "recrawl", "", "--set", c.set))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(found, "\n"), c.found) {
			t.Errorf("%s: wanted %q, got:\n%s", c.set, c.found, strings.Join(found, "\n"))
		}
	}
	elsewhere, err := compare(base, render(t, "elsewhere", ""))
	if err != nil || len(elsewhere) != 2*len(base) {
		t.Errorf("of %d objects in another namespace all have to be missing, and as many too many: %v, %v", len(base), elsewhere, err)
	}
}

func TestValuesThatCannotBeAreRefusedByName(t *testing.T) {
	cases := []struct{ set, message string }{
		{"stages.fetcher.replicas=two", "at '/stages/fetcher/replicas': got string, want integer"},
		{"stages.fetchers.replicas=2", "at '/stages': additional properties 'fetchers' not allowed"},
		{"stages.fetcher.replica=2", "at '/stages/fetcher': additional properties 'replica' not allowed"},
		{"image.version=1", "at '/image': additional properties 'version' not allowed"},
		{"persistence.enabled=true", "additional properties 'persistence' not allowed"},
		{"console.enabled=maybe", "at '/console/enabled': got string, want boolean"},
		{"stages.scheduler.storage=large", "at '/stages/scheduler/storage': 'large' does not match pattern"},
		{"settings.kafka.partitions=many", "at '/settings/kafka/partitions': got string, want integer"},
		{"settings.kafka=localhost:9092", "at '/settings/kafka': got string, want object"},
		{"stages.ranker.storage=null", "at '/stages/ranker': missing property 'storage'"},
		{"networkPolicies.denyAddresses={fd00}", "at '/networkPolicies/denyAddresses/0': 'fd00' does not match pattern"},
	}
	for _, c := range cases {
		output, err := helm(t, "template", "recrawl", filepath.Join(repository, chart), "--set", c.set)
		if err == nil || !strings.Contains(output, c.message) {
			t.Errorf("%s: wanted %q, got %v: %s", c.set, c.message, err, output)
		}
	}
	for example, of := range map[string][2]string{
		"dev":           {"settings.log.retention_results=12h", "settings.log.retention_results: write whole days"},
		"managed-scram": {"strimzi.enabled=true", "set settings.kafka.certificate_file"},
	} {
		output, err := helm(t, "template", "recrawl", filepath.Join(repository, chart), "--values", valuesOf(example), "--set", of[0])
		if err == nil || !strings.Contains(output, of[1]) {
			t.Errorf("%s: wanted %q, got %v: %s", of[0], of[1], err, output)
		}
	}
}

func TestTheChartPassesLint(t *testing.T) {
	arguments := []string{"lint", "--strict", filepath.Join(repository, chart)}
	for _, example := range append([]string{""}, examples...) {
		of := arguments
		if example != "" {
			of = append(append([]string{}, arguments...), "--values", valuesOf(example))
		}
		if output, err := helm(t, of...); err != nil || !strings.Contains(output, "1 chart(s) linted, 0 chart(s) failed") {
			t.Errorf("%s: %v: %s", example, err, output)
		}
	}
}

// Argo CD and Flux render again and again, without a cluster, and apply what is new.
func TestRenderingsAreEqualAndCanBeAppliedTwice(t *testing.T) {
	changing := regexp.MustCompile(`\b(lookup|now|date|uuidv4|env|getHostByName|htpasswd|bcrypt|rand[A-Z]\w*|gen[A-Z]\w*)\b` +
		`|\.Release\.(IsInstall|IsUpgrade|Revision)|\.Capabilities|helm\.sh/hook`)
	paths, err := filepath.Glob(filepath.Join(repository, chart, "templates/*"))
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d templates: %v", len(paths), err)
	}
	action, hook := regexp.MustCompile(`(?s)\{\{.*?\}\}`), regexp.MustCompile(`helm\.sh/hook.*`)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range append(action.FindAllString(string(text), -1), hook.FindAllString(string(text), -1)...) {
			if !strings.HasPrefix(strings.TrimLeft(of, "{- "), "/*") && changing.MatchString(of) {
				t.Errorf("%s: %s does not give the same each time", path, of)
			}
		}
	}
	for _, example := range append([]string{""}, examples...) {
		all := []string{"--set", "delivery.enabled=true,console.enabled=true,monitoring.enabled=true"}
		first := rendered(t, filepath.Join(repository, chart), "recrawl", example, all...)
		if first != rendered(t, filepath.Join(repository, chart), "recrawl", example, append(all, "--is-upgrade")...) {
			t.Errorf("%s: an upgrade is rendered otherwise", example)
		}
		for _, of := range parse(t, first) {
			if kind := text(of, "kind"); kind == "Job" || kind == "Pod" || kind == "Secret" {
				t.Errorf("%s: it cannot be applied again with another image, or is not the chart's to make", nameOf(of))
			}
			if text(of, "metadata", "namespace") != "recrawl" {
				t.Errorf("%s is in no namespace, or another's", nameOf(of))
			}
		}
	}
}

func TestAPackageIsTheChart(t *testing.T) {
	directory := t.TempDir()
	if output, err := helm(t, "package", filepath.Join(repository, chart), "--destination", directory); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	cargo := struct {
		Workspace struct{ Package struct{ Version string } }
	}{}
	if _, err := toml.DecodeFile(filepath.Join(repository, "Cargo.toml"), &cargo); err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join(directory, "recrawl-"+cargo.Workspace.Package.Version+".tgz")
	extras := []string{"--set", "delivery.enabled=true,console.enabled=true"}
	if rendered(t, packed, "recrawl", "prod", extras...) != rendered(t, filepath.Join(repository, chart), "recrawl", "prod", extras...) {
		t.Error("a package of the chart is rendered otherwise")
	}
}

func settingsOf(t *testing.T, objects []object) (settings object) {
	t.Helper()
	for _, of := range objects {
		if nameOf(of) == "ConfigMap recrawl/recrawl" {
			if _, err := toml.Decode(text(of, "data", "recrawl.toml"), &settings); err != nil {
				t.Fatalf("%v in:\n%s", err, text(of, "data", "recrawl.toml"))
			}
		}
	}
	return settings
}

func TestSettingsOfAllTypesBecomeToml(t *testing.T) {
	values := filepath.Join(t.TempDir(), "values.yaml")
	text := "settings:\n  crawl: {max_pages: 123456789, hosts: [a.example, 'b\"<&>\\example'], follow: true, contact: null}\n" +
		"  budget: {fetches_per_second: 0.25}\n  http: null\n" +
		"  kafka: {properties: {client.rack: a b, socket.timeout.ms: 6000}}\n" +
		"  rules: [{pages: [shop.example], watch: ['fact:price', '.a > b']}, {pages: ['*'], only_triggers: true}]\n"
	if err := os.WriteFile(values, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := settingsOf(t, render(t, "recrawl", "", "--values", values))
	wanted := object{
		"crawl":         object{"data": "/var/lib/recrawl", "max_pages": int64(123456789), "hosts": []any{"a.example", `b"<&>\example`}, "follow": true},
		"budget":        object{"fetches_per_second": 0.25},
		"kafka":         object{"brokers": "kafka:9092", "replication_factor": int64(3), "properties": object{"client.rack": "a b", "socket.timeout.ms": int64(6000)}},
		"observability": object{"log_format": "json"},
		"rules":         []any{object{"pages": []any{"shop.example"}, "watch": []any{"fact:price", ".a > b"}}, object{"pages": []any{"*"}, "only_triggers": true}},
	}
	wanted, err := plain(wanted)
	if err != nil {
		t.Fatal(err)
	}
	if got, err = plain(got); err != nil {
		t.Fatal(err)
	}
	if found := differences("settings", wanted, got); len(found) > 0 {
		t.Error(strings.Join(found, "\n"))
	}
}

// Values that no overlay uses reach their place, and the API knows all fields.
func TestValuesReachAllPods(t *testing.T) {
	values := filepath.Join(t.TempDir(), "values.yaml")
	given := "image: {repository: r.example/recrawl, tag: 1.2.3, pullPolicy: Always}\nimagePullSecrets: [{name: pull}]\n" +
		"nodeSelector: {disk: ssd}\ntolerations: [{key: crawl, operator: Exists}]\npriorityClassName: high\npodAnnotations: {ours: 'yes'}\n" +
		"kafka: {secretName: login}\nregistry: {secretName: schemas}\nconsole: {enabled: true, names: [crawl.example.org], secretName: keys}\n" +
		"delivery: {enabled: true, args: [--template=slack], secretName: hook}\nmonitoring: {enabled: true, labels: {release: stack}}\n" +
		"networkPolicies: {enabled: true, denyAddresses: [192.0.32.0/20, '2001:500:88::/48'], prometheusNamespace: metrics}\n" +
		"extraObjects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: more}}]\n"
	if err := os.WriteFile(values, []byte(given), 0o600); err != nil {
		t.Fatal(err)
	}
	strict := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	pods, closed, labelled := 0, 0, 0
	all := rendered(t, filepath.Join(repository, chart), "recrawl", "", "--values", values)
	for _, of := range parse(t, all) {
		if scheme.Scheme.Recognizes(schema.FromAPIVersionAndKind(text(of, "apiVersion"), text(of, "kind"))) {
			plain, err := yaml.Marshal(of)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := strict.Decode(plain, nil, nil); err != nil {
				t.Errorf("%s: %v", nameOf(of), err)
			}
		}
		if text(of, "metadata", "labels", "release") == "stack" {
			labelled++
		}
		except := fmt.Sprint(at(of, "spec", "egress"))
		if strings.Contains(except, "192.0.32.0/20") && strings.Contains(except, "2001:500:88::/48") {
			closed++
		}
		pod := podOf(of)
		if pod == nil {
			continue
		}
		pods++
		annotation := "yes"
		if text(of, "kind") == "CronJob" {
			annotation = ""
		}
		for _, pair := range [][2]string{
			{text(pod, "spec", "imagePullSecrets", 0, "name"), "pull"},
			{text(pod, "spec", "nodeSelector", "disk"), "ssd"},
			{text(pod, "spec", "tolerations", 0, "key"), "crawl"},
			{text(pod, "spec", "priorityClassName"), "high"},
			{text(pod, "spec", "containers", 0, "image"), "r.example/recrawl:1.2.3"},
			{text(pod, "spec", "containers", 0, "imagePullPolicy"), "Always"},
			{text(pod, "metadata", "annotations", "ours"), annotation},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s: has %q, wanted %q", nameOf(of), pair[0], pair[1])
			}
		}
	}
	// Six stages, commands, topics, console and delivery; the policies of fetcher, console and delivery; monitor and
	// alerts.
	if pods != 10 || closed != 3 || labelled != 2 {
		t.Errorf("%d pods, %d policies that close addresses, %d labelled objects", pods, closed, labelled)
	}
	for place, times := range map[string]int{"secretName: login": 10, "secretName: schemas": 1, "secretName: keys": 1, "secretName: hook": 1,
		"value: \"recrawl-console,crawl.example.org\"": 1, "- --template=slack": 1, "kubernetes.io/metadata.name: metrics": 3, "name: more": 1} {
		if count := strings.Count(all, place); count != times {
			t.Errorf("%q is there %d times, wanted %d", place, count, times)
		}
	}
}

func TestTopicsKeepRecordsForAsLongAsTheSettingsSay(t *testing.T) {
	const day = 24 * 3_600_000
	further := []string{"--set", "settings.log.retention_results=7d,settings.log.retention_audit=400d"}
	kept := map[string]string{}
	for _, of := range render(t, "recrawl", "dev", further...) {
		if text(of, "kind") == "KafkaTopic" {
			kept[text(of, "metadata", "name")] = text(of, "spec", "config", "retention.ms")
		}
	}
	for topic, days := range map[string]int{"recrawl.fetch-results": 7, "recrawl.audit": 400, "recrawl.fetch-requests": 7} {
		if kept[topic] != strconv.Itoa(days*day) {
			t.Errorf("%s keeps records for %q ms, not for %d days", topic, kept[topic], days)
		}
	}
}

func TestTheExampleWithTokensNeedsNoStrimzi(t *testing.T) {
	objects := render(t, "recrawl", "managed-oauth")
	for _, of := range objects {
		if strings.Contains(text(of, "apiVersion"), "strimzi") {
			t.Errorf("%s is Strimzi's", nameOf(of))
		}
		if text(of, "kind") == "CronJob" {
			if words := fmt.Sprint(at(podOf(of), "spec", "containers", 0, "command")); !strings.Contains(words, "topics create") {
				t.Errorf("%s runs %s", nameOf(of), words)
			}
		}
	}
	kafka := at(settingsOf(t, objects), "kafka")
	if text(kafka, "sasl_mechanism") != "OAUTHBEARER" || text(kafka, "properties", "sasl.oauthbearer.extensions") == "" {
		t.Errorf("its settings are others: %v", kafka)
	}
}

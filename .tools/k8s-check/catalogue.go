package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// topic is a row of the catalogue in schemas/README.md, which a test of the programs keeps equal to what they use.
type topic struct {
	name                 string
	producers, consumers []string
	isLoop, isCompacted  bool
	isTimedByBrokers     bool
	partitions, days     int
	bytes                int
}

var row = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|[^|]*\\|[^|]*\\| ([^|]*) → ([^|]*) \\| ([^|]*) \\| (loop|\\d+) \\| (\\d+) KiB \\|$")

// catalogue reads the topics from schemas/README.md.
func catalogue(files filesys.FileSystem, repository string) (topics []topic, err error) {
	text, err := files.ReadFile(filepath.Join(repository, "schemas", "README.md"))
	if err != nil {
		return nil, err
	}
	for _, cells := range row.FindAllStringSubmatch(string(text), -1) {
		of := topic{name: cells[1], producers: strings.Split(cells[2], ", "), consumers: strings.Split(cells[3], ", "), isLoop: cells[5] == "loop"}
		of.isTimedByBrokers = strings.HasSuffix(cells[4], ", timed by brokers")
		of.partitions, _ = strconv.Atoi(cells[5])
		kib, _ := strconv.Atoi(cells[6])
		of.bytes = kib << 10
		if _, err := fmt.Sscanf(cells[4], "deleted after %d days", &of.days); err != nil {
			of.isCompacted = cells[4] == "compacted"
			if !of.isCompacted {
				return nil, fmt.Errorf("schemas/README.md: %s: %q is no rule for old records", of.name, cells[4])
			}
		}
		topics = append(topics, of)
	}
	if len(topics) == 0 {
		return nil, fmt.Errorf("schemas/README.md: no row of the table of topics was understood")
	}
	return topics, nil
}

func contains(list []string, word string) bool {
	for _, entry := range list {
		if entry == word {
			return true
		}
	}
	return false
}

// stagesOf lists the stages: those that read an input each.
func stagesOf(topics []topic) (stages []string) {
	for _, of := range topics {
		if contains(inputs(topics), of.name) {
			stages = append(stages, of.consumers[0])
		}
	}
	return stages
}

// inputs are the topics whose backlog every stage tells: one per stage, the loop topic that it reads.
func inputs(topics []topic) (names []string) {
	for _, of := range topics {
		if of.isLoop && !of.isCompacted && of.consumers[0] != "you" {
			names = append(names, of.name)
		}
	}
	return names
}

// topicsFile is components/strimzi/topics.yaml. The settings are those of `recrawl topics create`
// (crates/stream-kafka/src/topics.rs), which `recrawl topics check` compares in the cluster.
func topicsFile(topics []topic) string {
	const day = 24 * 3_600_000
	text := "# Written from schemas/README.md by `UPDATE=1 make k8s-check`, do not edit. For 16 partitions and three copies; overlays patch\n# other numbers in.\n"
	for _, of := range topics {
		kind, partitions := "shared-topic", of.partitions
		if of.isLoop {
			kind, partitions = "loop-topic", 16
		}
		text += fmt.Sprintf("---\napiVersion: kafka.strimzi.io/v1\nkind: KafkaTopic\nmetadata:\n  name: recrawl.%s\n"+
			"  labels: {strimzi.io/cluster: recrawl, app.kubernetes.io/component: %s}\nspec:\n  partitions: %d\n  replicas: 3\n",
			of.name, kind, partitions)
		text += fmt.Sprintf("  config: {max.message.bytes: \"%d\", min.insync.replicas: \"2\", ", of.bytes+4096)
		if of.isTimedByBrokers {
			text += "message.timestamp.type: LogAppendTime, "
		}
		if of.isCompacted {
			text += fmt.Sprintf("cleanup.policy: compact, delete.retention.ms: \"%d\", segment.ms: \"%d\", segment.bytes: \"%d\", "+
				"max.compaction.lag.ms: \"%d\"}\n", 7*day, day/4, 128<<20, 7*day)
		} else {
			text += fmt.Sprintf("cleanup.policy: delete, retention.ms: \"%d\"}\n", of.days*day)
		}
	}
	return text
}

// userHead begins a user; its rights follow.
func userHead(name string) string {
	return fmt.Sprintf("---\napiVersion: kafka.strimzi.io/v1\nkind: KafkaUser\nmetadata:\n  name: recrawl-%s\n"+
		"  labels: {strimzi.io/cluster: recrawl}\nspec:\n  authentication: {type: tls}\n  authorization:\n    type: simple\n    acls:\n", name)
}

func acl(kind, name, pattern string, operations ...string) string {
	return fmt.Sprintf("      - resource: {type: %s, name: %s, patternType: %s}\n        operations: [%s]\n",
		kind, name, pattern, strings.Join(operations, ", "))
}

// deliveryUserFile is components/delivery/strimzi/user.yaml. A reader joins no group, but names one to librdkafka, which asks for
// its coordinator (crates/stream-kafka/src/settings.rs).
func deliveryUserFile(topics []topic) string {
	text := "# Written from schemas/README.md by `UPDATE=1 make k8s-check`, do not edit. It reads changes, and the schemas by which they are\n" +
		"# read, and may do nothing else: the group that it names is never joined.\n" + userHead("delivery")
	for _, of := range topics {
		if toldToOthers(of) {
			text += acl("topic", "recrawl."+of.name, "literal", "Read", "Describe")
		}
	}
	return text + acl("group", "recrawl-changes-reader", "literal", "Describe")
}

// usersFile is components/strimzi/users.yaml: for each stage the rights that its row of the catalogue needs.
func usersFile(topics []topic) string {
	text := "# Written from schemas/README.md by `UPDATE=1 make k8s-check`, do not edit. One user per stage, with the rights that it uses and\n" +
		"# no others: topics that it reads and writes, its group and its transactional ids. Every stage tells the backlog of all, so\n" +
		"# it may read all inputs and see all groups.\n"
	user := func(name string) { text += userHead(name) }
	allow := func(kind, name, pattern string, operations ...string) {
		text += acl(kind, name, pattern, operations...)
	}
	for _, stage := range stagesOf(topics) {
		user(stage)
		for _, of := range topics {
			var operations []string
			if contains(of.consumers, stage) || contains(of.consumers, "all") || contains(inputs(topics), of.name) {
				operations = append(operations, "Read")
			}
			writes := contains(of.producers, stage) || contains(of.producers, "all")
			if writes {
				operations = append(operations, "Write")
			}
			if len(operations) > 0 {
				operations = append(operations, "Describe")
				if writes { // how large a record may be
					operations = append(operations, "DescribeConfigs")
				}
				allow("topic", "recrawl."+of.name, "literal", operations...)
			}
		}
		allow("group", "recrawl-"+stage, "prefix", "Read", "Describe")
		allow("group", "recrawl-", "prefix", "Describe")
		allow("transactionalId", "recrawl-"+stage, "prefix", "Write", "Describe")
	}
	// The operator reads everything, sends what the catalogue says, and returns dead letters to the inputs that they came from.
	user("command")
	allow("topic", "recrawl.", "prefix", "Read", "Describe", "DescribeConfigs")
	for _, of := range topics {
		if contains(of.producers, "recrawl") || contains(of.producers, "all") || contains(inputs(topics), of.name) {
			allow("topic", "recrawl."+of.name, "literal", "Write")
		}
	}
	allow("group", "recrawl-", "prefix", "Read", "Describe")
	allow("transactionalId", "recrawl-", "prefix", "Write", "Describe")
	return text
}

// plainRules are the rules without the object around them, for a Prometheus without an operator.
func plainRules(object string) string {
	_, rules, _ := strings.Cut(object, "\nspec:\n")
	rules = strings.TrimPrefix(strings.ReplaceAll("\n"+rules, "\n  ", "\n"), "\n")
	return "# Written from k8s/components/monitoring/rules.yaml by `UPDATE=1 make k8s-check`, do not edit.\n" + rules
}

// generated compares files with what they are written from, or writes them.
func generated(files filesys.FileSystem, repository string, update bool) (faults []string) {
	topics, err := catalogue(files, repository)
	if err != nil {
		return []string{err.Error()}
	}
	rules, err := files.ReadFile(filepath.Join(repository, "k8s", "components", "monitoring", "rules.yaml"))
	if err != nil {
		return []string{err.Error()}
	}
	written := map[string]string{
		"k8s/components/strimzi/topics.yaml":        topicsFile(topics),
		"k8s/components/strimzi/users.yaml":         usersFile(topics),
		"compose/rules.yaml":                        plainRules(string(rules)),
		"k8s/components/delivery/strimzi/user.yaml": deliveryUserFile(topics),
	}
	for name, text := range written {
		path := filepath.Join(repository, name)
		if update {
			err = files.WriteFile(path, []byte(text))
		} else if old, readErr := files.ReadFile(path); readErr != nil || string(old) != text {
			err = fmt.Errorf("%s differs from what it is written from; UPDATE=1 make k8s-check writes it", name)
		}
		if err != nil {
			faults = append(faults, err.Error())
			err = nil
		}
	}
	return faults
}

// retentions are the settings by which topics keep records for longer or shorter than the catalogue says.
var retentions = map[string]string{
	"fetch-results": "retention_results", "page-changes": "retention_changes", "dead-letters": "retention_dead_letters",
	"audit": "retention_audit",
}

// kafkaTopics: the built topics are those of the catalogue, with the partitions, copies and retention that the settings say.
func kafkaTopics(objects []custom, topics []topic, settings string) (faults []string) {
	number := func(key string, otherwise int) int {
		found := regexp.MustCompile(`(?m)^` + key + ` = (\d+)$`).FindStringSubmatch(settings)
		if found == nil {
			return otherwise
		}
		value, _ := strconv.Atoi(found[1])
		return value
	}
	partitions, copies := number("partitions", 16), number("replication_factor", 1)
	built := map[string]custom{}
	for _, object := range objects {
		if object.kind == "KafkaTopic" {
			built[object.name] = object
		}
	}
	if len(built) == 0 {
		return nil
	}
	for _, of := range topics {
		object, there := built["recrawl."+of.name]
		if !there {
			faults = append(faults, fmt.Sprintf("topic recrawl.%s is missing", of.name))
			continue
		}
		wanted := of.partitions
		if of.isLoop {
			wanted = partitions
		}
		if got := fmt.Sprint(at(object.fields, "spec", "partitions")); got != strconv.Itoa(wanted) {
			faults = append(faults, fmt.Sprintf("topic %s has %s partitions, recrawl.toml means %d", object.name, got, wanted))
		}
		if got := fmt.Sprint(at(object.fields, "spec", "replicas")); got != strconv.Itoa(copies) {
			faults = append(faults, fmt.Sprintf("topic %s has %s copies, recrawl.toml means %d", object.name, got, copies))
		}
		if key, there := retentions[of.name]; there {
			if set := regexp.MustCompile(`(?m)^` + key + ` = "(\d+)d"$`).FindStringSubmatch(settings); set != nil {
				days, _ := strconv.Atoi(set[1])
				if got := fmt.Sprint(at(object.fields, "spec", "config", "retention.ms")); got != strconv.Itoa(days*24*3_600_000) {
					faults = append(faults, fmt.Sprintf("topic %s keeps records for %s ms, recrawl.toml means %d days", object.name, got, days))
				}
			}
		}
		if insync := at(object.fields, "spec", "config", "min.insync.replicas"); (insync != nil) != (copies >= 3) {
			faults = append(faults, fmt.Sprintf("topic %s: min.insync.replicas is %v for %d copies", object.name, insync, copies))
		}
	}
	return faults
}

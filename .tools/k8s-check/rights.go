package main

import (
	"fmt"
	"strings"
)

// rights: in what is built, each user may write exactly the topics that the catalogue says, and read at least those. It
// reads the objects as the brokers would, not the text that usersFile writes.
func rights(customs []custom, topics []topic) (faults []string) {
	for _, object := range customs {
		if object.kind != "KafkaUser" {
			continue
		}
		program := strings.TrimPrefix(object.name, "recrawl-")
		if program == "command" {
			program = "recrawl"
		}
		for _, of := range topics {
			name := "recrawl." + of.name
			if program == "delivery" {
				faults = append(faults, readsAlone(object, name, toldToOthers(of))...)
				continue
			}
			reads := contains(of.consumers, program) || contains(of.consumers, "all")
			if reads && !allowed(object, "Read", name) {
				faults = append(faults, fmt.Sprintf("KafkaUser %s may not read %s", object.name, name))
			}
			writes := contains(of.producers, program) || contains(of.producers, "all")
			// Dead letters return to any input.
			writes = writes || program == "recrawl" && contains(inputs(topics), of.name)
			if writes != allowed(object, "Write", name) {
				faults = append(faults, fmt.Sprintf("KafkaUser %s: may it write %s? %v, and the catalogue says %v",
					object.name, name, !writes, writes))
			}
		}
	}
	return faults
}

// toldToOthers: changes, and the schemas by which they are read.
func toldToOthers(of topic) bool {
	return contains(of.consumers, "you") || contains(of.consumers, "all")
}

// readsAlone: a user that only reads, and nothing but what it needs.
func readsAlone(object custom, topic string, reads bool) (faults []string) {
	if allowed(object, "Read", topic) != reads {
		faults = append(faults, fmt.Sprintf("KafkaUser %s: may it read %s? %v", object.name, topic, !reads))
	}
	if allowed(object, "Write", topic) {
		faults = append(faults, fmt.Sprintf("KafkaUser %s: may it write %s? true", object.name, topic))
	}
	return faults
}

// allowed says whether a user's rights include an operation on a topic.
func allowed(user custom, operation, topic string) bool {
	acls, _ := at(user.fields, "spec", "authorization", "acls").([]interface{})
	for _, acl := range acls {
		resource := at(acl, "resource")
		name, _ := at(resource, "name").(string)
		matches := name == topic || at(resource, "patternType") == "prefix" && strings.HasPrefix(topic, name)
		operations, _ := at(acl, "operations").([]interface{})
		for _, granted := range operations {
			if at(resource, "type") == "topic" && matches && (granted == operation || granted == "All") {
				return true
			}
		}
	}
	return false
}

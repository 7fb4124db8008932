// Writes ../schemas.json: what custom resources look like, made from definitions (YAML) and from schemas (JSON).
//
//	fetch DEFINITION.yaml… SCHEMAS.json… > schemas.json
//
// Only the schemas are kept, without descriptions. Fields that a schema does not name are forbidden: the API server would
// drop them without a word.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"

	"sigs.k8s.io/yaml"
)

type definition struct {
	Spec struct {
		Group string
		Names struct{ Kind string }
		// Versions in the order of the file.
		Versions []struct {
			Name   string
			Schema struct {
				OpenAPIV3Schema map[string]interface{} `json:"openAPIV3Schema"`
			}
		}
	}
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(files []string) error {
	schemas := map[string]map[string]interface{}{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if filepath.Ext(file) == ".json" {
			if err := json.Unmarshal(text, &schemas); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			continue
		}
		var found definition
		if err := yaml.Unmarshal(text, &found); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, version := range found.Spec.Versions {
			name := fmt.Sprintf("%s/%s %s", found.Spec.Group, version.Name, found.Spec.Names.Kind)
			schemas[name] = version.Schema.OpenAPIV3Schema
		}
	}
	names := make([]string, 0, len(schemas))
	for name, schema := range schemas {
		names = append(names, name)
		if properties, ok := schema["properties"].(map[string]interface{}); ok {
			delete(properties, "status")
			properties["metadata"] = map[string]interface{}{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
		}
		tidy(schema)
	}
	sort.Strings(names)
	// One kind per line.
	for i, name := range names {
		text, err := json.Marshal(schemas[name])
		if err != nil {
			return err
		}
		fmt.Printf("%s%q: %s", map[bool]string{true: "{\n", false: ",\n"}[i == 0], name, text)
	}
	fmt.Println("\n}")
	return nil
}

// tidy drops what is for people or for the API server alone, and forbids fields that are not named.
func tidy(schema map[string]interface{}) {
	for _, word := range []string{"description", "default", "example", "format", "x-kubernetes-validations",
		"x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"} {
		delete(schema, word)
	}
	if schema["x-kubernetes-int-or-string"] == true {
		delete(schema, "anyOf")
		delete(schema, "pattern")
		schema["type"] = []string{"integer", "string"}
	}
	properties, named := schema["properties"].(map[string]interface{})
	if named && schema["additionalProperties"] == nil && schema["x-kubernetes-preserve-unknown-fields"] != true {
		schema["additionalProperties"] = false
	}
	for _, property := range properties {
		if inner, ok := property.(map[string]interface{}); ok {
			tidy(inner)
		}
	}
	for _, word := range []string{"items", "additionalProperties"} {
		if inner, ok := schema[word].(map[string]interface{}); ok {
			tidy(inner)
		}
	}
}

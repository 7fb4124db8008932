package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sort"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// Schemas of the custom resources that k8s/ uses (crds/README.md).
//
//go:embed crds/schemas.json
var schemasText []byte

// custom is an object of a kind that Kubernetes itself does not have.
type custom struct {
	apiVersion, kind, name string
	fields                 map[string]interface{}
}

// customSchemas are the known schemas, by "group/version Kind".
func customSchemas() (map[string]*spec.Schema, error) {
	schemas := map[string]*spec.Schema{}
	return schemas, json.Unmarshal(schemasText, &schemas)
}

// checkCustom validates an object against the schema of its kind.
func checkCustom(schemas map[string]*spec.Schema, object custom) (faults []string) {
	title := object.kind + " " + object.name
	schema, known := schemas[object.apiVersion+" "+object.kind]
	if !known {
		return []string{fmt.Sprintf("%s: %s has no schema in crds/schemas.json", title, object.apiVersion)}
	}
	result := validate.NewSchemaValidator(schema, nil, "", strfmt.Default).Validate(object.fields)
	for _, err := range result.Errors {
		faults = append(faults, fmt.Sprintf("%s: %v", title, err))
	}
	sort.Strings(faults)
	return faults
}

// at follows keys into nested fields; nil if one is missing.
func at(value interface{}, keys ...string) interface{} {
	for _, key := range keys {
		fields, ok := value.(map[string]interface{})
		if !ok {
			return nil
		}
		value = fields[key]
	}
	return value
}

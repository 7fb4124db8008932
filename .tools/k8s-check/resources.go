package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"sort"

	gnostic "github.com/google/gnostic/openapiv2"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/util"
	models "k8s.io/kube-openapi/pkg/util/proto"
	"k8s.io/kube-openapi/pkg/util/proto/validation"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/kustomize/kyaml/openapi/kubernetesapi"
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

// kubernetesSchemas are those of Kubernetes itself, which Kustomize carries: of 1.21, and what was required then still is.
func kubernetesSchemas() (models.Models, error) {
	document := &gnostic.Document{}
	asset := kubernetesapi.OpenAPIMustAsset[kubernetesapi.DefaultOpenAPI]("kubernetesapi/v1_21_2/swagger.pb")
	if err := proto.Unmarshal(asset, document); err != nil {
		return nil, err
	}
	return models.NewOpenAPIData(document)
}

// missingFields are the required ones that an object lacks: decoded, they are empty, which is no error. Its other faults are
// left to the decoder, which knows newer fields.
func missingFields(schemas models.Models, object runtime.Object, fields map[string]interface{}) (missing []error) {
	name := util.ToRESTFriendlyName(util.GetCanonicalTypeName(object))
	schema := schemas.LookupModel(name)
	if schema == nil {
		return []error{fmt.Errorf("%s has no schema", name)}
	}
	for _, err := range validation.ValidateModel(fields, schema, object.GetObjectKind().GroupVersionKind().Kind) {
		found := validation.ValidationError{}
		if errors.As(err, &found) && errors.As(found.Err, &validation.MissingRequiredFieldError{}) {
			missing = append(missing, err)
		}
	}
	return missing
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

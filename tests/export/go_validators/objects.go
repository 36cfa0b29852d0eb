package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// documents splits a YAML file; documents of comments only are left out.
func documents(path string) ([]map[string]interface{}, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	var out []map[string]interface{}
	for {
		var raw runtime.RawExtension
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if len(raw.Raw) == 0 {
			continue
		}
		// Whole numbers are integers, as CEL has them.
		var document map[string]interface{}
		if err := utiljson.Unmarshal(raw.Raw, &document); err != nil {
			return nil, err
		}
		if document != nil {
			out = append(out, document)
		}
	}
}

// reader holds what the API server keeps of a CRD: its schema and the compiled CEL rules.
type reader struct {
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

type readers struct {
	folder string
	known  map[string]*reader
}

// schemaOf finds the version of a kind among the CRDs of a folder.
func schemaOf(folder, apiVersion, kind string) (*apiextensions.JSONSchemaProps, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		all, err := documents(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, document := range all {
			if found, err := schemaIn(document, apiVersion, kind); found != nil || err != nil {
				return found, err
			}
		}
	}
	return nil, fmt.Errorf("no CRD for %s %s in %s", apiVersion, kind, folder)
}

func schemaIn(document map[string]interface{}, apiVersion, kind string) (*apiextensions.JSONSchemaProps, error) {
	if document["kind"] != "CustomResourceDefinition" {
		return nil, nil
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(document, &crd); err != nil {
		return nil, err
	}
	for _, version := range crd.Spec.Versions {
		if crd.Spec.Names.Kind != kind || crd.Spec.Group+"/"+version.Name != apiVersion {
			continue
		}
		var internal apiextensions.CustomResourceValidation
		err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(
			version.Schema, &internal, nil)
		return internal.OpenAPIV3Schema, err
	}
	return nil, nil
}

func (r *readers) of(apiVersion, kind string) (*reader, error) {
	key := apiVersion + " " + kind
	if known := r.known[key]; known != nil {
		return known, nil
	}
	schema, err := schemaOf(r.folder, apiVersion, kind)
	if err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(schema)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(schema)
	if err != nil {
		return nil, err
	}
	r.known[key] = &reader{structural, validator, cel.NewValidator(structural, true, celconfig.PerCallLimit)}
	return r.known[key], nil
}

// check does what the API server does with `kubectl apply --validate=strict`.
func (r *readers) check(document map[string]interface{}) error {
	object := &unstructured.Unstructured{Object: document}
	read, err := r.of(object.GetAPIVersion(), object.GetKind())
	if err != nil {
		return err
	}
	unknown := pruning.PruneWithOptions(object.Object, read.structural, true,
		structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	_, _, unknownMeta, err := objectmeta.GetObjectMetaWithOptions(object.Object,
		objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return err
	}
	unknown = append(unknown, unknownMeta...)
	if len(unknown) > 0 {
		return fmt.Errorf("unknown fields %v", unknown)
	}
	defaulting.Default(object.Object, read.structural)
	if object.GetName() == "" && object.GetGenerateName() == "" {
		return errors.New("metadata.name is missing")
	}
	problems := apivalidation.ValidateObjectMetaAccessor(object, object.GetNamespace() != "",
		apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	problems = append(problems, validation.ValidateCustomResource(nil, object.Object, read.schema)...)
	problems = append(problems, listtype.ValidateListSetsAndMaps(nil, read.structural, object.Object)...)
	found, _ := read.rules.Validate(context.Background(), nil, read.structural, object.Object, nil,
		celconfig.RuntimeCELCostBudget)
	return append(problems, found...).ToAggregate()
}

// checkObjects prints the number of objects that it read.
func checkObjects(folder string, files []string) error {
	all := readers{folder, map[string]*reader{}}
	count := 0
	var problems []error
	for _, file := range files {
		objects, err := documents(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		count += len(objects)
		for _, object := range objects {
			name := (&unstructured.Unstructured{Object: object}).GetName()
			if err := all.check(object); err != nil {
				problems = append(problems, fmt.Errorf("%s: %v %s: %w", file, object["kind"], name, err))
			}
		}
	}
	fmt.Println(count)
	return errors.Join(problems...)
}

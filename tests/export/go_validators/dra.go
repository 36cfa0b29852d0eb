package main

import (
	"encoding/json"
	"errors"
	"fmt"

	nvidia "sigs.k8s.io/dra-driver-nvidia-gpu/api/nvidia.com/resource/v1beta1"
	"sigs.k8s.io/dra-driver-nvidia-gpu/pkg/featuregates"
)

// parametersIn finds every opaque.parameters below a value.
func parametersIn(value interface{}) []interface{} {
	var out []interface{}
	switch v := value.(type) {
	case map[string]interface{}:
		for key, member := range v {
			opaque, is := member.(map[string]interface{})
			if key == "opaque" && is {
				out = append(out, opaque["parameters"])
				continue
			}
			out = append(out, parametersIn(member)...)
		}
	case []interface{}:
		for _, member := range v {
			out = append(out, parametersIn(member)...)
		}
	}
	return out
}

// checkDRA decodes, completes and validates as the driver does in NodePrepareResources, with the
// feature gates on that the exported comments name.
func checkDRA(file string) error {
	if err := featuregates.FeatureGates().SetFromMap(map[string]bool{
		string(featuregates.TimeSlicingSettings): true, string(featuregates.MPSSupport): true,
	}); err != nil {
		return err
	}
	objects, err := documents(file)
	if err != nil {
		return err
	}
	checked := 0
	var problems []error
	for _, object := range objects {
		for _, parameters := range parametersIn(object) {
			checked++
			text, err := json.Marshal(parameters)
			if err != nil {
				return err
			}
			decoded, _, err := nvidia.StrictDecoder.Decode(text, nil, nil)
			if err != nil {
				problems = append(problems, fmt.Errorf("%v: %w", object["kind"], err))
				continue
			}
			config, is := decoded.(nvidia.Interface)
			if !is {
				problems = append(problems, fmt.Errorf("%T is no configuration", decoded))
				continue
			}
			problems = append(problems, config.Normalize(), config.Validate())
		}
	}
	fmt.Println(checked)
	return errors.Join(problems...)
}

#pragma once

#include "document.hpp"

// What words without quotes are: core_schema_kind() and old_truth() of document.hpp, and numbers.
namespace slicewise::scenarios {

// Kubernetes' tools read YAML 1.1, in which 017 is 15 and `on` is true, and hand it on as JSON,
// where 4.0 is 4. Source: sigs.k8s.io/yaml goyaml.v2/resolve.go and yaml.go.
// Makes a whole number of what is one there.
void take_yaml_1_1(Node& value);

}  // namespace slicewise::scenarios

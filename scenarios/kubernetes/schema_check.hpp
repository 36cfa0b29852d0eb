#pragma once

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "manifest_reader.hpp"

namespace slicewise::scenarios::manifests {

using Json = nlohmann::json;

// Of one program: what tools/kubernetes_schemas wrote.
struct Schemas {
  std::string program;                      // "Karpenter v1.14.1"
  bool is_operator;                         // of which a cluster may run another release
  Json objects;                             // by "group/version/Kind"
  std::shared_ptr<const Json> definitions;  // of the file, which several programs may share
};

// What the schema of an object and its rules say against it. `kind`: of the object; `partial`: it
// is a patch, from which much may be absent.
Diagnostics schema_problems(const Schemas& schemas, std::string kind, bool partial,
                            const Node& object, const Json& schema);

}  // namespace slicewise::scenarios::manifests

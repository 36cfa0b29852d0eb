#pragma once

#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"

// The objects of manifests and of what kubectl printed, as they stand there.
namespace slicewise::scenarios {

struct ClusterObject {
  std::string kind;
  std::string space;  // "": none is said
  std::string name;
  std::string json;  // all of it
};

// Mappings of all documents that can be read, those of lists one by one; kind and name are "" where
// a file has none, such as values of a chart.
std::vector<ClusterObject> cluster_objects(const SourceText& source);

}  // namespace slicewise::scenarios

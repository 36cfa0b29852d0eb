#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/scenarios/pod_file.hpp"

#include "../text/document.hpp"

// What a pod's metadata and spec say, whoever wrote them: people in manifests, which pod_judge.cpp
// judges beside, or the API server in its lists, of which `import pods` makes a trace.
namespace slicewise::scenarios::manifests {

struct PodSet;

// Of a set of its object, which stands at `pods`; `pod` has what is known of the object.
PodFile pod_file_of(const Node& object, const PodSet& set, const Node& pods, PodFile pod);

// The controller among the owners, else the first of them; nullptr without any.
const Node* owner_of(const Node* metadata);

std::vector<NodeRequirement> node_term_of(const Node* term);

struct ContainerAt {
  const Node* node;
  bool is_init;
  std::string_view resources;  // the key of what it asks for
};
// Init containers first.
std::vector<ContainerAt> containers_of(const Node& spec, const PodSet& set);

// A resource that a container asks for.
struct AskedAmount {
  struct Part {
    const Node* value = nullptr;
    SourceLocation key;
  };
  std::string resource;
  std::optional<Part> request;
  std::optional<Part> limit;

  bool is_extended() const { return resource.find('/') != std::string::npos; }
  // Of CPU and memory the request counts, of the rest the limit, which equals it.
  const Part& counting() const {
    if (is_extended()) return limit ? *limit : *request;
    return request ? *request : *limit;
  }
};

// Those with a limit first, each in the order of the file.
std::vector<AskedAmount> asked_amounts(const Node* resources);

// Parts of the names of NVIDIA's images.
inline constexpr std::string_view kPluginImage = "k8s-device-plugin";
inline constexpr std::string_view kMigManagerImage = "k8s-mig-manager";

// As text, or as NVIDIA's operators write it.
std::string image_of(const Node& container);

}  // namespace slicewise::scenarios::manifests

#pragma once

#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"

// A cluster through kubectl, which knows contexts and credentials. Only what lists and gets is
// asked for.
namespace slicewise::tools {

struct Cluster {
  std::string kubectl = "kubectl";  // the program
  std::string context;              // "": the current one
  std::string kubeconfig;           // "": as kubectl finds it
};

// As kubectl prints them in JSON, a text for each kind that the cluster has.
struct ClusterObjects {
  std::vector<SourceText> texts;
  std::vector<std::string> notes;  // what could not be read, and why
};

// All objects that `import k8s` reads. What kubectl itself has to say goes to standard error.
// FILE_UNREADABLE where it cannot be started, or fails over what no advice can do without: nodes,
// pods and what makes them.
Expected<ClusterObjects> objects_of(const Cluster& cluster);

// The name of the context that kubectl uses; "": nobody says.
std::string current_context(const Cluster& cluster);

// How to reach the Prometheus whose pod is among these objects; "" when none is.
std::string port_forward(const std::vector<SourceText>& objects);

}  // namespace slicewise::tools

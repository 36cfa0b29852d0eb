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

// All objects that `import k8s` reads, as kubectl prints them in JSON, a text for each kind that
// the cluster has. What kubectl itself has to say goes to standard error. FILE_UNREADABLE where it
// cannot be started or fails.
Expected<std::vector<SourceText>> objects_of(const Cluster& cluster);

// How to reach the Prometheus whose pod is among these objects; "" when none is.
std::string port_forward(const std::vector<SourceText>& objects);

}  // namespace slicewise::tools

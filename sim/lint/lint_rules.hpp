#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/cluster_files.hpp"

#include "node_offers.hpp"

// The rules by what they look at. Each adds to `found`, at most once for a place.
namespace slicewise::sim::lint {

struct LintInput {
  const scenarios::ClusterFiles& files;
  const models::Catalogue& catalogue;
  scenarios::PluginVersion version;
  std::vector<NodeOffer> offers;
  Diagnostics& found;

  void tell(Diagnostic problem) const {
    if (!holds(found, problem)) found.push_back(std::move(problem));
  }
  void tell(Code code, const SourceLocation& where, std::string message,
            std::string help = {}) const {
    tell(make_diagnostic(code, where, std::move(message), std::move(help)));
  }
  void tell_as(Severity severity, Code code, const SourceLocation& where, std::string message,
               std::string help = {}) const {
    Diagnostic problem = make_diagnostic(code, where, std::move(message), std::move(help));
    problem.severity = severity;
    tell(std::move(problem));
  }
};

void lint_node_labels(const LintInput& input);
void lint_mig_layouts(const LintInput& input);
void lint_sharing(const LintInput& input);
void lint_pods(const LintInput& input);
void lint_host_ports(const LintInput& input);
void lint_storage(const LintInput& input);
void lint_queues(const LintInput& input);
void lint_pod_memory(const LintInput& input);
void lint_vllm(const LintInput& input);
void lint_annotations(const LintInput& input);
// Of the GPU with the most memory in the catalogue.
std::int64_t largest_gpu_mebibytes(const LintInput& input);
void lint_gpu_rooms(const LintInput& input);
void lint_karpenter(const LintInput& input);
void lint_launches(const LintInput& input);
void lint_gpu_software(const LintInput& input);
void lint_claims(const LintInput& input);

// Whether a required anti-affinity of one of them, or a port of the node that both want, keeps
// their pods to different nodes.
bool are_apart(const scenarios::PodFile& a, const scenarios::PodFile& b);

}  // namespace slicewise::sim::lint

#include "slicewise/sim/lint.hpp"

#include <algorithm>
#include <tuple>

#include "lint_rules.hpp"
#include "node_offers.hpp"

namespace slicewise::sim {

Diagnostics lint_cluster(const scenarios::ClusterFiles& files, const models::Catalogue& catalogue,
                         scenarios::PluginVersion version) {
  Diagnostics found;
  const lint::LintInput input{files, catalogue, version, lint::node_offers(files, catalogue),
                              found};
  lint::lint_sharing(input);
  lint::lint_node_labels(input);
  lint::lint_mig_layouts(input);
  lint::lint_pods(input);
  lint::lint_host_ports(input);
  lint::lint_storage(input);
  lint::lint_queues(input);
  lint::lint_pod_memory(input);
  lint::lint_vllm(input);
  lint::lint_annotations(input);
  lint::lint_gpu_rooms(input);
  lint::lint_karpenter(input);
  lint::lint_launches(input);
  lint::lint_gpu_software(input);
  lint::lint_claims(input);
  std::ranges::stable_sort(found, [](const Diagnostic& a, const Diagnostic& b) {
    const auto place = [](const Diagnostic& d) {
      return std::tie(d.where.file, d.where.line, d.where.column);
    };
    return place(a) < place(b);
  });
  return found;
}

}  // namespace slicewise::sim

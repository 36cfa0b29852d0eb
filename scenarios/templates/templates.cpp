#include <array>

#include "slicewise/scenarios/load.hpp"

#include "embedded/template_files.hpp"

namespace slicewise::scenarios {

std::span<const Template> templates() {
  static const std::array<Template, 5> all = {{
      {"batch-jobs", "training or batch jobs on one node, one per GPU or several",
       template_files::batch_jobs_yaml()},
      {"online-services", "services with latency objectives on shared GPUs",
       template_files::online_services_yaml()},
      {"mig-tenants", "tenants that must not disturb each other, on MIG slices",
       template_files::mig_tenants_yaml()},
      {"notebooks", "people and their notebooks on shared GPUs", template_files::notebooks_yaml()},
      {"mixed-cluster", "services, batch jobs on spot nodes, training; Karpenter and a budget",
       template_files::mixed_cluster_yaml()},
  }};
  return all;
}

}  // namespace slicewise::scenarios

#include "slicewise/scenarios/templates.hpp"

#include <array>
#include <cstddef>

// Of templates/embedded_templates.S.
// NOLINTBEGIN(readability-identifier-naming,cppcoreguidelines-avoid-c-arrays)
#define SLICEWISE_TEMPLATE(name)                         \
  extern const char slicewise_template_##name##_begin[]; \
  extern const char slicewise_template_##name##_end[];
extern "C" {
SLICEWISE_TEMPLATE(batch_jobs)
SLICEWISE_TEMPLATE(online_services)
SLICEWISE_TEMPLATE(mig_tenants)
SLICEWISE_TEMPLATE(notebooks)
SLICEWISE_TEMPLATE(mixed_cluster)
}
#undef SLICEWISE_TEMPLATE
// NOLINTEND(readability-identifier-naming,cppcoreguidelines-avoid-c-arrays)

namespace slicewise::scenarios {
namespace {

std::string_view embedded(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::span<const Template> templates() {
  static const std::array<Template, 5> all = {{
      {"batch-jobs", "training or batch jobs on one node, one per GPU or several",
       embedded(slicewise_template_batch_jobs_begin, slicewise_template_batch_jobs_end)},
      {"online-services", "services with latency objectives on shared GPUs",
       embedded(slicewise_template_online_services_begin, slicewise_template_online_services_end)},
      {"mig-tenants", "tenants that must not disturb each other, on MIG slices",
       embedded(slicewise_template_mig_tenants_begin, slicewise_template_mig_tenants_end)},
      {"notebooks", "people and their notebooks on shared GPUs",
       embedded(slicewise_template_notebooks_begin, slicewise_template_notebooks_end)},
      {"mixed-cluster", "services, batch jobs on spot nodes, training; Karpenter and a budget",
       embedded(slicewise_template_mixed_cluster_begin, slicewise_template_mixed_cluster_end)},
  }};
  return all;
}

}  // namespace slicewise::scenarios

#include "report_sensitivity.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "interrupt.hpp"
#include "one_variant.hpp"

namespace slicewise::tools {
namespace {

// What a page may simulate unasked: a second or so. Counted, not timed: a page is the same on
// every machine.
constexpr double kMostRequests = 3'000'000;
constexpr double kRequestsPerPod = 100;  // that a pod costs as much as
constexpr int kMostReplications = 3;

double requests_of(const sim::VariantResult& result) {
  double requests = kRequestsPerPod * result.pods.submitted;
  for (const sim::WorkloadResult& workload : result.workloads) {
    if (workload.requests) requests += workload.requests->arrived;
  }
  return requests;
}

}  // namespace

void study_sensitivity(const scenarios::Scenario& option, const scenarios::ScenarioSet& set,
                       const sim::VariantResult& result, const ReportCommand& command,
                       ReportInput& input) {
  if (input.html.result.interrupted) return;
  scenarios::ScenarioSet one = set;
  one.variants = {option};
  scenarios::Scenario& base = one.variants.front();
  base.replications = std::clamp(base.replications, 2, kMostReplications);
  sim::SensitivityOptions options;
  options.break_evens = 0;
  options.run.threads = thread_count(command.jobs);
  options.run.interrupted = &catch_interrupt();
  const auto inputs = sim::count_varied_inputs(one, 0, input.catalogue, options);
  if (!inputs) return;
  const double runs = static_cast<double>(2 * *inputs + 1) * base.replications;
  if (!option.sensitivity && runs * requests_of(result) > kMostRequests) {
    input.html.no_sensitivity = fmt::format(
        "Not simulated for this page: to vary {} inputs up and down takes {:.0f} more runs of this "
        "size. `slicewise sensitivity` makes them, and so does this page when the scenario has a "
        "block `sensitivity`.",
        *inputs, runs);
    return;
  }
  auto study = sim::find_sensitivity(one, 0, input.catalogue, options);
  if (study && !study->interrupted && !study->nothing_runs) {
    input.html.sensitivity = std::move(*study);
  }
}

}  // namespace slicewise::tools

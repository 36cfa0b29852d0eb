// libFuzzer target for the small parsers, chosen by the first byte: quantities, times of day and
// week, --set, the pairs of `slicewise validate`, lists of nodes, replay files, chart
// versions, MIG profiles, assertions of policies, schedules.
//   cmake -B build -DSLICEWISE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ && build/tests/fuzz/value_fuzz
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/validation.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/scenarios/quantity.hpp"
#include "slicewise/sim/policies.hpp"

#include "fuzz_target.hpp"

namespace {

using namespace slicewise;  // NOLINT(google-build-using-namespace)

// A value, or a reason that can be shown.
template <class T>
void check(const scenarios::Parsed<T>& parsed) {
  if (!parsed && parsed.error().message.empty()) std::abort();
}
template <class T>
void check(const Expected<T>& read, const SourceText& source) {
  if (read) return;
  if (read.error().empty()) std::abort();
  if (reports::diagnostics_text(read.error(), {source}, {}).empty()) std::abort();
}

// One pool and one workload; `mig` goes into the pool.
SourceText scenario(const std::string& mig = "") {
  return {"fuzz.yaml",
          "{apiVersion: slicewise.dev/v1alpha1, kind: Scenario, metadata: {name: fuzz}, spec: "
          "{nodePools: [{name: gpu, instanceType: p4d.24xlarge" +
              mig +
              ", devicePlugin: {version: v1}}], workloads: [{name: a, kind: Service, measured: "
              "{requestGpuTime: 9ms}, traffic: {shape: Poisson, mean: 1/s}}]}}"};
}

void load(const SourceText& source, const scenarios::Overrides& overrides = {}) {
  check(scenarios::load_scenario(source, overrides), source);
}

void export_for_chart(const std::string& version) {
  static const models::Catalogue catalogue = models::load_catalogue();
  static const auto loaded = scenarios::load_scenario(scenario());
  if (!loaded) std::abort();
  check(reports::helm_values(loaded->variants.front(), catalogue, {version, {}}),
        {"fuzz", version});
}

void judge_assertion(const std::string& text) {
  std::string quoted = "policies=[{name: p, assert: '";
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  const scenarios::Overrides set{{quoted + "'}]"}};
  const auto loaded = scenarios::load_scenario(scenario(), set);
  check(loaded, scenario());
  if (!loaded) return;
  const auto& policies = loaded->variants.front().policies;
  if (sim::judge_policies(policies, sim::VariantResult{}).size() != 1) std::abort();
}

void parse(int parser, const std::string& text) {
  const SourceText source{"fuzz", text};
  switch (parser) {
    case 0:
      return check(scenarios::parse_bytes(text));
    case 1:
      return check(scenarios::parse_cpu(text));
    case 2:
      return check(scenarios::parse_duration(text));
    case 3:
      return check(scenarios::parse_seconds(text));
    case 4:
      return check(scenarios::parse_percent(text));
    case 5:
      return check(scenarios::parse_rate(text));
    case 6:
      return check(scenarios::parse_clock_time(text));
    case 7:
      return check(scenarios::parse_utc_offset(text));
    case 8:
      return check(scenarios::parse_week_time(text));
    case 9:
      return load(scenario(), {{text}});
    case 10:
      return check(models::read_pairs(source), source);
    case 11:
      return check(scenarios::read_node_list(source), source);
    case 12:
      return check(scenarios::read_replay_file(source), source);
    case 13:
      return export_for_chart(text);
    case 14:  // names of MIG profiles
      return load(
          scenario(", mig: [{devices: all, mig-enabled: true, mig-devices: {" + text + "}}]"));
    case 15:
      return judge_assertion(text);
    default:
      return check(scenarios::parse_cron(text));
  }
}

}  // namespace

const fuzz::Target value_fuzz("value_fuzz", [](const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // Letters, so that seeds are files that can be read: 'a' is the first parser.
  const int parser = data[0] - 'a';
  if (parser < 0 || parser > 16) return -1;
  parse(parser, {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
});

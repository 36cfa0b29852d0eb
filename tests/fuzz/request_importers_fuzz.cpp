// libFuzzer target: any bytes taken for a log of requests must end in requests in order of time or
// in diagnostics, and what is written of them must be read back. The first byte chooses the kind.
//   cmake -B build -DSLICEWISE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ &&
//   build/tests/fuzz/request_importers_fuzz
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/load.hpp"

#include "fuzz_target.hpp"

using slicewise::scenarios::ImportKind;

namespace {

bool is_request_trace(const std::string& trace) {
  static const slicewise::SourceText scenario{
      "fuzz.yaml",
      "{apiVersion: slicewise.dev/v1alpha1, kind: Scenario, metadata: {name: fuzz}, spec: "
      "{nodePools: [{name: gpu, instanceType: g4dn.xlarge}], workloads: [{name: a, kind: Service, "
      "measured: {requestGpuTime: 9ms}, traffic: {shape: Trace, trace: {file: trace}}}]}}"};
  const auto loaded = slicewise::scenarios::load_scenario(
      scenario, {}, [&](const std::string& path) -> slicewise::Expected<slicewise::SourceText> {
        return slicewise::SourceText{path, trace};
      });
  if (!loaded && loaded.error().empty()) std::abort();
  return loaded.has_value();
}

}  // namespace

const fuzz::Target request_importers_fuzz("request_importers_fuzz", [](const std::uint8_t* data,
                                                                       std::size_t size) {
  constexpr ImportKind kKinds[] = {ImportKind::Azure, ImportKind::Mooncake, ImportKind::BurstGpt};
  if (size == 0) return 0;
  const std::size_t choice = data[0] % 4;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (choice == 3) {
    is_request_trace("SWREQ001" + text);
    return 0;
  }
  slicewise::scenarios::ImportOptions options;
  options.skip_bad = (data[0] & 4U) != 0;
  const slicewise::SourceText file{"log", text};
  const auto result = slicewise::scenarios::import_log(kKinds[choice], {&file, 1}, options);
  if (!result) return result.error().empty() ? std::abort(), 0 : 0;
  if (!is_request_trace(slicewise::scenarios::trace_csv(*result))) std::abort();
  if (!is_request_trace(slicewise::scenarios::trace_binary(*result))) std::abort();
  if (slicewise::scenarios::scenario_of(*result, kKinds[choice], options).yaml.empty())
    std::abort();
  return 0;
});

// libFuzzer target: any bytes of a request trace must end in requests or in diagnostics.
//   cmake -B build -DSLICEWISE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ &&
//   build/tests/fuzz/request_trace_fuzz
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/scenarios/load.hpp"

#include "fuzz_target.hpp"

const fuzz::Target request_trace_fuzz("request_trace_fuzz", [](const std::uint8_t* data,
                                                               std::size_t size) {
  static const slicewise::SourceText scenario{
      "fuzz.yaml",
      "{apiVersion: slicewise.dev/v1alpha1, kind: Scenario, metadata: {name: fuzz}, spec: "
      "{nodePools: [{name: gpu, instanceType: g4dn.xlarge}], workloads: [{name: a, kind: Service, "
      "measured: {requestGpuTime: 9ms}, traffic: {shape: Trace, trace: {file: trace.csv}}}]}}"};
  const slicewise::SourceText trace{"trace.csv", {reinterpret_cast<const char*>(data), size}};
  const auto loaded = slicewise::scenarios::load_scenario(
      scenario, {},
      [&](const std::string&) -> slicewise::Expected<slicewise::SourceText> { return trace; });
  if (loaded) return 0;
  if (loaded.error().empty()) std::abort();
  const std::string text =
      slicewise::reports::diagnostics_text(loaded.error(), {scenario, trace}, {});
  return text.empty() ? std::abort(), 0 : 0;
});

// libFuzzer target: any bytes taken for rates of clients, ServeGen's or ours, or for its lengths of
// requests must end in windows or in diagnostics. The first byte chooses.
//   cmake -B build -DSLICEWISE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ &&
//   build/tests/fuzz/servegen_fuzz
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/load.hpp"

#include "fuzz_target.hpp"

using slicewise::SourceText;

namespace {

bool are_rates(const std::string& rates) {
  static const SourceText scenario{
      "fuzz.yaml",
      "{apiVersion: slicewise.dev/v1alpha1, kind: Scenario, metadata: {name: fuzz}, spec: "
      "{nodePools: [{name: gpu, instanceType: g4dn.xlarge}], workloads: [{name: a, kind: Service, "
      "measured: {requestGpuTime: 9ms}, traffic: {shape: Clients, clientRates: {file: c}}}]}}"};
  const auto loaded = slicewise::scenarios::load_scenario(
      scenario, {}, [&](const std::string& path) -> slicewise::Expected<SourceText> {
        return SourceText{path, rates};
      });
  if (!loaded && loaded.error().empty()) std::abort();
  return loaded.has_value();
}

bool asks(const slicewise::scenarios::Imported& result) {
  const auto& rates = std::get<slicewise::scenarios::ClientRates>(result.content);
  for (const auto& window : rates.windows) {
    if (window.rate.per_second > 0) return true;
  }
  return false;
}

}  // namespace

const fuzz::Target servegen_fuzz("servegen_fuzz", [](const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 3 == 0) {
    are_rates(text);
    return 0;
  }
  const bool lengths = data[0] % 3 == 1;
  std::vector<SourceText> files = {{"c/m/chunk-1-trace.csv", lengths ? "0,1,1,Gamma,1,1\n" : text}};
  if (lengths) files.push_back({"c/m/chunk-1-dataset.json", text});
  slicewise::scenarios::ImportOptions options;
  options.skip_bad = (data[0] & 4U) != 0;
  constexpr auto kKind = slicewise::scenarios::ImportKind::ServeGen;
  const auto result = slicewise::scenarios::import_log(kKind, files, options);
  if (!result) return result.error().empty() ? std::abort(), 0 : 0;
  if (asks(*result) && !are_rates(slicewise::scenarios::trace_csv(*result))) std::abort();
  if (slicewise::scenarios::scenario_of(*result, kKind, options).yaml.empty()) std::abort();
  return 0;
});

// libFuzzer target: any bytes must end in a trace or a scenario that can be read, or in
// diagnostics, whether they are given as pods, as answers of Prometheus or as manifests.
//   cmake -B build -DSLICEWISE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ &&
//   build/tests/fuzz/cluster_import_fuzz
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/scenarios/import.hpp"

#include "fuzz_target.hpp"

namespace {

using slicewise::scenarios::Imported;
using slicewise::scenarios::ImportKind;

void import(ImportKind kind, const slicewise::SourceText& source) {
  slicewise::scenarios::ImportOptions options;
  options.skip_bad = true;
  const auto imported = slicewise::scenarios::import_log(kind, {&source, 1}, options);
  if (imported) {
    if (slicewise::scenarios::scenario_of(*imported, kind, options).yaml.empty()) std::abort();
    const std::string csv = slicewise::scenarios::trace_csv(*imported);
    if (!csv.empty() && !slicewise::scenarios::read_job_trace({"trace.csv", csv})) std::abort();
    return;
  }
  if (imported.error().empty()) std::abort();
  if (slicewise::reports::diagnostics_text(imported.error(), {source}, {}).empty()) std::abort();
}

}  // namespace

const fuzz::Target cluster_import_fuzz("cluster_import_fuzz", [](const std::uint8_t* data,
                                                                 std::size_t size) {
  const slicewise::SourceText source{"fuzz", {reinterpret_cast<const char*>(data), size}};
  for (const ImportKind kind : {ImportKind::Pods, ImportKind::Prometheus, ImportKind::K8s}) {
    import(kind, source);
  }
  return 0;
});

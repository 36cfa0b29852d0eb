// libFuzzer target: any bytes must end in what a log is imported to or in diagnostics. The first
// byte chooses the kind of log, the second the options.
//   cmake -B build -DSLICEWISE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ &&
//   build/tests/fuzz/job_importers_fuzz
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/scenarios/import.hpp"

#include "fuzz_target.hpp"

namespace {

using slicewise::scenarios::ImportKind;

struct Importer {
  ImportKind kind;
  std::string columns;
};

const std::array<Importer, 12> kChoices = {{{ImportKind::Openb, ""},
                                            {ImportKind::Jobs, ""},
                                            {ImportKind::Jobs, "philly"},
                                            {ImportKind::Jobs, "muri"},
                                            {ImportKind::Jobs, "thetagpu"},
                                            {ImportKind::Jobs, "pai"},
                                            {ImportKind::Jobs, "acme"},
                                            {ImportKind::Jobs, "dlrm"},
                                            {ImportKind::Jobs, "gavel"},
                                            {ImportKind::Jobs, "arrival=a:ms,run=b,gpus=c"},
                                            {ImportKind::Swf, ""},
                                            {ImportKind::Sacct, ""}}};

}  // namespace

const fuzz::Target job_importers_fuzz("job_importers_fuzz", [](const std::uint8_t* data,
                                                               std::size_t size) {
  using namespace slicewise;  // NOLINT(google-build-using-namespace)
  if (size < 2) return 0;
  const Importer& choice = kChoices[data[0] % kChoices.size()];
  scenarios::ImportOptions options;
  options.columns = choice.columns;
  options.skip_bad = (data[1] & 1U) != 0;
  if ((data[1] & 2U) != 0) options.from = seconds(1);
  if ((data[1] & 4U) != 0) options.replicas = 4;
  if ((data[1] & 8U) != 0) options.partitions = "1=2";
  const SourceText source{"fuzz", {reinterpret_cast<const char*>(data) + 2, size - 2}};
  const auto imported = scenarios::import_log(choice.kind, {&source, 1}, options);
  if (!imported) {
    if (imported.error().empty()) std::abort();
    return reports::diagnostics_text(imported.error(), {source}, {}).empty() ? std::abort(), 0 : 0;
  }
  const std::string csv = scenarios::trace_csv(*imported);
  const auto again = scenarios::read_job_trace({"csv", csv});
  if (!again || scenarios::job_trace_csv(*again) != csv) std::abort();
  return 0;
});

// libFuzzer target: any bytes must end in a trace of jobs or in diagnostics, and a trace must come
// back the same from both of its forms.
//   cmake -B build -DSLICEWISE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ &&
//   build/tests/fuzz/job_trace_fuzz
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/scenarios/job_trace.hpp"

#include "fuzz_target.hpp"

const fuzz::Target job_trace_fuzz("job_trace_fuzz", [](const std::uint8_t* data, std::size_t size) {
  using namespace slicewise;  // NOLINT(google-build-using-namespace)
  const SourceText source{"fuzz", {reinterpret_cast<const char*>(data), size}};
  const auto trace = scenarios::read_job_trace(source);
  if (!trace) {
    if (trace.error().empty()) std::abort();
    return reports::diagnostics_text(trace.error(), {source}, {}).empty() ? std::abort(), 0 : 0;
  }
  const std::string csv = scenarios::job_trace_csv(*trace);
  const auto from_csv = scenarios::read_job_trace({"csv", csv});
  const auto from_binary = scenarios::read_job_trace({"binary", job_trace_binary(*trace)});
  if (!from_csv || !from_binary) std::abort();
  if (scenarios::job_trace_csv(*from_csv) != csv) std::abort();
  if (scenarios::job_trace_csv(*from_binary) != csv) std::abort();
  return 0;
});

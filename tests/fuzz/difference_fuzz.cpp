// libFuzzer target: any bytes in place of a stored document must end in a difference or in
// diagnostics, and in an explanation or in diagnostics. What can be read is printed in every
// format.
//   cmake -B build -DSLICEWISE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ &&
//   build/tests/fuzz/difference_fuzz
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/reports/difference.hpp"
#include "slicewise/reports/result_report.hpp"

#include "fuzz_target.hpp"

const fuzz::Target difference_fuzz("difference_fuzz", [](const std::uint8_t* data,
                                                         std::size_t size) {
  namespace reports = slicewise::reports;
  // The bytes up to the first NUL are the old document, the rest the new one.
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = bytes.find('\0');
  const slicewise::SourceText older{"old", bytes.substr(0, end)};
  const slicewise::SourceText newer{"new",
                                    end == std::string::npos ? older.text : bytes.substr(end + 1)};
  const auto explained = reports::explain_result(older, "", {});
  if (!explained && explained.error().empty()) std::abort();
  const auto difference = reports::compare_documents(older, newer);
  if (!difference) {
    if (difference.error().empty()) std::abort();
    const auto text = reports::diagnostics_text(difference.error(), {older, newer}, {});
    return text.empty() ? std::abort(), 0 : 0;
  }
  if (reports::difference_markdown(*difference).size() > 60'000) std::abort();
  const auto conditions = reports::parse_fail_on("cost:+10%,p99:+1%,slo.newlyFailing,pods.oom");
  const auto failed = reports::failed_conditions(*difference, *conditions);
  const bool printed = !reports::difference_table(*difference, {}, true).empty() &&
                       !reports::difference_json(*difference).empty();
  return printed || failed.empty() ? 0 : 1;
});

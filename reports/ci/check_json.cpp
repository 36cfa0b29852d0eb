#include <algorithm>
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "slicewise/reports/ci.hpp"
#include "slicewise/sim/result_record.hpp"
#include "slicewise/version.hpp"

#include "../document/document_text.hpp"
#include "../document/record_json.hpp"

namespace slicewise::sim {

namespace {

using reports::CheckReport;

bool is_placed(const Diagnostic& d) { return d.where.line > 0; }

std::string_view version_of_check(const CheckReport&) { return kVersion; }

template <Severity Of>
std::int64_t count_of(const CheckReport& report) {
  return std::ranges::count(report.findings, Of, &Diagnostic::severity);
}

const Record& located_finding() {
  using D = Diagnostic;
  using W = SourceLocation;
  static const Record declared{
      "one finding",
      {field<&D::code>("code", "stable code; `slicewise explain CODE` describes it"),
       field<&D::severity>("severity", "how bad it is"),
       field<&D::where, &W::file>("file",
                                  "as it was named on the command line; - is standard input")
           .optional(),
       field<&D::where, &W::line>("line", "from 1; absent when it is about no place")
           .when<&is_placed>(),
       field<&D::where, &W::column>("column", "from 1, in characters").when<&is_placed>(),
       field<&D::where, &W::length>("length", "characters that are meant").when<&is_placed>(),
       field<&D::message>("message", "what is wrong, or what the cluster will say"),
       field<&D::help>("help", "what to do").optional()}};
  return declared;
}

}  // namespace

template <>
const Record& record_of<CheckReport>() {
  constexpr std::string_view kOfSeverity = "number of findings of this severity";
  static const Record declared{
      "What `slicewise check -o json` prints. Keys are added, never renamed.",
      {constant("apiVersion", reports::kCheckApiVersion), constant("kind", "Check"),
       field<&version_of_check>("version", "version of slicewise"),
       field<&CheckReport::files>("files", "what was read, directories resolved").each("file"),
       field<&count_of<Severity::Error>>("errors", kOfSeverity),
       field<&count_of<Severity::Warning>>("warnings", kOfSeverity),
       field<&count_of<Severity::Note>>("notes", kOfSeverity),
       field<&CheckReport::findings>("findings", "in the order of files and lines")
           .as(&located_finding)}};
  return declared;
}

}  // namespace slicewise::sim

namespace slicewise::reports {

std::string check_json(const CheckReport& report) { return json_text(described_json(report)); }

std::string check_schema_json() {
  return json_text(document_schema(sim::record_of<CheckReport>(), "slicewise check"));
}

}  // namespace slicewise::reports

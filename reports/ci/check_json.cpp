#include <algorithm>

#include <nlohmann/json.hpp>

#include "slicewise/reports/ci.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/version.hpp"

#include "../document/document_values.hpp"
#include "../document/documents.hpp"
#include "../document/json_schema.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

json located_finding(const Diagnostic& d) {
  const bool placed = d.where.line > 0;
  return document::present({{"code", info(d.code).name},
                            {"severity", severity_name(d.severity)},
                            {"file", document::text(d.where.file)},
                            {"line", placed ? json(d.where.line) : json(nullptr)},
                            {"column", placed ? json(d.where.column) : json(nullptr)},
                            {"length", placed ? json(d.where.length) : json(nullptr)},
                            {"message", d.message},
                            {"help", document::text(d.help)}});
}

json located_finding_schema() {
  using json_schema::kOptional;
  using json_schema::one_of;
  using json_schema::text;
  using json_schema::whole;
  return json_schema::object(
      {{"code", text("stable code; `slicewise explain CODE` describes it")},
       {"severity", one_of({"error", "warning", "note"}, "how bad it is")},
       {"file", text("as it was named on the command line; - is standard input"), kOptional},
       {"line", whole("from 1; absent when it is about no place"), kOptional},
       {"column", whole("from 1, in characters"), kOptional},
       {"length", whole("characters that are meant"), kOptional},
       {"message", text("what is wrong, or what the cluster will say")},
       {"help", text("what to do"), kOptional}},
      "one finding");
}

}  // namespace

std::string check_json(const CheckReport& report) {
  const auto count = [&](Severity severity) {
    return std::ranges::count(report.findings, severity, &Diagnostic::severity);
  };
  return json_text({{"apiVersion", kCheckApiVersion},
                    {"kind", "Check"},
                    {"version", kVersion},
                    {"files", report.files},
                    {"errors", count(Severity::Error)},
                    {"warnings", count(Severity::Warning)},
                    {"notes", count(Severity::Note)},
                    {"findings", document::list(report.findings, located_finding)}});
}

std::string check_schema_json() {
  using json_schema::list_of;
  using json_schema::text;
  using json_schema::whole;
  json schema = json_schema::object(
      {{"apiVersion", {{"const", kCheckApiVersion}}},
       {"kind", {{"const", "Check"}}},
       {"version", text("version of slicewise")},
       {"files", list_of(text("file"), "what was read, directories resolved")},
       {"errors", whole("number of findings of this severity")},
       {"warnings", whole("number of findings of this severity")},
       {"notes", whole("number of findings of this severity")},
       {"findings", list_of(located_finding_schema(), "in the order of files and lines")}},
      "What `slicewise check -o json` prints. Keys are added, never renamed.");
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "slicewise check";
  return json_text(schema);
}

}  // namespace slicewise::reports

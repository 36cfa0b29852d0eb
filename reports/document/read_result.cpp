#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/result_report.hpp"

#include "result_document.hpp"
#include "stored_fields.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

tl::unexpected<Diagnostics> result_problem(const SourceText& source, Code code, std::string message,
                                           std::string help) {
  return tl::unexpected(Diagnostics{
      make_diagnostic(code, {source.name, 1, 1, 1}, std::move(message), std::move(help))});
}

// Where the scenario lies is no figure: findings name the file as it was called then.
json without_places(json variants) {
  if (!variants.is_array()) return variants;
  for (json& variant : variants) {
    if (!variant.is_object() || !variant.contains("findings")) continue;
    for (json& finding : variant["findings"]) {
      if (finding.is_object()) finding.erase("file");
    }
  }
  return variants;
}

StoredResult stored_result(const json& document, StoredFields& fields) {
  StoredResult result;
  const json& about = fields.object(document, "metadata");
  result.stamp = fields.stamp(about);
  result.fidelity = fields.text(about, "fidelity", false);
  if (!result.fidelity.empty() && result.fidelity != "exact" && result.fidelity != "auto") {
    fields.set_odd("fidelity");
  }
  if (result.stamp.replications == 0) fields.set_odd("replications");
  result.interrupted = fields.truth(about, "interrupted");
  for (const json& variant : fields.list(document, "variants")) {
    result.variants.push_back(fields.text(variant, "name"));
  }
  return result;
}

}  // namespace

bool looks_like_result(const SourceText& source) {
  const std::size_t first = source.text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && source.text[first] == '{' &&
         source.text.find("\"slicewise.dev/result.") != std::string::npos;
}

Expected<StoredResult> read_result(const SourceText& source) {
  const json document = json::parse(source.text, nullptr, false);
  if (document.is_discarded() || !document.is_object()) {
    return result_problem(source, Code::YamlSyntax,
                          "this is not the JSON that `slicewise run` writes", "");
  }
  StoredFields fields;
  const std::string version = fields.text(document, "apiVersion");
  if (version != kResultApiVersion) {
    return result_problem(source, Code::ApiVersionUnknown,
                          fmt::format("\"{}\" is not read here", version),
                          fmt::format("run it again: this slicewise reads {}", kResultApiVersion));
  }
  StoredResult result = stored_result(document, fields);
  if (!fields.odd().empty()) {
    return result_problem(source, Code::FieldMissing,
                          fmt::format("\"{}\" is absent or not what it should be", fields.odd()),
                          "run it again; `slicewise schema result` prints its form");
  }
  return result;
}

bool has_figures_of(const SourceText& document, const sim::Result& result) {
  const json stored = json::parse(document.text, nullptr, false);
  return stored.is_object() && stored.contains("variants") &&
         without_places(stored["variants"]) == without_places(result_document(result)["variants"]);
}

}  // namespace slicewise::reports

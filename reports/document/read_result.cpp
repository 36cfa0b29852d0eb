#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/choice.hpp"
#include "slicewise/lookup.hpp"
#include "slicewise/reports/result_report.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/bill_groups.hpp"
#include "slicewise/sim/result_record.hpp"

#include "record_json.hpp"
#include "stored_document.hpp"
#include "stored_fields.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using Split = scenarios::CostSplit;

tl::unexpected<Diagnostics> result_problem(const std::string& file, Code code, std::string message,
                                           std::string help) {
  return failure(code, {file, 1, 1, 1}, std::move(message), std::move(help));
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

// Those of before said seed and replications once for all of them.
const sim::Record& what_makes_a_variant() {
  static const sim::Record& whole = sim::record_of<sim::VariantResult>();
  static const sim::Record declared{
      whole.meaning,
      {whole.like("name"), whole.like("seed").optional(), whole.like("replications").optional()}};
  return declared;
}

// What stored variants were not asked to say is not held against them.
json without_added(json made, const json& stored) {
  if (!stored.is_array() || stored.size() != made.size()) return made;
  for (std::size_t v = 0; v < made.size(); ++v) {
    for (const char* key : {"seed", "replications"}) {
      if (stored[v].is_object() && !stored[v].contains(key)) made[v].erase(key);
    }
  }
  return made;
}

// Only what it takes to make it again: figures are compared as they are written.
sim::Result stored_result(const json& document, StoredFields& fields) {
  sim::Result read;
  const json metadata = document.value("metadata", json::object());
  fields.read(sim::record_of<sim::Result>().find("metadata")->inner(), metadata, &read);
  if (!read.fidelity.empty() &&
      !contains(scenarios::kFidelities, read.fidelity, &Choice<scenarios::Fidelity>::word)) {
    fields.add_odd("fidelity");
  }
  if (read.stamp.replications == 0) fields.add_odd("replications");
  if (!read.cost_split.empty() &&
      !contains(scenarios::kCostSplits, read.cost_split, &Choice<Split>::word)) {
    fields.add_odd("split");
  }
  if (!read.group_by.empty() && !sim::is_grouping(read.group_by)) fields.add_odd("groupBy");
  const json variants = document.value("variants", json());
  if (!variants.is_array()) fields.add_odd("variants");
  for (const json& variant : variants) {
    sim::VariantResult& made = read.variants.emplace_back();
    made.seed = read.stamp.seed;
    made.replications = read.stamp.replications;
    fields.read(what_makes_a_variant(), variant, &made);
    if (made.replications == 0) fields.add_odd("replications");
  }
  return read;
}

Expected<sim::Result> checked_result(const json& document, const std::string& file) {
  if (!document.is_object()) {
    return result_problem(file, Code::YamlSyntax,
                          "this is not the JSON that `slicewise run` writes", "");
  }
  StoredFields fields;
  const json stored_version = document.value("apiVersion", json());
  const std::string version =
      stored_version.is_string() ? stored_version.get<std::string>() : std::string();
  if (version != sim::kResultApiVersion) {
    return result_problem(
        file, Code::ApiVersionUnknown, fmt::format("\"{}\" is not read here", version),
        fmt::format("run it again: this slicewise reads {}", sim::kResultApiVersion));
  }
  sim::Result result = stored_result(document, fields);
  if (!fields.odd().empty()) {
    return result_problem(file, fields.odd().front().code, fields.odd().front().message,
                          "run it again; `slicewise schema result` prints its form");
  }
  return result;
}

}  // namespace

bool looks_like_result(const SourceText& source) {
  return looks_like(source, "slicewise.dev/result.");
}

// A text that is not JSON is a discarded value, no object.
Expected<sim::Result> read_result(const SourceText& source) {
  json document = json::parse(source.text, nullptr, false);
  keep_names_on_one_line(document);
  return checked_result(document, source.name);
}

Expected<sim::Result> read_result(const StoredDocument& document) {
  return checked_result(document.root(), document.name());
}

bool has_figures_of(const SourceText& document, const sim::Result& result) {
  const json stored = json::parse(document.text, nullptr, false);
  if (!stored.is_object() || !stored.contains("variants")) return false;
  const json& variants = stored["variants"];
  return without_places(variants) ==
         without_places(without_added(described_json(result)["variants"], variants));
}

}  // namespace slicewise::reports

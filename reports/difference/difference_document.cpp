#include <string>

#include <nlohmann/json.hpp>

#include "slicewise/reports/difference.hpp"
#include "slicewise/version.hpp"

#include "../document/document_text.hpp"
#include "../document/document_values.hpp"
#include "../document/documents.hpp"
#include "../document/json_schema.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

constexpr std::string_view kDifferenceApiVersion = "slicewise.dev/difference.v1alpha1";

json stored_side(const std::optional<StoredFigure>& figure) {
  if (!figure) return nullptr;
  return document::present({{"value", document::number(figure->value)},
                            {"ci95", document::number(figure->ci95)},
                            {"limit", document::number(figure->limit)},
                            {"pass", figure->pass ? json(*figure->pass) : json(nullptr)}});
}

json figure_difference(const FigureDifference& figure) {
  const StoredFigure& shown = figure.shown();
  return document::present(
      {{"workload", document::text(shown.workload)},
       {"name", shown.name},
       {"unit", shown.unit},
       {"old", stored_side(figure.before)},
       {"new", stored_side(figure.after)},
       {"changeRatio", document::number(figure.ratio())},
       {"significant", figure.differs() ? json(figure.is_significant()) : json(nullptr)},
       {"newlyFails", figure.newly_fails() ? json(true) : json(nullptr)},
       {"newlyPasses", figure.newly_passes() ? json(true) : json(nullptr)}});
}

json setting_difference(const SettingDifference& setting) {
  return document::present({{"name", setting.name},
                            {"old", document::text(setting.before)},
                            {"new", document::text(setting.after)}});
}

json new_reasons(const ItemDifference& item) {
  json briefs = json::array();
  for (const auto& reason : item.new_reasons()) briefs.push_back(reason.brief);
  return briefs.empty() ? json(nullptr) : briefs;
}

json item_difference(const ItemDifference& item) {
  using Side = ItemDifference::Side;
  return document::present(
      {{"name", item.name},
       {"only",
        item.side == Side::Both ? json(nullptr) : json(item.side == Side::OldOnly ? "old" : "new")},
       {"figures", document::list(item.figures, figure_difference)},
       {"settings", document::list(item.settings, setting_difference)},
       {"newReasons", new_reasons(item)}});
}

json difference_value(const DocumentDifference& difference) {
  return document::present(
      {{"apiVersion", kDifferenceApiVersion},
       {"kind", "Difference"},
       {"metadata",
        {{"kind", difference.kind},
         {"scenario", difference.scenario},
         {"old", difference.old_name},
         {"new", difference.new_name},
         {"version", kVersion}}},
       {"differs", difference.differs()},
       {"newlyFailing", difference.newly_failing()},
       {"stands", difference.stands() ? json(*difference.stands()) : json(nullptr)},
       {"failedConditions", difference.failed.empty() ? json(nullptr) : json(difference.failed)},
       {"inputs", document::list(difference.metadata, setting_difference)},
       {"items", document::list(difference.items, item_difference)}});
}

json side_schema(std::string_view description) {
  const json any = {{"type", "number"}};
  return json_schema::object(
      {{"value", any, json_schema::kOptional},
       {"ci95", any, json_schema::kOptional},
       {"limit", any, json_schema::kOptional},
       {"pass", json_schema::truth("the objective is met"), json_schema::kOptional}},
      description);
}

json settings_schema(std::string_view description) {
  return json_schema::list_of(
      json_schema::object(
          {{"name", json_schema::text("which setting")},
           {"old", json_schema::text("absent: it was not there"), json_schema::kOptional},
           {"new", json_schema::text("absent: it is gone"), json_schema::kOptional}},
          "a setting that changed"),
      description);
}

json figures_schema() {
  const json yes = {{"const", true}};
  return json_schema::list_of(
      json_schema::object(
          {{"workload", json_schema::text("absent: of the whole item"), json_schema::kOptional},
           {"name", json_schema::text("as in the documents")},
           {"unit", json_schema::text("as in the documents; usd for money")},
           {"old", side_schema("absent: not in OLD"), json_schema::kOptional},
           {"new", side_schema("absent: not in NEW"), json_schema::kOptional},
           {"changeRatio", {{"type", "number"}}, json_schema::kOptional},
           {"significant", json_schema::truth("beyond the intervals of both sides"),
            json_schema::kOptional},
           {"newlyFails", yes, json_schema::kOptional},
           {"newlyPasses", yes, json_schema::kOptional}},
          "a figure on both sides"),
      "costs, objectives, pods");
}

}  // namespace

std::string difference_json(const DocumentDifference& difference) {
  return json_text(difference_value(difference));
}

std::string difference_yaml(const DocumentDifference& difference) {
  return yaml_text(difference_value(difference));
}

std::string difference_schema_json() {
  const json metadata =
      json_schema::object({{"kind", json_schema::text("of both documents")},
                           {"scenario", json_schema::text("of the new document")},
                           {"old", json_schema::text("file")},
                           {"new", json_schema::text("file")},
                           {"version", json_schema::text("version of slicewise")}},
                          "what was compared");
  const json item =
      json_schema::object({{"name", json_schema::text("variant or option")},
                           {"only", json_schema::one_of({"old", "new"}, "absent: on both sides"),
                            json_schema::kOptional},
                           {"figures", figures_schema()},
                           {"settings", settings_schema("configuration that changed")},
                           {"newReasons",
                            json_schema::list_of(json_schema::text("in a few words"),
                                                 "why it does not stand, where OLD had no such "
                                                 "reason"),
                            json_schema::kOptional}},
                          "a variant of a result, an option of a comparison");
  json schema = json_schema::object(
      {{"apiVersion", {{"const", kDifferenceApiVersion}}},
       {"kind", {{"const", "Difference"}}},
       {"metadata", metadata},
       {"differs", json_schema::truth("anything but the version of slicewise")},
       {"newlyFailing", json_schema::whole("objectives")},
       {"stands",
        json_schema::truth("NEW does what it should: every variant, any option of a comparison"),
        json_schema::kOptional},
       {"failedConditions",
        json_schema::list_of(json_schema::text("condition and why"), "of --fail-on"),
        json_schema::kOptional},
       {"inputs", settings_schema("seed, prices, scenario ...: what changed")},
       {"items", json_schema::list_of(item, "in the order of the new document")}},
      "What `slicewise diff -o json` prints. Keys are added, never renamed.");
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "slicewise diff";
  return json_text(schema);
}

}  // namespace slicewise::reports

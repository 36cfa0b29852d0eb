#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "../document/record_json.hpp"
#include "../document/stored_fields.hpp"
#include "../screens/result_verdict.hpp"
#include "../text/text_table.hpp"
#include "document_facts.hpp"

namespace slicewise::reports {
namespace {

struct DocumentKind {
  std::string_view kind;
  std::string_view format;  // apiVersion up to the number
  int newest;               // version that is read; the one before it is, too
  std::vector<ItemFacts> (*items)(StoredDocument& document);
  const char* subject = "/metadata/scenario";
};

constexpr std::array kDocumentKinds = {
    DocumentKind{"Result", "slicewise.dev/result.v1alpha", 1, result_items},
    DocumentKind{"Comparison", "slicewise.dev/comparison.v1alpha", 1, comparison_items},
    DocumentKind{"MaxLoad", "slicewise.dev/max-load.v1alpha", 1, max_load_items},
    DocumentKind{"Plan", "slicewise.dev/plan.v1alpha", 1, plan_items},
    DocumentKind{"Replay", "slicewise.dev/replay.v1alpha", 1, replay_items, "/metadata/trace"},
    DocumentKind{"Inflation", "slicewise.dev/replay.v1alpha", 1, inflation_items,
                 "/metadata/trace"},
};

const DocumentKind* find_kind(StoredDocument& document) {
  const std::string kind = document.required_text("/kind");
  if (kind.empty()) return nullptr;
  const auto* const found = std::ranges::find(kDocumentKinds, kind, &DocumentKind::kind);
  if (found != kDocumentKinds.end()) return found;
  document.report(
      Code::ApiVersionUnknown, "/kind", fmt::format("diff reads no \"{}\"", kind),
      "it reads what `run`, `compare`, `max-load`, `plan` and `replay` write with -o json");
  return nullptr;
}

void check_version(const DocumentKind& kind, StoredDocument& document) {
  const std::string version = document.required_text("/apiVersion");
  if (version.empty()) return;
  int number = -1;
  if (version.starts_with(kind.format)) {
    const char* const end = version.data() + version.size();
    const auto read = std::from_chars(version.data() + kind.format.size(), end, number);
    if (read.ec != std::errc{} || read.ptr != end) number = -1;
  }
  if (number >= std::max(1, kind.newest - 1) && number <= kind.newest) return;
  const std::string writer = document.setting("/metadata/version").value_or("of another version");
  const std::string known = fmt::format("this one reads up to {}{}", kind.format, kind.newest);
  if (number > kind.newest) {
    document.report(Code::ApiVersionUnknown, "/apiVersion",
                    fmt::format("\"{}\" was written by a newer slicewise ({})", version, writer),
                    known + ": update it, or write the document anew");
  } else {
    document.report(Code::ApiVersionUnknown, "/apiVersion",
                    fmt::format("\"{}\" is no format of a {}", version, kind.kind), known);
  }
}

// What produced the document: everything of the metadata that is a single value. Where the scenario
// lay says nothing: its hash tells whether it is another one.
NamedSettings metadata_settings(const StoredDocument& document) {
  NamedSettings settings;
  const auto& root = document.root();
  if (!root.is_object() || !root.contains("metadata") || !root["metadata"].is_object()) return {};
  for (const auto& [key, value] : root["metadata"].items()) {
    if (value.is_structured() || key.find_first_of("/~") != std::string::npos) continue;
    if (key == "scenarioFile") continue;
    settings.emplace_back(key, document.setting("/metadata/" + key).value_or(""));
  }
  return settings;
}

// "workloads.asr.replicas=4" as a setting.
NamedSettings stored_inputs(StoredDocument& document) {
  NamedSettings inputs;
  const std::size_t count = entries_at(document, "/metadata/inputs");
  for (std::size_t n = 0; n < count; ++n) {
    const std::string input = document.required_text(fmt::format("/metadata/inputs/{}", n));
    const std::size_t equals = input.find('=');
    if (equals == std::string::npos) continue;
    inputs.emplace_back(input.substr(0, equals), input.substr(equals + 1));
  }
  return inputs;
}

}  // namespace

Expected<DocumentFacts> document_facts(const SourceText& source) {
  Expected<StoredDocument> document = StoredDocument::read(source);
  if (!document) return tl::unexpected(std::move(document.error()));
  const DocumentKind* kind = find_kind(*document);
  if (kind == nullptr) return tl::unexpected(document->problems());
  check_version(*kind, *document);
  if (!document->problems().empty()) return tl::unexpected(document->problems());
  DocumentFacts facts;
  facts.kind = kind->kind;
  facts.scenario = document->required_text(kind->subject);
  facts.metadata = metadata_settings(*document);
  facts.inputs = stored_inputs(*document);
  facts.items = kind->items(*document);
  if (!document->problems().empty()) return tl::unexpected(document->problems());
  return facts;
}

std::size_t entries_at(StoredDocument& document, const std::string& pointer) {
  const auto* list = document.list(pointer);
  return list == nullptr ? 0 : list->size();
}

void add_figure(StoredDocument& document, const std::string& pointer, StoredFigure figure,
                ItemFacts& item) {
  const auto value = document.number(pointer);
  if (!value) return;
  figure.value = *value;
  item.figures.push_back(std::move(figure));
}

void add_setting(const StoredDocument& document, const std::string& pointer, std::string name,
                 ItemFacts& item) {
  if (auto value = document.setting(pointer)) {
    item.settings.emplace_back(std::move(name), std::move(*value));
  }
}

void add_verdict(StoredDocument& document, const std::string& pointer, ItemFacts& item) {
  const auto stands = document.truth(pointer + "/verdict/stands");
  if (!stands) return;
  item.verdict = stored_verdict(document, pointer + "/verdict/reasons");
  item.settings.emplace_back("verdict", *stands ? "stands" : brief_reasons(*item.verdict));
}

sim::Verdict stored_verdict(StoredDocument& document, const std::string& reasons) {
  sim::Verdict verdict;
  const std::size_t count = entries_at(document, reasons);
  for (std::size_t r = 0; r < count; ++r) {
    const std::string at = fmt::format("{}/{}", reasons, r);
    verdict.reasons.push_back(stored_value<sim::Verdict::Reason>(document, at));
  }
  return verdict;
}

void add_objective(StoredDocument& document, const std::string& pointer, std::string workload,
                   ItemFacts& item) {
  StoredFigure figure{std::move(workload), document.required_text(pointer + "/name"),
                      document.required_text(pointer + "/unit"), StoredFigure::Role::Objective};
  figure.ci95 = document.number(pointer + "/ci95");
  figure.limit = document.number(pointer + "/limit");
  figure.standing = sim::standing_of(stored_value<sim::ObjectiveResult>(document, pointer));
  figure.more_is_better = document.truth(pointer + "/atLeast").value_or(false);
  add_figure(document, pointer + "/value", std::move(figure), item);
}

namespace {

struct DeclaredDiff {
  std::string pointer;
  const sim::Field* field;  // of the value
  const sim::Field* ci95;   // beside it, or nullptr
  std::string name;
  const sim::DiffFigure* figure;
};

std::vector<DeclaredDiff> declared_diffs(const sim::Record& record) {
  std::vector<DeclaredDiff> all;
  sim::visit_fields(record, [&](std::span<const sim::Field* const> way, const sim::Field& field) {
    for (const sim::DiffFigure& figure : field.diffs) {
      DeclaredDiff diff{pointer_of(way, field), &field, nullptr, std::string(figure.name), &figure};
      if (diff.name.empty()) diff.name = field.key;
      if (!figure.part.empty()) {
        diff.pointer += "/" + std::string(figure.part);
        diff.field = field.inner().find(figure.part);
        diff.ci95 = field.inner().find(std::string(figure.part) + "Ci95");
      }
      all.push_back(std::move(diff));
    }
  });
  std::ranges::stable_sort(all, {}, [](const DeclaredDiff& diff) { return diff.figure->rank; });
  return all;
}

std::string unit_of(const sim::Field& field) {
  if (field.shape->kind == sim::Shape::Kind::Money) return "usd";
  if (field.shape->kind == sim::Shape::Kind::Time) return "seconds";
  switch (field.unit) {
    case sim::Unit::Ratio:
      return "ratio";
    case sim::Unit::PerSecond:
      return "perSecond";
    case sim::Unit::Seconds:
      return "seconds";
    default:
      return "number";
  }
}

std::string resources_offered(const nlohmann::json& counts) {
  std::string offers;
  for (const auto& [resource, count] : counts.items()) {
    if (!count.is_number()) continue;
    add_name(offers, fmt::format("{} x {}", count.dump(), resource));
  }
  return offers;
}

}  // namespace

void add_figures(StoredDocument& document, const sim::Record& record, const std::string& pointer,
                 ItemFacts& item, const std::string& workload) {
  const bool judged = entries_at(document, pointer + "/objectives") > 0;
  for (const DeclaredDiff& diff : declared_diffs(record)) {
    const sim::DiffFigure& declared = *diff.figure;
    if (judged && declared.role == StoredFigure::Role::Latency) continue;
    StoredFigure figure{workload, diff.name, unit_of(*diff.field), declared.role};
    figure.title = declared.title;
    figure.condition = declared.condition;
    figure.is_main = declared.is_main;
    if (diff.ci95 != nullptr) figure.ci95 = document.number(pointer + diff.pointer + "Ci95");
    add_figure(document, pointer + diff.pointer, std::move(figure), item);
  }
}

void add_workloads(StoredDocument& document, const sim::Record& record, const std::string& pointer,
                   ItemFacts& item) {
  const std::size_t workloads = entries_at(document, pointer + "/workloads");
  for (std::size_t w = 0; w < workloads; ++w) {
    const std::string at = fmt::format("{}/workloads/{}", pointer, w);
    const std::string name = document.required_text(at + "/name");
    const std::size_t objectives = entries_at(document, at + "/objectives");
    for (std::size_t o = 0; o < objectives; ++o) {
      add_objective(document, fmt::format("{}/objectives/{}", at, o), name, item);
    }
    add_figures(document, record.find("workloads")->inner(), at, item, name);
  }
}

void add_settings(StoredDocument& document, const sim::Record& record, const std::string& pointer,
                  const std::string& prefix, ItemFacts& item) {
  std::vector<const sim::Field*> settings;
  for (const sim::Field& field : record.fields) {
    if (field.setting_rank > 0) settings.push_back(&field);
  }
  std::ranges::sort(settings, {}, &sim::Field::setting_rank);
  for (const sim::Field* field : settings) {
    const std::string key(field->key);
    const nlohmann::json::json_pointer place(fmt::format("{}/{}", pointer, key));
    if (field->shape->kind != sim::Shape::Kind::Counts) {
      add_setting(document, fmt::format("{}/{}", pointer, key), fmt::format("{}{}", prefix, key),
                  item);
    } else if (document.root().contains(place) && document.root().at(place).is_object()) {
      item.settings.emplace_back(fmt::format("{}{}", prefix, key),
                                 resources_offered(document.root().at(place)));
    }
  }
}

}  // namespace slicewise::reports

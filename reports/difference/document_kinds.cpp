#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "document_facts.hpp"

namespace slicewise::reports {
namespace {

struct DocumentKind {
  std::string_view kind;
  std::string_view format;  // apiVersion up to the number
  int newest;               // version that is read; the one before it is, too
  std::vector<ItemFacts> (*items)(StoredDocument& document);
};

constexpr std::array kDocumentKinds = {
    DocumentKind{"Result", "slicewise.dev/result.v1alpha", 1, result_items},
    DocumentKind{"Comparison", "slicewise.dev/comparison.v1alpha", 1, comparison_items},
    DocumentKind{"MaxLoad", "slicewise.dev/max-load.v1alpha", 1, max_load_items},
    DocumentKind{"Plan", "slicewise.dev/plan.v1alpha", 1, plan_items},
};

const DocumentKind* find_kind(StoredDocument& document) {
  const std::string kind = document.required_text("/kind");
  if (kind.empty()) return nullptr;
  const auto* const found = std::ranges::find(kDocumentKinds, kind, &DocumentKind::kind);
  if (found != kDocumentKinds.end()) return found;
  document.report(Code::ApiVersionUnknown, "/kind", fmt::format("diff reads no \"{}\"", kind),
                  "it reads what `run`, `compare`, `max-load` and `plan` write with -o json");
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
  facts.scenario = document->required_text("/metadata/scenario");
  facts.metadata = metadata_settings(*document);
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

void add_objective(StoredDocument& document, const std::string& pointer, std::string workload,
                   ItemFacts& item) {
  StoredFigure figure{std::move(workload), document.required_text(pointer + "/name"),
                      document.required_text(pointer + "/unit"), StoredFigure::Role::Objective};
  figure.ci95 = document.number(pointer + "/ci95");
  figure.limit = document.number(pointer + "/limit");
  figure.pass = document.truth(pointer + "/pass");
  figure.more_is_better = document.truth(pointer + "/atLeast").value_or(false);
  add_figure(document, pointer + "/value", std::move(figure), item);
}

void add_workload_figures(StoredDocument& document, const std::string& pointer, ItemFacts& item) {
  const std::string name = document.required_text(pointer + "/name");
  const std::size_t objectives = entries_at(document, pointer + "/objectives");
  for (std::size_t o = 0; o < objectives; ++o) {
    add_objective(document, fmt::format("{}/objectives/{}", pointer, o), name, item);
  }
  if (objectives > 0) return;
  struct Times {
    const char* pointer;
    const char* ci95;
    const char* name;
  };
  // As a result has them, then as a comparison and a highest load do.
  for (const Times& times :
       {Times{"/latencySeconds/p99", "/latencySeconds/p99Ci95", "latencyP99"},
        Times{"/latencyP99Seconds", nullptr, "latencyP99"},
        Times{"/jobCompletionSeconds/p95", "/jobCompletionSeconds/p95Ci95", "jobCompletionP95"},
        Times{"/jobCompletionP95Seconds", nullptr, "jobCompletionP95"}}) {
    StoredFigure figure{name, times.name, "seconds", StoredFigure::Role::Latency};
    if (times.ci95 != nullptr) figure.ci95 = document.number(pointer + times.ci95);
    add_figure(document, pointer + times.pointer, std::move(figure), item);
  }
}

void add_pods_and_cost(StoredDocument& document, const std::string& pointer, ItemFacts& item) {
  for (const char* name : {"monthlyUsd", "usdPerHour", "totalUsd", "per1kRequestsInSloUsd",
                           "perJobUsd", "perWorkHourUsd"}) {
    add_figure(document, pointer + "/cost/" + name, {"", name, "usd", StoredFigure::Role::Cost},
               item);
  }
  for (const char* name : {"pendingMax", "oomKilled", "failed"}) {
    add_figure(document, pointer + "/pods/" + name, {"", name, "number", StoredFigure::Role::Pods},
               item);
  }
}

}  // namespace slicewise::reports

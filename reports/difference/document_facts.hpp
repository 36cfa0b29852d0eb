#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slicewise/reports/difference.hpp"

#include "../document/stored_document.hpp"

// What diff compares of a document. A new kind of document is one more function here, in a file of
// its own, and one row in kDocumentKinds (document_kinds.cpp).
namespace slicewise::reports {

using NamedSettings = std::vector<std::pair<std::string, std::string>>;

struct ItemFacts {
  std::string name;
  std::vector<StoredFigure> figures;
  NamedSettings settings;
  std::optional<sim::Verdict> verdict = std::nullopt;
  bool is_best = false;  // of the options of a comparison
};

struct DocumentFacts {
  std::string kind;
  std::string scenario;
  NamedSettings metadata;
  NamedSettings inputs;  // of the scenario; empty where an old slicewise wrote it
  std::vector<ItemFacts> items;
};

// What is wrong is reported in the document.
std::vector<ItemFacts> result_items(StoredDocument& document);
std::vector<ItemFacts> comparison_items(StoredDocument& document);
std::vector<ItemFacts> max_load_items(StoredDocument& document);
std::vector<ItemFacts> plan_items(StoredDocument& document);
std::vector<ItemFacts> replay_items(StoredDocument& document);
std::vector<ItemFacts> inflation_items(StoredDocument& document);

// How the setting of a rejected option begins. Why it is rejected may change: rejected on both
// sides it is no difference.
inline constexpr std::string_view kRejectedWord = "rejected:";

// Finds the kind, checks the format's version and reads the items.
Expected<DocumentFacts> document_facts(const SourceText& source);

// Of a variant or option; as a setting, too: "stands", "16 failed".
void add_verdict(StoredDocument& document, const std::string& pointer, ItemFacts& item);

// Its causes, workloads and words, from the list at a pointer.
sim::Verdict stored_verdict(StoredDocument& document, const std::string& reasons);

// For the readers of items: the number of entries of a list, a figure at a pointer if there is one,
// a setting likewise.
std::size_t entries_at(StoredDocument& document, const std::string& pointer);
void add_figure(StoredDocument& document, const std::string& pointer, StoredFigure figure,
                ItemFacts& item);
void add_setting(const StoredDocument& document, const std::string& pointer, std::string name,
                 ItemFacts& item);
// The objective at a pointer.
void add_objective(StoredDocument& document, const std::string& pointer, std::string workload,
                   ItemFacts& item);
// The figures that the fields of a record declare for `diff`, of the record at a pointer; those of
// a workload carry its name. A latency counts only where there are no objectives.
void add_figures(StoredDocument& document, const sim::Record& record, const std::string& pointer,
                 ItemFacts& item, const std::string& workload = {});
// Likewise of every entry of its "workloads", with their objectives.
void add_workloads(StoredDocument& document, const sim::Record& record, const std::string& pointer,
                   ItemFacts& item);
// The fields that are settings, called PREFIX.KEY.
void add_settings(StoredDocument& document, const sim::Record& record, const std::string& pointer,
                  const std::string& prefix, ItemFacts& item);

}  // namespace slicewise::reports

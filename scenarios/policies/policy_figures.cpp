#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/policy.hpp"

#include "../text/scalars.hpp"

// The figures that an assertion may ask for.
namespace slicewise::scenarios {
namespace {

// A figure of results, and the words that it can be compared with, blanks between them.
struct PolicyWord {
  std::string_view name;
  PolicyFigure kind;
  std::string_view words;
};

constexpr std::string_view kWorkloadPrefix = "workloads.";

#include "policy_words.inc"

const PolicyWord* find_word(std::span<const PolicyWord> known, std::string_view name) {
  return find_or_null(known, name, &PolicyWord::name);
}

const PolicyWord* find_figure(std::string_view name) {
  const WorkloadFigure of = workload_figure(name);
  return of.workload.empty() ? find_word(kOfResults, name) : find_word(kOfWorkloads, of.figure);
}

std::vector<std::string_view> names_of_figures(std::span<const PolicyWord> known) {
  std::vector<std::string_view> names;
  for (const PolicyWord& word : known) names.push_back(word.name);
  return names;
}

}  // namespace

std::optional<PolicyFigure> policy_figure(std::string_view figure) {
  const PolicyWord* const known = find_figure(figure);
  return known == nullptr ? std::nullopt : std::optional(known->kind);
}

WorkloadFigure workload_figure(std::string_view figure) {
  if (!figure.starts_with(kWorkloadPrefix)) return {};
  figure.remove_prefix(kWorkloadPrefix.size());
  const std::size_t dot = figure.find('.');
  if (dot == std::string_view::npos) return {figure, ""};
  return {figure.substr(0, dot), figure.substr(dot + 1)};
}

std::vector<std::string_view> figures_of_results() { return names_of_figures(kOfResults); }

std::vector<std::string_view> figures_of_workloads() { return names_of_figures(kOfWorkloads); }

std::vector<std::string_view> words_of_figure(std::string_view figure) {
  const PolicyWord* const known = find_figure(figure);
  return parts_of(known == nullptr ? std::string_view() : known->words, ' ');
}

}  // namespace slicewise::scenarios

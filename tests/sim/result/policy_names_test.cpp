#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/scenarios/policy.hpp"
#include "slicewise/sim/describe.hpp"
#include "slicewise/sim/result_record.hpp"

namespace slicewise::sim {
namespace {

using scenarios::PolicyFigure;

constexpr const char* kWordsFile = SLICEWISE_SOURCE_DIR "/scenarios/policies/policy_words.inc";
constexpr const char* kNamesFile = SLICEWISE_SOURCE_DIR "/scenarios/policies/policy_names.inc";

// A figure that assertions may name, as its declaration has it.
struct DeclaredFigure {
  std::string_view name;
  PolicyFigure kind = PolicyFigure::Number;
  std::string_view words;  // that it may be compared with, blanks between them; "": any
};

PolicyFigure kind_of(const Field& field) {
  switch (field.shape->kind) {
    case Shape::Kind::Truth:
      return PolicyFigure::Truth;
    case Shape::Kind::Money:
      return PolicyFigure::Money;
    case Shape::Kind::Time:
      return PolicyFigure::Time;
    case Shape::Kind::Text:
    case Shape::Kind::List:
      return PolicyFigure::Word;
    default:
      break;
  }
  if (field.unit == Unit::Ratio) return PolicyFigure::Share;
  if (field.unit == Unit::PerSecond) return PolicyFigure::Rate;
  return field.unit == Unit::Seconds ? PolicyFigure::Time : PolicyFigure::Number;
}

// In the order declared.
std::vector<DeclaredFigure> policy_figures_of(const Record& record) {
  std::vector<DeclaredFigure> declared;
  visit_fields(record, [&](std::span<const Field* const>, const Field& field) {
    for (const Field::PolicyName& name : field.policy_names) {
      const Field& figure = name.part.empty() ? field : *field.inner().find(name.part);
      declared.push_back({name.name, kind_of(figure), name.words});
    }
  });
  return declared;
}

const char* kind_word(PolicyFigure kind) {
  constexpr const char* kWords[] = {"Truth", "Number", "Money", "Time", "Share", "Rate", "Word"};
  return kWords[static_cast<std::size_t>(kind)];
}

// Names keep their places, since messages list them; new ones go last.
std::vector<DeclaredFigure> in_order(const Record& record,
                                     const std::vector<std::string_view>& published) {
  std::vector<DeclaredFigure> figures = policy_figures_of(record);
  std::ranges::stable_sort(figures, {}, [&](const DeclaredFigure& figure) {
    return std::ranges::find(published, figure.name) - published.begin();
  });
  return figures;
}

const std::vector<DeclaredFigure>& of_results() {
  static const auto figures = in_order(record_of<VariantResult>(), scenarios::figures_of_results());
  return figures;
}

const std::vector<DeclaredFigure>& of_workloads() {
  static const auto figures =
      in_order(record_of<WorkloadResult>(), scenarios::figures_of_workloads());
  return figures;
}

std::string table(const char* name, const std::vector<DeclaredFigure>& figures) {
  std::string text = std::string("constexpr std::array ") + name + " = {\n";
  for (const DeclaredFigure& figure : figures) {
    text += "    PolicyWord{\"" + std::string(figure.name) +
            "\", PolicyFigure::" + kind_word(figure.kind) + ", \"" + std::string(figure.words) +
            "\"},\n";
  }
  return text + "};\n";
}

std::string names(const char* macro, const std::vector<DeclaredFigure>& figures) {
  std::string text;
  for (const DeclaredFigure& figure : figures) {
    text += (text.empty() ? "" : ", ") + std::string(figure.name);
  }
  return std::string("#define ") + macro + " \"" + text + "\"\n";
}

constexpr std::string_view kPrinted =
    "// Printed from the declarations of the results (sim/result/result_record.cpp):\n"
    "// SLICEWISE_UPDATE_GOLDEN=1 sim_tests --gtest_filter='PolicyNames.*'\n";

void expect_printed(const char* file, const std::string& text) {
  const std::string printed = std::string(kPrinted) + text;
  if (std::getenv("SLICEWISE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << printed;
  }
  std::ostringstream committed;
  committed << std::ifstream(file, std::ios::binary).rdbuf();
  EXPECT_EQ(committed.str(), printed);
}

// The scenarios' reader knows no results: what it takes for a figure is printed from them.
TEST(PolicyNames, AreThoseThatTheResultsDeclare) {
  expect_printed(kWordsFile,
                 table("kOfResults", of_results()) + "\n" + table("kOfWorkloads", of_workloads()));
  expect_printed(kNamesFile, names("SLICEWISE_FIGURES_OF_RESULTS", of_results()) +
                                 names("SLICEWISE_FIGURES_OF_WORKLOADS", of_workloads()));
}

}  // namespace
}  // namespace slicewise::sim

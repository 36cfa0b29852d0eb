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
std::string table(const char* name, const Record& record,
                  const std::vector<std::string_view>& published) {
  std::vector<DeclaredFigure> figures = policy_figures_of(record);
  std::ranges::stable_sort(figures, {}, [&](const DeclaredFigure& figure) {
    return std::ranges::find(published, figure.name) - published.begin();
  });
  std::string text = std::string("constexpr std::array ") + name + " = {\n";
  for (const DeclaredFigure& figure : figures) {
    text += "    PolicyWord{\"" + std::string(figure.name) +
            "\", PolicyFigure::" + kind_word(figure.kind) + ", \"" + std::string(figure.words) +
            "\"},\n";
  }
  return text + "};\n";
}

std::string policy_words() {
  return "// Printed from the declarations of the results (sim/result/result_record.cpp):\n"
         "// SLICEWISE_UPDATE_GOLDEN=1 sim_tests --gtest_filter='PolicyNames.*'\n" +
         table("kOfResults", record_of<VariantResult>(), scenarios::figures_of_results()) + "\n" +
         table("kOfWorkloads", record_of<WorkloadResult>(), scenarios::figures_of_workloads());
}

// The scenarios' reader knows no results: what it takes for a figure is printed from them.
TEST(PolicyNames, AreThoseThatTheResultsDeclare) {
  if (std::getenv("SLICEWISE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kWordsFile, std::ios::binary) << policy_words();
  }
  std::ostringstream committed;
  committed << std::ifstream(kWordsFile, std::ios::binary).rdbuf();
  EXPECT_EQ(committed.str(), policy_words());
}

}  // namespace
}  // namespace slicewise::sim

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "slicewise/scenarios/policy.hpp"
#include "slicewise/sim/policies.hpp"
#include "slicewise/sim/result_record.hpp"

namespace slicewise::sim {
namespace {

constexpr const char* kWordsFile = SLICEWISE_SOURCE_DIR "/scenarios/policies/policy_words.inc";

const char* kind_word(scenarios::PolicyFigure kind) {
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

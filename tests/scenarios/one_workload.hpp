#pragma once

#include <string>

#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"

// Scenarios of one workload, for tests of its fields.
namespace slicewise::scenarios {

// `fields` are those of the workload "a", as in a YAML flow mapping; `spec` further lines of spec.
inline std::string with_workload(const std::string& fields, const std::string& spec = "") {
  return "apiVersion: slicewise.dev/v1alpha1\n"
         "kind: Scenario\n"
         "metadata: {name: test}\n"
         "spec:\n"
         "  nodePools: [{name: gpu, instanceType: p3.8xlarge}]\n" +
         spec +
         "  workloads:\n"
         "  - {name: a, " +
         fields + "}\n";
}

inline Scenario scenario_of(const std::string& text, const FileReader& read_file = {}) {
  auto loaded = load_scenario({"f.yaml", text}, {}, read_file);
  if (!loaded) {
    ADD_FAILURE() << loaded.error().front().message << "\n" << text;
    return {};
  }
  return std::move(loaded->variants.at(0));
}

inline Workload workload_of(const std::string& text) {
  Scenario scenario = scenario_of(text);
  return scenario.workloads.empty() ? Workload{} : std::move(scenario.workloads.front());
}

// The file has this one mistake.
inline void expect_problem(const std::string& text, Code code, const std::string& message,
                           const FileReader& read_file = {}) {
  const Diagnostics found = read_scenario_file({"f.yaml", text}, {}, read_file).problems;
  ASSERT_EQ(found.size(), 1U) << text;
  EXPECT_EQ(info(found[0].code).name, info(code).name) << text;
  EXPECT_NE(found[0].message.find(message), std::string::npos) << found[0].message;
}

// ... at this line.
inline void expect_problem_at(int line, const std::string& text, Code code,
                              const std::string& message) {
  const Diagnostics found = read_scenario_file({"f.yaml", text}).problems;
  expect_problem(text, code, message);
  if (!found.empty()) {
    EXPECT_EQ(found[0].where.line, line) << text;
  }
}

}  // namespace slicewise::scenarios

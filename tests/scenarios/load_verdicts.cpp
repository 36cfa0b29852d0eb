// Reads one scenario per line (JSON) and prints a line for each: "accepted", or the codes of what
// is wrong. schema_agreement_test.py compares this with a JSON Schema validator. With the argument
// "schema" it prints the schema instead.
#include <iostream>
#include <string>

#include "slicewise/scenarios/load.hpp"

namespace {

// Any trace that a line names, with the columns that every_field.yaml wants.
slicewise::Expected<slicewise::SourceText> every_trace(const std::string& path) {
  if (path.find("jobs") != std::string::npos || path.find("team-trace") != std::string::npos) {
    return slicewise::SourceText{
        path,
        "arrival_s,run_s,gpus,deadline_s,user,group\n0,60,1,90,ana,vision\n"
        "5,60,1,,bo,vision\n9,60,2,90,bo,vision\n"};
  }
  return slicewise::SourceText{path,
                               "when,prompt,answer,client,at_s,rate,law,variation,blocks\n"
                               "0,100,10,0,0,1,Gamma,2,1\n12.5,200,20,0,600,0,,0,1\n"};
}

}  // namespace

int main(int argc, char** /*argv*/) {
  if (argc > 1) {
    std::cout << slicewise::scenarios::scenario_schema_json();
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);) {
    const auto loaded = slicewise::scenarios::load_scenario({"line", line}, {}, every_trace);
    if (loaded) {
      std::cout << "accepted\n";
      continue;
    }
    for (const slicewise::Diagnostic& problem : loaded.error()) {
      std::cout << slicewise::info(problem.code).name << ' ';
    }
    std::cout << '\n';
  }
}

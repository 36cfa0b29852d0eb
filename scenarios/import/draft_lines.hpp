#pragma once

#include <string>
#include <utility>
#include <vector>

#include "slicewise/scenarios/import.hpp"

#include "scenario_draft.hpp"

namespace slicewise::scenarios {

// The lines of a file that somebody has to go through.
class DraftLines {
 public:
  void add(const std::string& text);
  // One that says what the source does not: `what` of `whose`.
  void todo(const std::string& text, const std::string& comment, const std::string& what,
            const std::string& whose);
  void assumed_pool(const std::string& pool) { assumed_pools_.push_back(pool); }
  // All of them, with what is missing.
  ScenarioText take();

 private:
  std::string text_;
  int line_ = 0;
  std::vector<std::pair<std::string, std::vector<std::string>>> missing_;
  std::vector<int> lines_;
  std::vector<std::string> assumed_pools_;
};

// What the pods of a workload do and take of their GPU.
void write_figures(const DraftWorkload& workload, DraftLines& lines);

}  // namespace slicewise::scenarios

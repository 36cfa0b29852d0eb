#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace slicewise::sim {

// Processes that make the same study in step: each simulates its part and tells the others what
// came of it, so that all of them go on alike, to the same bytes. They are of one build and read
// the same files.
struct Ranks {
  std::size_t rank = 0;  // of this process
  std::size_t size = 1;
  // What each of them says, by rank. All call it at the same point of the study.
  std::function<std::vector<std::string>(const std::string& mine)> exchange;
};

// Those of the studies that this thread makes; nullptr: the process is alone.
const Ranks* current_ranks();

// Makes `ranks` those of this thread for as long as it lives.
class RanksScope {
 public:
  explicit RanksScope(const Ranks& ranks);
  ~RanksScope();
  RanksScope(const RanksScope&) = delete;
  RanksScope& operator=(const RanksScope&) = delete;

 private:
  const Ranks* outer_;
};

}  // namespace slicewise::sim

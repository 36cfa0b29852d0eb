#pragma once

#include <optional>

namespace slicewise::sim {

// The smallest number of nodes that passes, where more nodes pass whenever fewer do: one by one
// from the least on, since bounds are close, then in doubling steps and by bisection.
class NodeSearch {
 public:
  // REQUIRES: 1 <= least <= most.
  NodeSearch(int least, int most) : failed_(least - 1), most_(most), first_(least) {}

  // nullopt: found, or none passes.
  std::optional<int> next() const;
  void record(int nodes, bool passes);

  std::optional<int> found() const { return next() ? std::nullopt : passed_; }
  int failed() const { return failed_; }  // the most that failed, least - 1 before any

 private:
  static constexpr int kOneByOne = 8;

  int failed_;
  int most_;
  int first_;
  std::optional<int> passed_;
};

}  // namespace slicewise::sim

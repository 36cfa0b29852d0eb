#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slicewise/scenarios/serving.hpp"

// LoRA adapters of a server of a language model. They are numbered from 1 on; 0 is the base model.
namespace slicewise::sim {

// Which adapter a request names.
class AdapterChoice {
 public:
  explicit AdapterChoice(const scenarios::LoraAdapters& adapters);

  // Of a draw in [0, 1).
  std::uint32_t of(double drawn) const;

 private:
  double share_;
  std::vector<double> up_to_;  // share of the first 1, 2, ... adapters
};

// Of a server; without places it has no adapters.
struct AdapterLimits {
  int places = 0;     // adapters of a step at most
  int count = 0;      // different ones that requests name
  double load_s = 0;  // one that is not there comes into GPU memory
  double read_s = 0;  // one is read in a step
  double step_s = 0;  // more of a step with any
};

// The places that adapters have in GPU memory, as vLLM has them: a step has no more adapters than
// there are places. One whose last request has left stays until its place is needed; of several the
// one that has been in no step for longest goes first.
//
// Cost: O(places) per call. No allocation after the constructor.
class AdapterSlots {
 public:
  // REQUIRES: places, count >= 1.
  explicit AdapterSlots(const AdapterLimits& limits);

  // Whether a request with this adapter may join the requests that run.
  bool takes(std::uint32_t adapter) const {
    return adapter == 0 || users_[adapter] > 0 || in_use_ < places();
  }
  // Whether any of the requests that wait may.
  bool takes_one_that_waits() const;

  void wait(std::uint32_t adapter) { ++waiting_[adapter]; }
  void stop_waiting(std::uint32_t adapter) { --waiting_[adapter]; }
  void enter(std::uint32_t adapter);  // REQUIRES: takes(adapter)
  void leave(std::uint32_t adapter);

  // How much longer the next step takes.
  struct StepTime {
    double load_s = 0;  // of each that came into a place since the last
    double read_s = 0;  // step_s, and of each in use, if there is any
  };
  StepTime next_step();
  // Copies into a place so far.
  std::int64_t loads() const { return loads_; }

  // The process died.
  void clear();

 private:
  std::size_t places() const { return static_cast<std::size_t>(limits_.places); }

  AdapterLimits limits_;
  std::size_t in_use_ = 0;  // different ones of the requests that run
  std::int64_t loads_ = 0;
  std::int64_t charged_ = 0;            // of these, to a step
  std::vector<std::uint32_t> users_;    // by adapter: requests that run
  std::vector<std::uint32_t> waiting_;  // by adapter: requests that wait
  std::vector<std::uint32_t> there_;    // in a place; of those without users the next to go first
};

}  // namespace slicewise::sim

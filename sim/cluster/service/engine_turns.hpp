#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slicewise/units.hpp"

#include "../run_state.hpp"

namespace slicewise::sim {

class PodLife;
class Replicas;
struct PodServer;

// Engines of language models that take turns in the memory of a GPU (vLLM's sleep mode), with the
// router that puts them to sleep and wakes them up, as llama-swap does: one engine of a GPU is
// awake at most. Requests for another wait in front of it until the one that is awake has answered
// all that it has been given; from then on what comes for that one waits, too. Who has waited
// longest is next, and has all its requests. An engine that nobody else waits for stays awake.
class EngineTurns {
 public:
  EngineTurns(RunState& run, std::vector<PodServer>& servers, Replicas& replicas, PodLife& pods);

  // Whether a request goes to the pod's engine at once.
  bool lets_in(std::uint32_t pod) const;
  // A request waits in front of the engine.
  void ask(std::uint32_t pod);
  // The engine has answered all that it was given.
  void finished(std::uint32_t pod) { look_at(pod); }
  // The process is gone.
  void gone(std::uint32_t pod);

  // A GPU's timer: an engine has fallen asleep, or is awake, or it is time to look who is next.
  void on_timer(std::size_t domain);

  // The run is over.
  void record_awake();

 private:
  enum class Stage : std::uint8_t { Still, FallingAsleep, Waking };
  struct Turn {
    Stage stage = Stage::Still;
    std::uint32_t awake = kNoOwner;
    std::uint32_t next = kNoOwner;  // while it falls asleep, or while that one wakes up
    std::vector<std::uint32_t> asking;
    TimePoint since;  // awake
  };

  Turn& turn_of(std::uint32_t pod) { return turns_[index(run_.cluster.pods[pod].domain)]; }
  const SleepDemand& demand_of(std::uint32_t pod) const;
  void look_at(std::uint32_t pod);
  void choose(std::size_t domain);
  void wake(std::size_t domain);
  void settle(Turn& turn);

  RunState& run_;
  std::vector<PodServer>& servers_;  // by pod
  Replicas& replicas_;
  PodLife& pods_;
  std::vector<Turn> turns_;  // by domain; empty where no engine sleeps
};

}  // namespace slicewise::sim

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"

// Which figures of a scenario `slicewise sensitivity` can vary.
namespace slicewise::scenarios {

// X(identifier, the word for it in a scenario file and on the command line)
#define SLICEWISE_INPUT_KINDS(X)             \
  X(Traffic, "traffic")                      \
  X(Users, "users")                          \
  X(RequestGpuTime, "requestGpuTime")        \
  X(UnitTime, "unitTime")                    \
  X(CellGpuTime, "cellGpuTime")              \
  X(CellInterval, "cellInterval")            \
  X(WeightsTime, "weightsTime")              \
  X(TokenTime, "tokenTime")                  \
  X(InputTokens, "inputTokens")              \
  X(OutputTokens, "outputTokens")            \
  X(GpuBusy, "gpuBusy")                      \
  X(Cpu, "cpu")                              \
  X(CpuBefore, "cpuBefore")                  \
  X(CpuAfter, "cpuAfter")                    \
  X(CapacityShare, "capacityShare")          \
  X(BandwidthShare, "bandwidthShare")        \
  X(GpuMemoryResident, "gpuMemory.resident") \
  X(GpuMemoryPeak, "gpuMemory.peak")         \
  X(ContextMemory, "contextMemory")          \
  X(TimeSlice, "timeSlice")                  \
  X(SwitchCost, "switchCost")                \
  X(ModelLoad, "modelLoad")                  \
  X(ImagePull, "imagePull")                  \
  X(Faults, "faults")                        \
  X(NodeReady, "nodeReady")                  \
  X(SpotInterruption, "spotInterruption")    \
  X(Price, "price")

// One kind of figure. A scenario may have several of a kind: the traffic of each of its Services.
enum class InputKind : std::uint8_t {
#define X(id, word) id,
  SLICEWISE_INPUT_KINDS(X)
#undef X
};

inline constexpr std::string_view kInputKinds[] = {
#define X(id, word) word,
    SLICEWISE_INPUT_KINDS(X)
#undef X
};

constexpr std::string_view word_of(InputKind kind) {
  return kInputKinds[static_cast<std::size_t>(kind)];
}

// The block `sensitivity` of a scenario.
struct Sensitivity {
  std::vector<InputKind> vary;  // in the order of the file; empty: all that the scenario has
  double by = 0.2;              // share of one, below 1
  SourceLocation where;
};

}  // namespace slicewise::scenarios

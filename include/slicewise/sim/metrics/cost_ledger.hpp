#pragma once

#include <array>
#include <span>
#include <string_view>

#include "slicewise/models/price_book.hpp"
#include "slicewise/sim/metrics/replication.hpp"
#include "slicewise/sim/result.hpp"

namespace slicewise::sim {

// What a part of the bill is called in text, in tables and in metrics.
struct LedgerPart {
  std::string_view name;
  std::string_view key;
  std::string_view label;
  Usd CostLedger::*usd;
};

// In the order in which they are shown.
inline constexpr std::array<LedgerPart, 8> kLedgerParts = {
    {{"useful", "useful", "useful", &CostLedger::useful},
     {"idle", "idle", "idle", &CostLedger::idle},
     {"switching", "switching", "switching", &CostLedger::switching},
     {"failed work", "failed", "failed", &CostLedger::failed},
     {"cold start", "coldStart", "cold_start", &CostLedger::cold_start},
     {"missed SLO", "missedSlo", "missed_slo", &CostLedger::missed_slo},
     {"thrash", "thrash", "thrash", &CostLedger::thrash},
     {"control plane", "controlPlane", "control_plane", &CostLedger::control_plane}}};

// EC2 bills Linux instances per second, 60 s at least.
inline constexpr Duration kShortestBill = seconds(60);

// Where the time of one domain went, and the part of the node's price that it carries: each GPU an
// equal part, a MIG instance its compute slices of that.
struct GpuShareOfTime {
  DomainTime time;
  double of_node = 1;
};

// What one node costs for a run, split by what its GPUs did. The parts add up to the total to the
// nano-dollar: what no instance has and what is left over by rounding down is idle.
CostLedger node_cost(UsdPerHour price, Duration run_length, std::span<const GpuShareOfTime> gpus);

// A node that EC2 bills from its launch to its end. The time that it took to start is cold start.
// Start and idle time of one that nobody needed are thrash.
struct BilledNode {
  UsdPerHour price;
  Duration time;
  Duration starting;
  bool needless = false;
};
CostLedger node_cost(const BilledNode& node, std::span<const GpuShareOfTime> gpus);

// Sum and mean of ledgers; both keep the parts adding up to the total. REQUIRES: n > 0.
CostLedger& operator+=(CostLedger& sum, const CostLedger& other);
CostLedger mean_of(const CostLedger& sum, std::int64_t n);

}  // namespace slicewise::sim

#include "slicewise/sim/metrics/cost_ledger.hpp"

#include <algorithm>
#include <cmath>

namespace slicewise::sim {
namespace {

// Idle is what remains, so that the parts always add up.
void close(CostLedger& ledger) {
  ledger.idle = ledger.total;
  for (const LedgerPart& part : kLedgerParts) {
    if (part.usd != &CostLedger::idle) ledger.idle = ledger.idle - ledger.*part.usd;
  }
}

}  // namespace

CostLedger node_cost(UsdPerHour price, Duration run_length, std::span<const GpuShareOfTime> gpus) {
  CostLedger ledger;
  ledger.total = cost_of(price, std::max(run_length, kShortestBill));
  for (const GpuShareOfTime& gpu : gpus) {
    const auto part = [&](Duration time) {
      return Usd{static_cast<std::int64_t>(
          std::floor(static_cast<double>(cost_of(price, time).nano) * gpu.of_node))};
    };
    ledger.useful += part(gpu.time.useful);
    ledger.switching += part(gpu.time.switching);
    ledger.failed += part(gpu.time.failed);
    ledger.cold_start += part(gpu.time.cold_start);
    ledger.missed_slo += part(gpu.time.late);
  }
  close(ledger);
  return ledger;
}

CostLedger node_cost(const BilledNode& node, std::span<const GpuShareOfTime> gpus) {
  CostLedger ledger = node_cost(node.price, node.time, gpus);
  const Usd starting = cost_of(node.price, node.starting);
  ledger.idle = ledger.idle - starting;
  if (node.needless) {
    ledger.thrash = ledger.idle + starting;
    ledger.idle = {};
  } else {
    ledger.cold_start += starting;
  }
  return ledger;
}

CostLedger& operator+=(CostLedger& sum, const CostLedger& other) {
  sum.total += other.total;
  for (const LedgerPart& part : kLedgerParts) sum.*part.usd += other.*part.usd;
  return sum;
}

CostLedger mean_of(const CostLedger& sum, std::int64_t n) {
  CostLedger mean;
  mean.total = {sum.total.nano / n};
  for (const LedgerPart& part : kLedgerParts) mean.*part.usd = {(sum.*part.usd).nano / n};
  close(mean);
  return mean;
}

}  // namespace slicewise::sim

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slicewise/units.hpp"

// What a run costs, what it was spent on, and who pays. Dollars to the nano-dollar.
namespace slicewise::sim {

// Adds up to `total` exactly, in nano-dollars.
struct CostLedger {
  Usd total;
  Usd useful;      // GPU time of work that was finished or still running at the end
  Usd idle;        // nobody's kernels ran
  Usd switching;   // context switches
  Usd failed;      // work of containers that died
  Usd cold_start;  // nodes that start; image pull and model load while the GPU had nothing else to
                   // do
  Usd missed_slo;  // requests served too late
  Usd thrash;  // nodes started without need, until they were taken away: their start and idle time
  Usd control_plane;  // EKS's fee for the cluster

  Usd nodes() const { return total - control_plane; }
};

// A workload's part of the bill, or that of several. Mean per replication.
struct BillPart {
  Usd held;    // what its pods hold of their nodes
  Usd shared;  // its part of what nobody holds and of context switches, by what it holds
  Usd total;   // of both
  std::optional<Usd> per_job;                 // total / jobs finished; absent when none was
  std::optional<Usd> after_warmup;            // of Services: for the requests that are counted
  std::optional<Usd> per_1k_requests_in_slo;  // that / thousands of them in SLO
  std::optional<Usd> per_gpu_hour;            // total / GPU time that its kernels took
};

// Workloads whose pods have something in common, and what they pay together.
struct BillGroup {
  std::string name;
  double of_bill = 0;
  BillPart bill;
};

// The bill of the nodes, split over the workloads: what each holds, `idle` and `switching` add up
// to it exactly, and so do the totals of the workloads, unless none of them holds anything.
struct BillSplit {
  std::string rule;               // "dominant", "gpu-time", "requests"
  Usd idle;                       // what no pod holds
  Usd switching;                  // context switches
  std::vector<BillGroup> groups;  // see group_bills()
};

struct Cost {
  CostLedger ledger;  // mean per replication
  BillSplit split;
  // The parts of the bill of all Jobs and Deployments / jobs finished; absent when none was.
  std::optional<Usd> per_job;
  // ... of all Services, after the warm-up, / requests in SLO after it.
  std::optional<Usd> per_1k_requests_in_slo;
  Usd monthly;  // nodes x price x 730 h; where nodes come and go, their bill of the run x 730 h
  Usd control_plane_monthly;  // EKS's fee x 730 h, beside it: it is the same for any nodes
};

}  // namespace slicewise::sim

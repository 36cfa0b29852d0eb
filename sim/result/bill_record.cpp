#include <string_view>
#include <utility>

#include "slicewise/sim/result_record.hpp"

// What is declared of the bill's parts; the rest of a result in result_record.cpp.
namespace slicewise::sim {
namespace {

// `position`: of the first of its columns; 0: it has none.
Record bill_part(std::string_view meaning, int position) {
  using B = BillPart;
  Record declared{
      meaning,
      {field<&B::held>("heldUsd", "what its pods hold of their nodes, without context switches"),
       field<&B::shared>("sharedUsd",
                         "its part of what no pod holds and of context switches, by what it holds"),
       field<&B::total>("totalUsd", "of both: its part of the bill"),
       field<&B::per_job>("perJobUsd", "its part / jobs finished"),
       field<&B::per_1k_requests_in_slo>(
           "per1kRequestsInSloUsd",
           "its part of the bill after the warm-up / thousands of requests in SLO"),
       field<&B::per_gpu_hour>("perGpuHourUsd", "its part / hours of GPU time of its kernels"),
       field<&B::after_warmup>("afterWarmupUsd", "its part of the bill after the warm-up")}};
  constexpr std::string_view kColumns[] = {"billHeldUsd", "billSharedUsd",         "billTotalUsd",
                                           "perJobUsd",   "per1kRequestsInSloUsd", "perGpuHourUsd"};
  for (std::size_t f = 0; position > 0 && f < std::size(kColumns); ++f) {
    declared.fields[f] =
        std::move(declared.fields[f]).csv(position + static_cast<int>(f), kColumns[f]);
  }
  return declared;
}

Record group_bill_record() { return bill_part("what its workloads pay together", 0); }

}  // namespace

Record declared(Of<BillPart>) {
  return bill_part("the workload's part of the bill, mean per replication", 74);
}

Record declared(Of<BillGroup>) {
  using G = BillGroup;
  return {"workloads that have something in common",
          {field<&G::name>("name",
                           "the namespace, the value of the label or the name of the workload; "
                           "\"\" for those without the label"),
           field<&G::of_bill>("billRatio", "share of the bill").of(Unit::Ratio),
           field<&G::bill>("bill").as(&once<group_bill_record>)}};
}

Record declared(Of<BillSplit>) {
  using S = BillSplit;
  return {
      "the bill by workload, mean per replication: what each holds, idle and switching add up to "
      "it",
      {field<&S::rule>("rule", "by what it is split: dominant, gpu-time or requests")
           .csv(80, "splitRule"),
       field<&S::idle>("idleUsd", "what no pod holds"),
       field<&S::switching>("switchUsd", "context switches"),
       field<&S::groups>("groups", "--group-by, in the order of their first workload").optional()}};
}

}  // namespace slicewise::sim

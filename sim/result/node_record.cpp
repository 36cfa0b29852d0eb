#include <algorithm>

#include "slicewise/sim/result_record.hpp"

// Figures of GPUs, nodes and their pools, and of what they cost.
namespace slicewise::sim {
namespace {

using Role = DiffFigure::Role;

bool is_partition(const GpuResult& gpu) { return !gpu.partition.empty(); }

bool comes_and_goes(const GpuResult& gpu) { return gpu.up_ratio != 1; }

bool nodes_come_and_go(const VariantResult& v) {
  return std::ranges::any_of(v.node_pools,
                             [](const NodePoolResult& pool) { return pool.dynamics.has_value(); });
}

bool is_split(const VariantResult& v) { return !v.cost.split.rule.empty(); }

}  // namespace

Record declared(Of<GpuNeighbour>) {
  using N = GpuNeighbour;
  return {
      "a workload whose containers it had beside its own",
      {field<&N::workload>("workload", "name in the scenario; its own: pods of it shared a GPU"),
       field<&N::replications>("replications",
                               "runs in which they were on one GPU, or MIG instance, at once")}};
}

Record declared(Of<GpuResult>) {
  using G = GpuResult;
  return {
      "means over the replications for one GPU or MIG instance",
      {field<&G::node>("node", "name of the node"),
       field<&G::index>("index", "index of the GPU in its node"),
       field<&G::model>("model", "catalogue name"),
       field<&G::partition>("migProfile", "of the MIG instance; absent for a whole GPU").optional(),
       field<&G::instance>("migInstance", "counts the instances of the GPU, from 0")
           .when<&is_partition>(),
       field<&G::gpu_share>("gpuShare", "compute slices of the instance / those of the GPU")
           .when<&is_partition>()
           .of(Unit::Ratio),
       field<&G::up_ratio>("upRatio",
                           "share of the run that its node was there, absent where it is all of "
                           "it; the shares of the run below are of that time")
           .when<&comes_and_goes>()
           .of(Unit::Ratio),
       field<&G::time_busy_ratio>("timeBusyRatio",
                                  "share of the run in which a kernel ran; of a g6f, of the part "
                                  "of the GPU's time that EC2 sells, whatever shares it")
           .optional()
           .of(Unit::Ratio),
       field<&G::time_busy_most>("timeBusyMaxRatio", "that of the run in which it was highest")
           .positive()
           .of(Unit::Ratio),
       field<&G::pods>("pods", "on it in the first run, when most containers were there")
           .optional()
           .each("pod"),
       field<&G::sm_active_ratio>("smActiveRatio",
                                  "mean share of busy multiprocessors; absent when unknown")
           .of(Unit::Ratio)
           .column("SM ACTIVE", 2),
       field<&G::context_switch_ratio>("contextSwitchRatio",
                                       "share of the run spent switching contexts")
           .optional()
           .of(Unit::Ratio)
           .column("SWITCHING", 1),
       field<&G::memory_peak>("memoryPeakBytes", "highest memory in use, bytes")
           .column("MEMORY PEAK"),
       field<&G::memory_total>("memoryTotalBytes", "memory that processes can use, bytes")}};
}

Record declared(Of<NodeResult>) {
  using N = NodeResult;
  return {"means over the replications for one node",
          {field<&N::name>("name", "name of the node"), field<&N::pool>("pool", "its node pool"),
           field<&N::cpu_busy_ratio>("cpuBusyRatio", "busy share of its vCPUs")
               .optional()
               .of(Unit::Ratio)}};
}

const Record& cost_record() {
  using V = VariantResult;
  using L = CostLedger;
  static const Record declared{
      "US dollars, mean per replication",
      {field<&V::cost, &Cost::ledger, &L::total>("totalUsd",
                                                 "nodes x time x price and the fee of the control "
                                                 "plane; the sum of the parts below, exactly")
           .csv(31, "variantTotalUsd")
           .policy("cost.total")
           .diff({.role = Role::Cost,
                  .rank = 3,
                  .title = "bill of the run",
                  .condition = "cost.total"}),
       field<&V::cost, &Cost::ledger, &L::useful>(
           "usefulUsd", "GPU time of work that was finished or still ran at the end"),
       field<&V::cost, &Cost::ledger, &L::idle>("idleUsd", "time in which no kernel ran"),
       field<&V::cost, &Cost::ledger, &L::switching>("switchUsd", "context switches"),
       field<&V::cost, &Cost::ledger, &L::failed>("failedUsd", "work of containers that died"),
       field<&V::cost, &Cost::ledger, &L::cold_start>(
           "coldStartUsd", "nodes that start; image pull and model load on an otherwise idle GPU"),
       field<&V::cost, &Cost::ledger, &L::missed_slo>("missedSloUsd", "requests served too late"),
       field<&V::cost, &Cost::ledger, &L::thrash>(
           "thrashUsd",
           "nodes started without need, until they were taken away; absent where nodes do not come "
           "and go")
           .when<&nodes_come_and_go>()
           .csv(68, "variantThrashUsd"),
       field<&V::cost, &Cost::ledger, &L::control_plane>(
           "controlPlaneUsd", "EKS's fee for the cluster; no workload pays it")
           .optional(),
       field<&V::cost, &Cost::split>("split").when<&is_split>(),
       field<&V::cost, &Cost::per_job>("perJobUsd",
                                       "what Jobs pay (Deployments where there are no Jobs) / jobs "
                                       "finished; absent when none was")
           .csv(32, "variantPerJobUsd")
           .column("$/JOB", 0, "", "$/job")
           .policy("cost.perJob")
           .diff({.role = Role::Cost,
                  .rank = 5,
                  .title = "$/job",
                  .condition = "cost.perJob",
                  .is_main = true}),
       field<&V::cost, &Cost::per_1k_requests_in_slo>(
           "per1kRequestsInSloUsd",
           "what Services pay after the warm-up / thousands of requests in SLO")
           .csv(33, "variantPer1kRequestsInSloUsd")
           .column("$/1K IN SLO", 0, "", "$/1k in SLO")
           .policy("cost.per1kInSlo")
           .diff({.role = Role::Cost,
                  .rank = 4,
                  .title = "$/1k requests in SLO",
                  .condition = "cost.per1k",
                  .is_main = true}),
       field<&V::cost, &Cost::monthly>(
           "monthlyUsd",
           "nodes x price x 730 h; where nodes come and go, their bill of the run x 730 h")
           .column("$/MONTH", 0, "", "$/month")
           .policy("cost.monthly")
           .diff({.role = Role::Cost,
                  .rank = 1,
                  .title = "$/month",
                  .condition = "cost",
                  .is_main = true}),
       field<&V::cost, &Cost::control_plane_monthly>(
           "controlPlaneMonthlyUsd",
           "EKS's fee for the cluster x 730 h, beside monthlyUsd: the same for any nodes")
           .optional()}};
  return declared;
}

Record declared(Of<NodeDynamics>) {
  using D = NodeDynamics;
  return {
      "nodes that come and go, means per replication; absent where they do not",
      {field<&D::provisioner>("provisioner", "Karpenter, ClusterAutoscaler or ManagedNodeGroup"),
       field<&D::least>("least", "fewest nodes that the scenario allows"),
       field<&D::most>("most", "most nodes that the scenario allows"),
       field<&D::mean_nodes>("nodesMean", "nodes that EC2 bills, mean over the run"),
       field<&D::max_nodes>("nodesMax", "most of them at once, of all replications"),
       field<&D::launches>("launches", "nodes started in the run"),
       field<&D::surplus>("surplusLaunches", "of those, more than the pods needed"),
       field<&D::removed>("removed", "nodes taken away as empty or underused"),
       field<&D::interruptions>("interruptions", "nodes that EC2 took back"),
       field<&D::on_demand_nodes>("onDemandLaunches",
                                  "nodes bought as on-demand after an interruption"),
       field<&D::node_hours>("nodeHours", "node time that EC2 bills, hours"),
       field<&D::thrash_node_hours>("thrashNodeHours",
                                    "of that, of nodes that were started without need")}};
}

Record declared(Of<NodeStartUpFigures>) {
  using S = NodeStartUpFigures;
  return {
      "the way of pods that waited for a node; absent when none did",
      {field<&S::pods>("pods", "pods that waited for a node, mean per replication"),
       field<&S::decision>("decisionSeconds", "until the provisioner decides, mean"),
       field<&S::launch>("launchSeconds", "until EC2 bills the node, mean"),
       field<&S::ready>("readySeconds", "until the node is Ready, mean"),
       field<&S::gpu_allocatable>("gpuAllocatableSeconds", "until its GPUs are advertised, mean"),
       field<&S::scheduling>("schedulingSeconds", "until the pod is bound, mean"),
       field<&S::image_pull>("imagePullSeconds", "until the image is there, mean"),
       field<&S::model_load>("modelLoadSeconds", "until the container works, mean"),
       field<&S::total>(
           "totalSeconds",
           "from Pending, or when a node could first be asked for, to work; the sum of the stages")
           .csv(69, "nodeStartUpMeanSeconds", "mean")}};
}

Record declared(Of<SpotRisk>) {
  using S = SpotRisk;
  return {"how often EC2 takes a node back; absent where nodes are not bought as spot",
          {field<&S::per_1000_hours>("interruptionsPer1000Hours", "of one node"),
           field<&S::source>("source", "where that comes from"),
           field<&S::falls_back>("fallback", "the node in its place is bought as on-demand")
               .optional()}};
}

Record declared(Of<DaemonSetResult>) {
  using D = DaemonSetResult;
  return {"what the pod of a DaemonSet takes of each node",
          {field<&D::name>("name", "of the DaemonSet"),
           field<&D::cpus>("cpus", "that it asks for").optional(),
           field<&D::memory>("memoryBytes", "that it asks for, bytes").optional()}};
}

Record declared(Of<NodePoolResult>) {
  using P = NodePoolResult;
  return {
      "a group of equal nodes",
      {field<&P::name>("name", "name in the scenario"),
       field<&P::instance_type>("instanceType", "EC2 instance type").setting(1),
       field<&P::gpu_model>("gpuModel", "catalogue name of its GPUs").optional(),
       field<&P::region>("region", "AWS region of the price").optional().setting(6),
       field<&P::purchase_option>("purchaseOption", "on-demand, spot or reserved")
           .optional()
           .setting(5),
       field<&P::price_plan>("pricePlan", "the scenario's plan that lowers the price").optional(),
       field<&P::strategy>("strategy",
                           "how its GPUs are shared: exclusive, timeSlicing, mps, mig, mig+mps, "
                           "mig+timeSlicing, vgpu, awsVirtualGpu, nos, hami, kai")
           .setting(2),
       field<&P::nodes>("nodes",
                        "number of nodes; the most that it may have, where nodes come and go")
           .setting(3),
       field<&P::gpus_per_node>("gpusPerNode", "physical GPUs of a node").setting(4),
       field<&P::unhealthy_gpus>("unhealthyGpus",
                                 "of these, those that the device plugin does not offer")
           .positive(),
       field<&P::price, &UsdPerHour::per_hour>("usdPerHour",
                                               "price of one node, US dollars per hour")
           .setting(7),
       field<&P::price_source>("priceSource", "where the price comes from").optional().setting(8),
       field<&P::turn>("turnSeconds", "time slice of a context, seconds").setting(11),
       field<&P::switch_cost>("switchCostSeconds", "cost of one context switch, seconds")
           .setting(12),
       field<&P::active_threads>("activeThreadsRatio",
                                 "share of the SMs that one MPS client may use")
           .of(Unit::Ratio)
           .setting(13),
       field<&P::memory_limit>("clientMemoryLimitBytes",
                               "GPU memory that one MPS client may take, bytes; absent when there "
                               "is no limit or several")
           .setting(14),
       field<&P::vgpu_policy>(
           "vgpuPolicy",
           "how vGPUs take turns on a physical GPU: bestEffort, equalShare or fixedShare")
           .optional(),
       field<&P::vgpus_per_gpu>("vgpusPerGpu", "virtual machines on a physical GPU")
           .positive()
           .setting(10),
       field<&P::mig_config>("migConfig", "MIG layout in force at the start").optional().setting(9),
       field<&P::instances>("migInstances", "MIG instances at the start, by profile")
           .optional()
           .each("instances, all nodes together"),
       field<&P::sms_unused_ratio>("smsUnusedRatio",
                                   "share of the SMs that belong to no MIG instance")
           .of(Unit::Ratio),
       field<&P::advertised>("advertised", "extended resources that the kubelets advertise")
           .each("units, all nodes together")
           .setting(15),
       field<&P::daemon_sets>("daemonSets",
                              "on each node; what they ask for is not there for workloads")
           .optional(),
       field<&P::dynamics>("dynamics"),
       field<&P::spot>("spot")}};
}

Record declared(Of<GpuRoom::Tenant>) {
  using T = GpuRoom::Tenant;
  return {"pods of one workload",
          {field<&T::workload>("workload", "its name"), field<&T::pods>("pods", "that fit there"),
           field<&T::processes>("processes", "CUDA processes of each pod"),
           field<&T::process>("processBytes", "GPU memory of a process without its context, bytes"),
           field<&T::greedy>("greedy", "a process maps all free memory").optional()}};
}

Record declared(Of<GpuRoom>) {
  using R = GpuRoom;
  return {
      "how many pods one GPU or MIG instance holds, whichever come: the largest first",
      {field<&R::pool>("nodePool", "name in the scenario"),
       field<&R::partition>("migProfile", "of the MIG instance; absent for a whole GPU").optional(),
       field<&R::safe>("safePods", "pods that fit"),
       field<&R::may_meet>("meetingPods", "of those there are, that may meet there"),
       field<&R::replicas>("replicas", "that the device plugin offers of it"),
       field<&R::bound>("boundBy", "what stops more"),
       field<&R::usable>("usableBytes", "memory that processes can use, bytes"),
       field<&R::context>("contextBytes", "CUDA context of each process, bytes"),
       field<&R::awake>(
           "awakeBytes",
           "memory of the engine that is awake beyond its sleep, bytes; absent where none sleeps")
           .positive(),
       field<&R::process_limit>("processLimitBytes", "limit that a process passes, bytes"),
       field<&R::tenants>("pods", "that fit"),
       field<&R::needed>("neededBytes", "by the pods that fit, contexts included, bytes"),
       field<&R::next>("nextBytes", "by them and one more, bytes; absent where all fit").positive(),
       field<&R::next_workload>("nextWorkload", "whose pod one more would be").optional()}};
}

}  // namespace slicewise::sim

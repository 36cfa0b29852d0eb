#include "slicewise/sim/plan_record.hpp"

namespace slicewise::sim {
namespace {

std::string_view unit_of_planned(const PlannedObjective& o) { return unit_word(o.result.limit); }

bool has_curve(const Plan& plan) { return !plan.replicas.empty(); }

std::optional<int> replicas_at_knee(const Plan& plan) {
  return plan.knee ? std::optional(plan.replicas[*plan.knee].replicas) : std::nullopt;
}

std::string configuration_of(const PlanOption& option) {
  std::string text;
  for (const PoolChoice& pool : option.pools) text += (text.empty() ? "" : " + ") + describe(pool);
  return text;
}

std::string reason_text(const RejectedChoice& rejected) { return rejected.reason.text(); }

bool has_headroom(const Plan& plan) { return plan.headroom || plan.headroom_fails; }

Record plan_metadata() {
  using P = Plan;
  return {"what produced the plan; the same values produce the same bytes",
          {stamp_field<P>("scenario").csv(1, "scenario"),
           stamp_field<P>("scenarioFile"),
           stamp_field<P>("scenarioSha256"),
           stamp_field<P>("inputs"),
           stamp_field<P>("variant").csv(2, "variant"),
           stamp_field<P>("settings"),
           stamp_field<P>("seed")
               .saying("seed of the random streams, the same for every simulation")
               .csv(3, "seed"),
           stamp_field<P>("replications").saying("runs of an option that is ranked"),
           field<&P::goal>("goal", "what is minimised"),
           field<&P::instance_types>("instanceTypes", "that were tried"),
           field<&P::purchases>("purchaseOptions", "that were tried"),
           field<&P::survives>(
               "survives",
               "node or zone: with one less of each pool every option still holds its objectives")
               .optional(),
           field<&P::vary_pods>("varyPods", "so many pods more or fewer might Services have"),
           stamp_field<P>("version"),
           stamp_field<P>("priceDate"),
           stamp_field<P>("priceFile"),
           stamp_field<P>("priceFileSha256"),
           stamp_field<P>("catalogueFiles"),
           stamp_field<P>("catalogueSha256"),
           stamp_field<P>("allowPending"),
           stamp_field<P>("startsAt"),
           field<&P::interrupted>("interrupted", "the search was not finished").optional()}};
}

Record replicas_curve() {
  return {"the best option's GPUs shared among more and more pods",
          {field<&Plan::replicas>("points", "from one on"),
           field<&replicas_at_knee>(
               "knee", "pods per GPU beyond which the cost falls by less than a hundredth"),
           field<&Plan::binding>("binding", "what stops more pods per GPU").optional()}};
}

Record headroom_of_plan() {
  return {"of the best option",
          {field<&Plan::headroom>("passedFactor", "times the load that the best option bears"),
           field<&Plan::headroom_fails>("failedFactor", "times the load at which it breaks"),
           field<&Plan::headroom_binding>("binding",
                                          "the objective that breaks first, or what else does")
               .optional()}};
}

Record inputs_of_best() {
  const Record& counts = record_of<ProvenanceCounts>();
  return Record{"where the inputs of the best option come from",
                {counts.like("measured").saying("inputs"), counts.like("catalog").saying("inputs"),
                 counts.like("assumed").saying("inputs"),
                 counts.like("assumedInputs").saying("which").each("")}};
}

}  // namespace

Record declared(Of<MigCount>) {
  using M = MigCount;
  return {"instances of one profile",
          {field<&M::profile>("profile", "MIG profile"), field<&M::count>("count", "of each GPU")}};
}

Record declared(Of<MigCut>) {
  using C = MigCut;
  return {"GPUs of a node that are cut alike",
          {field<&C::gpus>("gpus", "so many"), field<&C::mig>("mig", "layout of each")}};
}

Record declared(Of<ServingChoice>) {
  using S = ServingChoice;
  return {
      "how the pods of a workload serve, as far as that was chosen; absent: as the scenario has it",
      {field<&S::gpus>("gpusPerPod", "they share its language model"),
       field<&S::max_batch>("maxBatch", "requests that the GPU answers in one go, at most"),
       field<&S::max_delay>("maxDelaySeconds", "that a batch waits which is not full"),
       field<&S::concurrency>("concurrency", "requests that a pod works on at a time")}};
}

Record declared(Of<PodSchedule>) {
  using S = PodSchedule;
  return {
      "pods that come and go by the clock, as KEDA's cron scaler has them",
      {field<&S::workload>("workload", "a Service of the pool"),
       field<&S::replicas>("replicas", "pods within the window"),
       field<&S::otherwise>("otherwise", "pods outside of it"),
       field<&S::start>("start", "of the window, as cron"), field<&S::end>("end", "likewise"),
       field<&S::time_zone>("timeZone", "by its name in IANA's database; absent: UTC").optional()}};
}

Record declared(Of<PodScaling>) {
  using S = PodScaling;
  return {"pods that come and go with the load, as an HPA or KEDA has them",
          {field<&S::workload>("workload", "a Service of the pool"),
           field<&S::least>("min", "pods at the least"), field<&S::most>("max", "pods at the most"),
           field<&S::per_second>("requestsPerSecond", "of a pod, that it keeps to")}};
}

Record declared(Of<PoolChoice>) {
  using C = PoolChoice;
  return {
      "one node pool",
      {field<&C::instance_type>("instanceType", "EC2 instance type"),
       field<&C::purchase>(
           "purchaseOption",
           "on-demand, spot, spot-fallback, reserved, capacity-block or a price plan of the "
           "scenario"),
       field<&C::strategy>("strategy",
                           "exclusive, timeSlicing, mps, mig, mig+timeSlicing, vgpu, ...")
           .with(&Field::is_open, true),
       field<&C::replicas>("replicas", "pods per GPU or, with MIG, per instance"),
       field<&C::mig>("mig", "layout of every GPU that otherCuts does not name").optional(),
       field<&C::other_cuts>("otherCuts", "of the last GPUs of each node, in order").optional(),
       field<&C::workloads>("workloads", "that run there"),
       field<&C::mig_profiles>("migProfiles", "of the pods of each workload").optional(),
       field<&C::nodes>("nodes", "0: no number of nodes helps"),
       field<&C::on_demand>("onDemandNodes", "of them, bought so whatever the purchase option")
           .positive(),
       field<&C::unshared>("unsharedNodes",
                           "more of the type, not shared, for pods with several GPUs")
           .positive(),
       field<&C::elastic>("autoscaled", "the provisioner starts up to so many nodes").optional(),
       field<&C::least_nodes>("leastNodes", "of an autoscaled pool: there from the start")
           .positive(),
       field<&C::pods>("pods", "of each of the workloads; 0, or absent: as the scenario has it")
           .optional(),
       field<&C::serving>("serving", "of each of the workloads").optional(),
       field<&C::apart>("apart",
                        "classes of workloads of whose pods, all of a class together, a node has "
                        "one: by a required podAntiAffinity, which exports write")
           .optional(),
       field<&C::schedules>("schedules", "of some of the workloads").optional(),
       field<&C::scalings>("scalings", "of some of the workloads").optional()}};
}

Record declared(Of<PlannedObjective>) {
  using O = PlannedObjective;
  using R = ObjectiveResult;
  return {
      "one objective",
      {field<&O::workload>("workload", "workload or pipeline").csv(12, "workload"),
       field<&O::result, &R::name>("name", "objective, as in the scenario").csv(13, "objective"),
       field<&unit_of_planned>("unit", "of limit, value and ci95")
           .one_of("seconds ratio perSecond number")
           .csv(14, "unit"),
       field<&O::result, &R::at_least>("atLeast", "the limit is a lower one").optional(),
       field<&O::result, &R::limit>("limit", "at most, or at least").csv(15, "limit"),
       field<&O::result, &R::value>("value", "over all runs").csv(16, "value"),
       field<&O::result, &R::ci95>("ci95", "half width").csv(17, "ci95"),
       field<&O::result, &R::pass>("pass", "the value is within the limit").csv(18, "pass"),
       field<&O::result, &R::is_unasked>("unasked", "no request came: nothing is missed")
           .optional(),
       field<&O::result, &R::ratio>("ratio",
                                    "of the limit, or of the requests that may be lost, what is "
                                    "used up; above 1 it is missed"),
       field<&O::result, &R::lost>(
           "lost", "absent: no request was lost, or it is no quantile of requests")}};
}

Record declared(Of<OptionFigures>) {
  using F = OptionFigures;
  static const Record& pods = record_of<PodCounts>();
  return {
      "what the simulation found",
      {field<&F::replications>("replications", "runs"),
       same_figure<&F::monthly>(cost_record(), "monthlyUsd")
           .saying("nodes x price x 730 h")
           .csv(6, "monthlyUsd"),
       same_figure<&F::total>(cost_record(), "totalUsd").saying("of the run, mean per replication"),
       same_figure<&F::per_1k_in_slo>(cost_record(), "per1kRequestsInSloUsd")
           .saying("what Services pay of the nodes / thousands of requests in SLO")
           .csv(7, "per1kRequestsInSloUsd"),
       same_figure<&F::per_job>(cost_record(), "perJobUsd")
           .saying("what Jobs pay of the nodes / jobs that were finished")
           .csv(8, "perJobUsd"),
       field<&F::objectives>("objectives", "of all workloads and pipelines"),
       field<&F::worst_ratio>("worstRatio", "the largest of their ratios; 0 without objectives")
           .csv(9, "worstRatio")
           .column("OF LIMIT", 1),
       field<&F::latency_p99>("latencyP99Seconds", "of the slowest Service or pipeline")
           .column("P99"),
       field<&F::answers>("answers", "of Services without an objective").optional(),
       field<&F::work>("work", "of Jobs and Deployments without an objective").optional(),
       field<&F::unfinished_jobs>("unfinishedJobs",
                                  "that may be done in a longer run; of options of one price those "
                                  "come first that get done what others leave")
           .optional(),
       field<&F::gpu_busy>("gpuBusyRatio", "kernels run, share of all GPU time")
           .of(Unit::Ratio)
           .csv(10, "gpuBusyRatio")
           .column("BUSY", 2),
       same_figure<&F::failed>(pods, "failed", "failedPods"),
       same_figure<&F::oom_kills>(pods, "oomKilled", "oomKills"),
       same_figure<&F::running_max>(pods, "runningMax"),
       same_figure<&F::pending_max>(pods, "pendingMax"),
       field<&F::pending_at_limit>(
           "pendingAtLimit",
           "of them, where a Service scales and there were no more nodes for its pods")
           .positive(),
       field<&F::bound_by>("boundBy", "what limits its workloads, and which")
           .optional()
           .csv(19, "boundBy"),
       field<&F::unsure_gains>("unsureGains", "of sharing, which may be losses").optional(),
       field<&F::denied_by>("deniedBy", "policies with severity Deny that fail").optional(),
       field<&F::warned_by>("warnedBy", "policies with severity Warn that fail").optional(),
       field<&F::stands>("stands", "meets all objectives, loses no pod, and no policy denies it")
           .csv(kVerdictColumn, "stands"),
       field<&F::verdict, &Verdict::reasons>("reasons", "why it does not stand")
           .optional()
           .csv(kVerdictColumn + 1, "reasons", "brief")}};
}

Record declared(Of<SetUpRoute>) {
  using R = SetUpRoute;
  return {
      "a way to put it on a cluster",
      {field<&R::by>(
           "by", "devicePlugin, dra (NVIDIA's DRA driver), or autoMode (EKS Auto Mode as it is)"),
       field<&R::refused>("refused", "why it cannot; absent: it can").optional()}};
}

Record declared(Of<PlanOption>) {
  Record option{"a way to run all workloads", record_of<OptionFigures>().fields};
  for (Field& figure : option.fields) {
    figure = std::move(figure).from<&PlanOption::figures>();
  }
  option.fields.push_back(field<&PlanOption::pools>("pools", "empty: the scenario's own"));
  option.fields.push_back(
      field<&configuration_of>("configuration", "its pools as people write them")
          .optional()
          .csv(5, "configuration"));
  option.fields.push_back(field<&PlanOption::goal>("goal", "what is minimised"));
  option.fields.push_back(
      field<&PlanOption::pareto>(
          "pareto",
          "no ranked option that gets as much done is both cheaper and further from its limits")
          .optional()
          .csv(11, "pareto"));
  option.fields.push_back(
      field<&PlanOption::routes>("routes", "what sets it up, and why not; of ranked options")
          .optional());
  return option;
}

Record declared(Of<RejectedChoice>) {
  using R = RejectedChoice;
  return {
      "a configuration that is not an option",
      {field<&R::stage>("stage", "it cannot run, a closed form rules it out, or it was simulated"),
       field<&R::choice>("pool"), field<&R::code>("code", "stable code, if there is one"),
       field<&reason_text>("reason", "one sentence"), field<&R::figures>("figures")}};
}

Record declared(Of<ReplicasPoint>) {
  using R = ReplicasPoint;
  return {"one number of pods per GPU",
          {field<&R::replicas>("replicas", "pods per GPU").column("PODS PER GPU"),
           field<&R::nodes>("nodes", "as few as hold the pods").column("NODES"),
           field<&R::refused>("refused", "why it cannot run").optional(),
           field<&R::figures>("figures")}};
}

Record declared(Of<RecordedBill>) {
  using B = RecordedBill;
  return {
      "what recorded jobs cost as they were run: each alone on its GPUs, paid while it held them",
      {field<&B::gpu_hours>("gpuHours", "of all jobs"),
       field<&B::total>("totalUsd", "on-demand, by the GPU"),
       field<&B::instance_types>("instanceTypes", "whose GPUs").each("EC2 instance type"),
       field<&B::assumed>(
           "assumed", "the trace does not say the GPU of some jobs: the scenario's own is taken")
           .optional()}};
}

Record declared(Of<PlannedRegion>) {
  using R = PlannedRegion;
  return {"another region, in which the same nodes cost something else",
          {field<&R::region>("region", "by its name"),
           field<&R::rank>("option", "the cheapest there, by its rank from 1 on; absent: none"),
           field<&R::monthly>("monthlyUsd", "of its nodes there"),
           field<&R::missing>("missing", "why no option can be bought there").optional()}};
}

Record declared(Of<PlannedSpan>) {
  using S = PlannedSpan;
  return {
      "months with the same pools",
      {field<&S::from>("fromMonth", "the first, from 1 on"), field<&S::to>("toMonth", "the last"),
       field<&S::traffic>("trafficFactor", "times the scenario's traffic, in the last"),
       field<&S::option>("option", "as it was found")}};
}

Record declared(Of<PlannedCommitment>) {
  using C = PlannedCommitment;
  return {"nodes that are paid for through a term",
          {field<&C::instance_type>("instanceType", "EC2 instance type"),
           field<&C::kind>("kind", "term and payment"),
           field<&C::source>("source", "of the discount, and when it was seen"),
           field<&C::discount>("discountRatio", "of the price by the hour"),
           field<&C::from>("fromMonth", "at whose beginning it is bought"),
           field<&C::months>("termMonths", "that it lasts"), field<&C::nodes>("nodes", "so many"),
           field<&C::upfront>("upfrontUsd", "of all of them, at once"),
           field<&C::price>("termUsd", "of all of them, over the whole term"),
           field<&C::saves>("savesUsd", "against the price by the hour, over the horizon"),
           field<&C::pays_off>("paysOffInMonth",
                               "by whose end as much would have been paid by the hour")}};
}

Record declared(Of<PlanOverTime>) {
  using P = PlanOverTime;
  return {"what the option that costs least over all months becomes while traffic grows",
          {field<&P::rank>("rank", "of the option, among all").optional(),
           field<&P::months>("months", "of the horizon"),
           field<&P::growth>("growthRatio", "of the traffic, from month to month"),
           field<&P::spans>("spans", "in order"),
           field<&P::next_node>("nextNodeInMonth", "from which more nodes are needed"),
           field<&P::fails_from>("failsFromMonth", "from which nothing that was tried stands"),
           field<&P::commitments>("commitments", "that pay off within the horizon").optional(),
           field<&P::without_rate>("withoutRate", "of which no discount is known")
               .each("instance type")
               .optional(),
           field<&P::by_the_hour>("byTheHourUsd", "of all spans"),
           field<&P::total>("totalUsd", "with the commitments")}};
}

Record declared(Of<PlanCounts>) {
  using C = PlanCounts;
  return {"what the search took",
          {field<&C::configurations>("configurations",
                                     "instance type x purchase x strategy x replicas"),
           field<&C::refused>("refused", "that cannot run"),
           field<&C::bounded>("bounded", "that closed forms rule out"),
           field<&C::simulations>("simulations", "that found the ranking"),
           field<&C::exhaustive>("exhaustive", "of every configuration with every number of nodes"),
           field<&C::replications>("replications", "that were run in all")}};
}

Record declared(Of<Plan>) {
  using P = Plan;
  return {
      "What `slicewise plan -o json` prints and `slicewise export` reads. SI units in the keys; "
      "fields that do not apply are absent. Keys are added, never renamed.",
      {constant("apiVersion", kPlanApiVersion),
       constant("kind", "Plan"),
       group("metadata", &once<plan_metadata>),
       field<&P::placeholders>(
           "placeholders",
           "workloads whose load and GPU time are made up: no option is recommended")
           .optional(),
       field<&P::options>("options", "best first"),
       field<&P::least_monthly>(
           "lowerBoundUsdPerMonth",
           "of what was tried no fleet costs less, with any numbers of pods that may be chosen, if "
           "memory is to fit however pods meet and nobody is better off with more neighbours; "
           "absent: not known"),
       field<&P::control_plane_monthly>(
           "controlPlaneMonthlyUsd",
           "EKS's fee for the cluster x 730 h, in no option's monthlyUsd: the same beside any")
           .optional(),
       field<&P::rooms>("gpuRooms", "what a GPU of the best option holds").optional(),
       field<&P::today>("today", "the scenario's own node pools"),
       field<&P::keep_as_is>("keepAsIs",
                             "the scenario's own node pools stand and no option is better: there "
                             "is nothing to change")
           .optional(),
       field<&P::path>("path"),
       field<&P::over_time>("overTime"),
       field<&P::as_run>("asRun"),
       field<&P::rejected>("rejected", "in the order of the search"),
       field<&P::nearest>("nearest", "what would have to change, where there is no option")
           .optional(),
       group("replicasCurve", &once<replicas_curve>).when<&has_curve>(),
       group("headroom", &once<headroom_of_plan>).when<&has_headroom>(),
       field<&P::flips>("flips", "smallest change first"),
       field<&P::measure_next>("measureNext"),
       field<&P::other_pods>("withOtherPods",
                             "with one pod of a Service more or fewer, where that is cheaper; with "
                             "more, where nothing else stands")
           .optional(),
       field<&P::over_days>("overWholeDays",
                            "the first option as it is over whole days, beside what is scaled down "
                            "at night; absent: no load falls every day"),
       field<&P::by_load>("withAutoscaling",
                          "the first with autoscalers for its Services, on nodes that come and go "
                          "with their pods, over whole days; it may not stand"),
       field<&P::scheduled>("withSchedule",
                            "an option with schedules for its Services, on nodes that come and go "
                            "with their pods, where that is cheaper than the first"),
       field<&P::unselected>("withoutSelectors"),
       field<&P::kept_apart>("ifKeptApart",
                             "that of the options which is cheaper because pods that do not fit "
                             "one GPU together are kept apart, see apart"),
       field<&P::sm_active>("smActive"),
       field<&P::confirmed>("confirmed"),
       field<&P::risk>("risk"),
       field<&P::spot>("spotRisks", "of the best option").optional(),
       field<&P::regions>("otherRegions", "that were asked for, with the cheapest option of each")
           .optional(),
       field<&P::counts>("counts"),
       field<&P::provenance>("inputs").as(&once<inputs_of_best>),
       field<&P::notes>("notes", "what the user should know").as(&finding_record)}};
}

}  // namespace slicewise::sim

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/isolation.hpp"
#include "slicewise/sim/plan_record.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../screens/comparison_words.hpp"
#include "csv_documents.hpp"
#include "csv_rows.hpp"
#include "document_text.hpp"
#include "documents.hpp"
#include "record_json.hpp"

namespace slicewise::sim {

namespace {

constexpr std::string_view kComparisonApiVersion = "slicewise.dev/comparison.v1alpha1";

using Role = DiffFigure::Role;

std::string gpu_model_of(const ComparedOption& o) { return o.result.node_pools.front().gpu_model; }
int gpus_per_node(const ComparedOption& o) { return o.result.node_pools.front().gpus_per_node; }
bool is_stock_option(const ComparedOption& o) { return is_stock(o.configuration.strategy); }
std::string_view memory_level(const Isolation& i) { return level_name(i.memory); }
std::string_view compute_level(const Isolation& i) { return level_name(i.compute); }
std::string_view fault_level(const Isolation& i) { return level_name(i.fault); }
// The instances of the only profile; without MIG none.
const models::MigCount& only_profile(const ComparedOption& o) {
  static const models::MigCount none{"", 0};
  const sim::PoolChoice& configuration = o.configuration;
  const bool uniform = configuration.mig.size() == 1 && configuration.other_cuts.empty();
  return uniform ? configuration.mig.front() : none;
}
std::string profile_of(const ComparedOption& o) { return only_profile(o).profile; }
int instances_of(const ComparedOption& o) { return only_profile(o).count; }
std::string refused_profile_of(const RefusedOption& o) {
  const auto& mig = o.configuration.mig;
  return mig.empty() || mig.front().count == 0 ? "" : mig.front().profile;
}

struct IsolationRow {
  Strategy strategy = Strategy::Exclusive;
  Isolation isolation;
};
std::string_view isolation_in_words(const IsolationRow& row) {
  return reports::isolation_meaning(row.strategy);
}
std::vector<IsolationRow> isolation_rows(const StrategyComparison&) {
  std::vector<IsolationRow> rows;
  rows.reserve(kStrategies.size());
  for (const Strategy strategy : kStrategies) rows.push_back({strategy, isolation_of(strategy)});
  return rows;
}

const Record& compared_pods() {
  static const Record declared = [] {
    const Record& pods = record_of<PodCounts>();
    return Record{pods.meaning,
                  {pods.like("submitted"), pods.like("runningMax").csv(21, "podsRunningMax"),
                   pods.like("pendingMax").csv(22, "podsPendingMax"), pods.like("succeeded"),
                   pods.like("failed").csv(23, "podsFailed"),
                   pods.like("oomKilled").csv(24, "podsOomKilled")}};
  }();
  return declared;
}

const Record& compared_workload() {
  using W = WorkloadResult;
  static const Record declared = [] {
    const Record& whole = record_of<W>();
    return Record{
        whole.meaning,
        {whole.like("name").csv(31, "workload"), whole.like("kind").csv(32, "kind"),
         whole.like("unitName").csv(33, "unitName"), whole.like("completed").csv(34, "completed"),
         whole.like("throughputPerSecond").required().csv(35, "throughputPerSecond"),
         whole.like("goodputPerSecond")
             .required()
             .saying("units that met every objective, per second")
             .csv(36, "goodputPerSecond"),
         field<&W::latency, &TimeSummary::p50>("latencyP50Seconds", "from arrival to response")
             .csv(37, "latencyP50Seconds"),
         field<&W::latency, &TimeSummary::p95>("latencyP95Seconds", "from arrival to response")
             .csv(38, "latencyP95Seconds"),
         field<&W::latency, &TimeSummary::p99>("latencyP99Seconds", "from arrival to response")
             .csv(39, "latencyP99Seconds")
             .diff({.role = Role::Latency, .rank = 1, .name = "latencyP99"}),
         field<&W::job_completion, &TimeSummary::p95>("jobCompletionP95Seconds",
                                                      "from submission to success")
             .csv(40, "jobCompletionP95Seconds")
             .diff({.role = Role::Latency, .rank = 2, .name = "jobCompletionP95"}),
         whole.like("boundBy"), whole.like("objectives")}};
  }();
  return declared;
}

const Record& compared_cost() {
  static const Record declared = [] {
    const auto like = [](std::string_view key) {
      return cost_record().like(key).from<&ComparedOption::result>();
    };
    return Record{
        cost_record().meaning,
        {like("totalUsd")
             .saying("nodes x time x price; the sum of the six parts below, exactly")
             .csv(27, "totalUsd"),
         like("usefulUsd"), like("idleUsd"), like("switchUsd"), like("failedUsd"),
         like("coldStartUsd").saying("image pull and model load on an otherwise idle GPU"),
         like("missedSloUsd"),
         field<&ComparedOption::price, &UsdPerHour::per_hour>("usdPerHour", "price of all nodes")
             .csv(26, "usdPerHour")
             .column("$/H")
             .diff({.role = Role::Cost, .rank = 2, .title = "$/h", .condition = "cost"}),
         like("perJobUsd").csv(28, "perJobUsd"),
         like("per1kRequestsInSloUsd").csv(29, "per1kRequestsInSloUsd"),
         field<&ComparedOption::per_work_hour>(
             "perWorkHourUsd",
             "price of the work that pods alone on the GPU they were measured on would do in an "
             "hour, within the objectives; ranks options whatever the mix of workloads")
             .csv(30, "perWorkHourUsd")
             .column("$/WORK-H")
             .diff({.role = Role::Cost, .rank = 6, .title = "$/hour of work"})}};
  }();
  return declared;
}

const Record& comparison_metadata() {
  using C = StrategyComparison;
  static const Record declared{
      "what produced the comparison; the same values produce the same bytes",
      {stamp_field<C>("scenario").csv(1, "scenario"),
       stamp_field<C>("scenarioSha256"),
       stamp_field<C>("inputs"),
       stamp_field<C>("variant").csv(2, "variant"),
       stamp_field<C>("seed")
           .saying("seed of the random streams, the same for every option")
           .csv(3, "seed"),
       stamp_field<C>("replications").saying("runs per option that were asked for"),
       stamp_field<C>("version"),
       field<&C::instance_types>("instanceTypes", "compared, in this order")
           .each("EC2 instance type"),
       field<&C::nodes>("nodes",
                        "of every option, when asked for; else as few as hold all pods at once"),
       stamp_field<C>("priceDate"),
       stamp_field<C>("priceFile"),
       stamp_field<C>("priceFileSha256"),
       stamp_field<C>("catalogueFiles"),
       stamp_field<C>("catalogueSha256"),
       stamp_field<C>("allowPending"),
       stamp_field<C>("startsAt"),
       field<&C::goal>("goal", "what makes an option the best; absent: perWorkHourUsd"),
       field<&C::max_monthly_cost>("maxMonthlyUsd", "of --max-cost: what costs more is too dear"),
       field<&C::sampled_inputs>("sampledInputs", "--inputs sampled: each replication drew its own")
           .optional(),
       field<&C::interrupted>("interrupted",
                              "some replications were not run; options without any are absent")
           .optional()}};
  return declared;
}

}  // namespace

template <>
struct Spelling<ReplicaChoice::Rule> {
  using Rule = ReplicaChoice::Rule;
  static constexpr bool kListed = true;
  static constexpr Rule kAll[] = {Rule::Asked, Rule::Scenario, Rule::PodsOnOneNode,
                                  Rule::GpuMemory};
  static constexpr std::string_view of(Rule rule) {
    switch (rule) {
      case Rule::Asked:
        return "asked";
      case Rule::Scenario:
        return "scenario";
      case Rule::PodsOnOneNode:
        return "podsOnOneNode";
      case Rule::GpuMemory:
        return "gpuMemory";
    }
    return "podsOnOneNode";
  }
};

template <>
const Record& record_of<Isolation>() {
  static const Record declared{
      "what separates two of its pods on one GPU",
      {field<&memory_level>("memory", "what keeps a pod from its neighbour's GPU memory")
           .one_of("none processLimit hardware")
           .csv(18, "memoryIsolation"),
       field<&compute_level>("compute", "what keeps a neighbour from slowing a pod down")
           .one_of("none cap hardware")
           .csv(19, "computeIsolation"),
       field<&fault_level>("fault",
                           "what a fatal GPU fault of a pod takes with it: its process, all pods "
                           "of the GPU, or its own hardware partition")
           .one_of("process shared hardware")
           .csv(20, "faultIsolation")}};
  return declared;
}

template <>
const Record& record_of<IsolationRow>() {
  static const Record declared = [] {
    const Record& levels = record_of<Isolation>();
    const auto like = [&](std::string_view key) {
      return levels.like(key).from<&IsolationRow::isolation>();
    };
    return Record{"what separates two pods on one GPU",
                  {like("memory"), like("compute"), like("fault"),
                   field<&IsolationRow::strategy>("strategy", "how its GPUs are shared"),
                   field<&isolation_in_words>("meaning", "the same in words")}};
  }();
  return declared;
}

namespace {

// What stands before its outcome.
std::vector<Field> fields_of_choice() {
  using O = ComparedOption;
  using C = PoolChoice;
  return {
      field<&O::configuration, &C::instance_type>("instanceType", "EC2 instance type")
          .csv(4, "instanceType"),
      field<&gpu_model_of>("gpuModel", "catalogue name of its GPUs"),
      field<&gpus_per_node>("gpusPerNode", "GPUs of a node"),
      field<&O::configuration, &C::nodes>("nodes",
                                          "as few as hold all pods at once, unless asked for")
          .csv(9, "nodes")
          .setting(1),
      field<&O::configuration, &C::unshared>("unsharedNodes",
                                             "more of the type, not shared, for pods with several "
                                             "GPUs")
          .positive(),
      field<&O::configuration, &C::strategy>("strategy", "how its GPUs are shared")
          .csv(5, "strategy"),
      field<&reports::option_title>("title", "the configuration as people write it")
          .csv(42, "title"),
      field<&O::yours>("yours", "the scenario as it stands").optional().csv(41, "yours"),
      field<&O::configuration, &C::replicas>("replicas", "pods per GPU, or per MIG instance")
          .csv(6, "replicas"),
      field<&O::configuration, &C::purchase>("purchaseOption",
                                             "of --purchase; absent: as the scenario buys")
          .optional(),
      field<&profile_of>("migProfile", "profile of all instances; several: see title")
          .optional()
          .csv(7, "migProfile")
          .setting(5),
      field<&instances_of>("migInstancesPerGpu", "instances of each GPU")
          .positive()
          .csv(8, "migInstancesPerGpu")
          .setting(6),
      field<&O::configuration, &C::mig>("mig", "layout of every GPU that otherCuts does not name")
          .optional(),
      field<&O::configuration, &C::other_cuts>("otherCuts",
                                               "of the last GPUs of each node, in order")
          .optional(),
      field<&O::configuration, &C::mig_profiles>(
          "migProfiles", "of the pods of each workload, where a layout was made for them")
          .optional(),
      field<&O::configuration, &C::serving>("serving", "of each workload with pods").optional(),
      field<&O::forced>("forced", "simulated because of --force: nobody offers it")
          .csv(16, "forced")
          .setting(8),
      field<&is_stock_option>("stock", "NVIDIA's device plugin can set it up as it is shipped")
          .csv(17, "stock"),
      field<&O::by_dra>("byDra", "NVIDIA's DRA driver sets it up (--dra)")
          .optional()
          .csv(43, "byDra")
          .setting(9)};
}

std::vector<Field> fields_of_outcome() {
  using O = ComparedOption;
  return {
      field<&O::too_dear>("tooDear", "costs more a month than --max-cost")
          .optional()
          .csv(44, "tooDear")
          .setting(10),
      field<&O::goal>("goal", "what --objective asks for the least of, in dollars or seconds"),
      field<&O::retired>("retired", "AWS no longer offers the instance type")
          .csv(15, "retired")
          .setting(7),
      field<&O::unfinished>("unfinished",
                            "workloads with Jobs that the run was over before, where another "
                            "option gets all of them done; such an option is never the best")
          .each("workload")
          .optional(),
      field<&O::best>(
          "best",
          "cheapest work, or least of the goal, of the options that meet every objective, lose no "
          "pod, leave no Job unfinished that another gets done, and can be had")
          .csv(12, "best")
          .setting(2),
      field<&O::result, &VariantResult::verdict, &Verdict::meets_objectives>(
          "meetsObjectives", "all objectives of all workloads")
          .csv(13, "meetsObjectives")
          .setting(3),
      field<&O::result, &VariantResult::verdict, &Verdict::loses_pods>(
          "losesPods", "some pods died, stayed Pending or ran out of memory")
          .csv(14, "losesPods")
          .setting(4),
      field<&O::result, &VariantResult::verdict>("verdict"),
      field<&reports::isolation_of>("isolation"),
      record_of<VariantResult>().like("replications").from<&O::result>(),
      field<&O::result, &VariantResult::makespan, &TimeSummary::mean>("lengthSeconds",
                                                                      "length of the run, mean"),
      field<&O::gpu_busy_ratio>("gpuBusyRatio", "share of all GPU time in which a kernel ran")
          .of(Unit::Ratio)
          .csv(25, "gpuBusyRatio"),
      field<&O::result, &VariantResult::pods>("pods").as(&compared_pods),
      field<&O::result, &VariantResult::workloads>("workloads", "in the order of the scenario")
          .as(&compared_workload),
      group("cost", &compared_cost),
      field<&O::result, &VariantResult::findings>("findings", "in the order found")
          .as(&finding_record)};
}

}  // namespace

template <>
const Record& record_of<ComparedOption>() {
  static const Record declared = [] {
    std::vector<Field> fields = fields_of_choice();
    std::ranges::move(fields_of_outcome(), std::back_inserter(fields));
    return Record{"a configuration that was simulated", std::move(fields)};
  }();
  return declared;
}

template <>
const Record& record_of<RefusedOption>() {
  using O = RefusedOption;
  using C = PoolChoice;
  static const Record declared{
      "a configuration that cannot be had",
      {field<&O::configuration, &C::instance_type>("instanceType", "EC2 instance type"),
       field<&O::configuration, &C::strategy>("strategy", "how its GPUs are shared"),
       field<&O::configuration, &C::purchase>("purchaseOption", "of --purchase").optional(),
       field<&O::configuration, &C::serving>("serving", "of each workload with pods").optional(),
       field<&refused_profile_of>("migProfile", "profile of all instances").optional(),
       field<&O::code>("code", "stable code, when the reason has one").csv(10, "refusedCode"),
       field<&O::message>("message", "why it cannot be had").csv(11, "refusedMessage")}};
  return declared;
}

template <>
const Record& record_of<ReplicaChoice>() {
  using R = ReplicaChoice;
  static const Record declared{"how many pods share a GPU",
                               {field<&R::instance_type>("instanceType", "EC2 instance type"),
                                field<&R::replicas>("replicas", "pods per time-sliced GPU"),
                                field<&R::mps_replicas>("mpsReplicas", "pods per GPU with MPS"),
                                field<&R::rule>("rule", "where the number comes from")}};
  return declared;
}

template <>
const Record& record_of<StrategyComparison>() {
  using C = StrategyComparison;
  static const Record declared{
      "What `slicewise compare -o json` prints. SI units in the keys; fields that do not apply are "
      "absent. Keys are added, never renamed.",
      {constant("apiVersion", kComparisonApiVersion), constant("kind", "Comparison"),
       group("metadata", &comparison_metadata),
       field<&C::options>("options",
                          "the scenario as it stands, then by instance type and strategy"),
       field<&C::refused>("refused", "by instance type, then strategy"),
       field<&isolation_rows>("isolation", "one row per strategy"),
       field<&C::replicas>("replicas", "one per instance type"),
       field<&C::notes>("notes", "what was changed in the scenario to compare it")
           .as(&finding_record)}};
  return declared;
}

}  // namespace slicewise::sim

namespace slicewise::reports {

using nlohmann::json;

std::string csv_of(const sim::StrategyComparison& comparison) {
  const json document = described_json(comparison);
  const DocumentCsv table(sim::record_of<sim::StrategyComparison>());
  std::string out = table.header();
  for (const json& option : document["options"]) {
    for (const json& workload : option["workloads"]) out += table.row(document, option, workload);
  }
  for (const json& refused : document["refused"]) {
    out += table.row(document, refused, json::object());
  }
  return out;
}

}  // namespace slicewise::reports

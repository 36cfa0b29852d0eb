#include <algorithm>

#include "../fields/node_values.hpp"
#include "../traces/trace_files.hpp"
#include "blocks.hpp"

// A file as a whole: apiVersion, kind, metadata and spec.
namespace slicewise::scenarios {
namespace {

using T = FieldType;

constexpr std::int64_t kAnyInteger = std::numeric_limits<std::int64_t>::max();

constexpr Word kApiVersions[] = {"slicewise.dev/v1alpha1"};
constexpr Word kDocumentKinds[] = {"Scenario"};
constexpr Word kUntil[] = {"AllJobsDone"};
constexpr auto kFidelityWords = words_of(kFidelities);
constexpr Word kPodQueueWords[] = {
    {"backfill", PodQueue::Backfill}, {"fifo", PodQueue::Fifo},
    {"easy", PodQueue::Easy},         {"priority", PodQueue::Priority},
    {"srtf", PodQueue::ShortestTime}, {"srsf", PodQueue::ShortestService}};
constexpr Word kScorePolicyWords[] = {{"LeastAllocated", ScorePolicy::LeastAllocated},
                                      {"MostAllocated", ScorePolicy::MostAllocated}};
constexpr auto kSplitWords = words_of(kCostSplits);
constexpr Word kControlPlaneWords[] = {{"standard", ControlPlane::Standard},
                                       {"extended", ControlPlane::Extended},
                                       {"none", ControlPlane::None}};
constexpr Word kInputWords[] = {
#define X(id, word) {word, InputKind::id},
    SLICEWISE_INPUT_KINDS(X)
#undef X
};

void check_end(const Node& spec, const Scenario& scenario, Findings& findings) {
  const Entry* duration = spec.entry("duration");
  if (duration != nullptr && spec.entry("until") != nullptr) {
    const SourceLocation first = duration->key_where;
    const SourceLocation second = spec.entry("until")->key_where;
    const bool in_order = first.line <= second.line;
    findings.add(Code::SettingConflict, in_order ? second : first,
                 "duration and until are both set", "a run has one end: remove one of the two");
  }
  if (scenario.duration && scenario.warmup >= *scenario.duration) {
    findings.add(Code::SettingConflict, value_place(spec, "warmup"),
                 "warmup is not shorter than duration",
                 "nothing would be left to measure: shorten warmup");
  }
}

// Without an end the last holds for ever.
Rate mean_of_steps(const std::vector<RateStep>& steps, std::optional<Duration> run) {
  if (!run || steps.empty()) return steps.empty() ? Rate{} : steps.back().rate;
  double requests = 0;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Duration end = s + 1 < steps.size() ? std::min(steps[s + 1].at, *run) : *run;
    requests += steps[s].rate.per_second * std::max(0.0, to_seconds(end - steps[s].at));
  }
  return {requests / to_seconds(*run)};
}

// What is sent in this run is known once its length is.
void set_mean_over(std::optional<Duration> run, Traffic& traffic) {
  if (const auto* clients = std::get_if<ClientTraffic>(&traffic.shape)) {
    traffic.mean = mean_rate(*clients, run);
  } else if (const auto* steps = std::get_if<std::vector<RateStep>>(&traffic.shape)) {
    traffic.mean = mean_of_steps(*steps, run);
  }
}

void check_sensitivity(Sensitivity& sensitivity, const Node& map, Reading& reading) {
  if (sensitivity.by < 1) return;
  reading.findings.add(Code::ValueRange, value_place(map, "by"),
                       "an input that is varied by 100% would be gone",
                       "write less, 20% for example");
}

// Where nobody asks for several replicas it is all the same what becomes of such pods: nobody is to
// be misled by them. What a file says stands.
void refuse_several(Scenario& scenario, const Node& spec) {
  const bool asked = std::ranges::any_of(scenario.workloads, [](const Workload& workload) {
    return std::ranges::any_of(workload.pod.extended,
                               [](const ExtendedRequest& request) { return request.count > 1; });
  });
  const Node* pools = spec.find("nodePools");
  if (asked || pools == nullptr) return;
  for (NodePool& pool : scenario.node_pools) {
    if (!pool.device_plugin || !pool.device_plugin->time_slicing) continue;
    for (const NodePtr& written : pools->items) {
      const Node* name = written->find("name");
      if (name == nullptr || name->text != pool.name.value) continue;
      const Node* mode =
          block(block(block(written.get(), "devicePlugin"), "sharing"), "timeSlicing");
      if (is_set(mode, "failRequestsGreaterThanOne")) continue;
      pool.device_plugin->time_slicing->fail_requests_greater_than_one = true;
    }
  }
}

void finish_scenario(Scenario& scenario, const Node& spec, Reading& reading) {
  scenario.where = spec.where;
  scenario.region_where = value_place(spec, "region");
  if (spec.entry("controlPlane") == nullptr) scenario.control_plane = ControlPlane::Standard;
  check_end(spec, scenario, reading.findings);
  check_node_ranges(scenario, reading.findings);
  expand_traces(scenario, reading);
  expand_schedules(scenario, spec, reading.findings);
  check_windows(scenario, reading.findings);
  check_claims(scenario, spec, reading.findings);
  check_queues(scenario, spec, reading.findings);
  check_parts(scenario, reading.findings);
  refuse_several(scenario, spec);
  for (Workload& workload : scenario.workloads) {
    if (workload.traffic) set_mean_over(scenario.duration, *workload.traffic);
  }
  for (Pipeline& pipeline : scenario.pipelines) {
    set_mean_over(scenario.duration, pipeline.traffic);
  }
  check_pipelines(scenario, reading.findings);
  finish_planning(scenario, spec, reading.findings);
  parse_policies(scenario, spec, reading.findings);
}

constexpr Field kSensitivityFields[] = {
    field<&Sensitivity::vary>(
        "vary", "[traffic, requestGpuTime]",
        "Kinds of inputs that `slicewise sensitivity` varies, one input at a time.")
        .as(T::Words)
        .one_of(kInputWords)
        .otherwise("all that the scenario has"),
    field<&Sensitivity::by>("by", "10%", "How far up and down; less than 100%.")
        .as(T::Percent)
        .positive(),
};
constexpr FieldList kSensitivity = block<Sensitivity, &check_sensitivity>(kSensitivityFields);

constexpr Field kVariantFields[] = {
    plain(T::Name, "name", "after", "Name of the variant.").needed(),
    plain(T::Text, "description", "Time-slicing x10, 20 pods.", "What it shows, for reports."),
    plain(T::Patch, "patch", "{workloads: [{name: cifar10, count: 20}]}",
          "Part of spec. Mappings merge, lists merge by name (other lists replace), null removes."),
};
constexpr FieldList kVariant = list(kVariantFields);

constexpr Field kSchedulerFields[] = {
    field<&Scenario::score_policy>("scorePolicy", "MostAllocated",
                                   "kube-scheduler's NodeResourcesFit: spread pods, or pack them.")
        .one_of(kScorePolicyWords),
    field<&Scenario::placement>("placement", "fgd",
                                "Policy of `slicewise replay` that chooses the node of a pod; the "
                                "device plugin still chooses its GPU.")
        .one_of(WordList{kPlacements.data(), kPlacements.size() - kSharingPlacements})
        .otherwise("kube-scheduler's score, scorePolicy"),
    field<&Scenario::pod_queue>(
        "queue", "fifo",
        "Whether a Pending pod that fits nowhere holds up those behind it (fifo), lets those by "
        "that do not delay it (easy), or all (backfill, as kube-scheduler). priority is backfill "
        "that takes the place of pods of lower priority, whose jobs start over; srtf and srsf run "
        "the jobs with the least time, or time x GPUs, left, and those that they stop go on later "
        "from where they were.")
        .one_of(kPodQueueWords),
};
constexpr FieldList kScheduler = block<Scenario>(kSchedulerFields);

constexpr Field kSpecFields[] = {
    field<&Scenario::region>("region", "us-east-1", "AWS region, for prices.").positive(),
    field<&Scenario::profile_files>(
        "profileFiles", "[profiles.yaml]",
        "Profiles, GPUs, nodes and prices of your own (slicewise calibrate --out), by paths from "
        "the folder of this file; a folder is all its files. As --catalogue, whose files are laid "
        "over these.")
        .positive(),
    field<&Scenario::duration>("duration", "24h",
                               "Simulated time. Absent: until every Job is done.")
        .positive(),
    field<&Scenario::starts_at>("startsAt", "Mon 08:00",
                                "Day of the week and time of day at which the run starts, UTC. "
                                "Absent: plan, compare and max-load start where Diurnal traffic is "
                                "at its busiest, if that is not in the run from Mon 00:00 on.")
        .as(T::WeekTime)
        .otherwise("Mon 00:00"),
    plain(T::Word, "until", "AllJobsDone", "End of the run, in place of duration.")
        .one_of(kUntil)
        .otherwise("AllJobsDone, unless duration is set"),
    field<&Scenario::warmup>("warmup", "10m", "Start of the run that latency figures leave out."),
    field<&Scenario::seed>("seed", "42", "Seed of the random streams.").up_to(kAnyInteger),
    field<&Scenario::replications>("replications", "10",
                                   "Independent runs behind the 95 % intervals.")
        .between(1, 100'000),
    field<&Scenario::fidelity>("fidelity", "exact",
                               "exact simulates every GPU burst, auto only where it matters.")
        .one_of(kFidelityWords),
    inner("scheduler", "{scorePolicy: MostAllocated}", "Settings of kube-scheduler.")
        .of(kScheduler),
    field<&Scenario::node_pools>("nodePools", "[{name: v100, instanceType: p3.8xlarge}]",
                                 "Groups of equal nodes.")
        .needed()
        .positive()
        .of(kNodePool),
    field<&Scenario::provisioner>(
        "provisioner", "{kind: Karpenter, consolidateAfter: 5m}",
        "Who adds and removes nodes of pools with nodes {min, max}, and how long a new node takes.")
        .of(kProvisioner),
    field<&Scenario::gpu_software>(
        "gpuSoftware", "{pluginRelease: kube-system/nvidia-device-plugin, pluginVersion: 0.17.1}",
        "What serves the GPUs of the cluster that is there, as `import k8s` reads it: exports keep "
        "it or take its place.")
        .of(kGpuSoftware),
    field<&Scenario::claims>("resourceClaims", "[{name: asr-gpu}]",
                             "Devices of NVIDIA's DRA driver that pods claim by "
                             "podTemplate.resourceClaim, on node pools with `dra: true`.")
        .of(kResourceClaim),
    field<&Scenario::flavors>("resourceFlavors",
                              "[{name: spot, nodeLabels: {karpenter.sh/capacity-type: spot}}]",
                              "Kueue's ResourceFlavors: nodes that quotas tell apart.")
        .of(kResourceFlavor),
    field<&Scenario::cluster_queues>(
        "clusterQueues",
        "[{name: research, cohortName: labs, resourceGroups: [{coveredResources: [nvidia.com/gpu], "
        "flavors: [{name: spot, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]}]}]",
        "Kueue's ClusterQueues: what the Jobs that name one (workloads.queue) may have at a time. "
        "A Job that is not admitted is suspended: it has no pods.")
        .of(kClusterQueue),
    field<&Scenario::kai_queues>(
        "kaiQueues", "[{name: research, quota: 4, limit: 8, overQuotaWeight: 2}]",
        "KAI scheduler's Queues, on node pools with `kai: true`: the GPUs that Jobs that name one "
        "(workloads.queue) have at a time, in parts, too. What is left beyond the quotas is shared "
        "by weight; whoever has more stops where another wants its share.")
        .of(kKaiQueue),
    field<&Scenario::workloads>("workloads", "[{name: cifar10, kind: Job, count: 5}]", "What runs.")
        .needed()
        .positive()
        .of(kWorkload),
    field<&Scenario::pipelines>("pipelines",
                                "[{name: voice, traffic: {mean: 12/s}, stages: [{workload: asr}, "
                                "{workload: tts, after: [asr]}]}]",
                                "Requests that pass through several Services.")
        .positive()
        .of(kPipeline),
    field<&Scenario::planning>(
        "planning", "{instanceTypes: [g4dn.xlarge, g5], strategies: [timeSlicing, mps]}",
        "What `slicewise plan` may choose from; what is absent is left to it.")
        .of(kPlanning),
    inner("objective", "{minimize: costPer1kInSlo}",
          "What `slicewise plan` minimises among the configurations that meet every slo.")
        .of(kGoal),
    field<&Scenario::isolation>("isolation", "{require: [memory, fault], between: namespaces}",
                                "What must stand between pods on one GPU.")
        .of(kIsolation),
    field<&Scenario::policies>(
        "policies", "[{name: budget, assert: cost.monthly <= 1500}]",
        "What must hold for the result. One that asks for a figure which a run does not have, "
        "such as headroom of plan's, is not judged there: POLICY_NOT_JUDGED.")
        .of(kPolicy),
    inner("pricing", "{plans: {p4d.24xlarge: {type: savingsPlan3y, discount: 43%}}}",
          "Prices other than those of the catalogue.")
        .of(kPricing),
    field<&Scenario::cost_split>(
        "costSplit", "gpu-time",
        "By what the bill of a node is split over its pods: dominant, the largest part of GPUs, "
        "GPU memory, CPU or memory that a pod holds; gpu-time, the time of its kernels; requests, "
        "what it asks for, as OpenCost weighs it.")
        .one_of(kSplitWords),
    field<&Scenario::control_plane>(
        "controlPlane", "extended",
        "EKS's fee for the cluster in the bill: standard, $0.10 an hour; extended, $0.60, for "
        "Kubernetes versions in extended support; none, where others pay it.")
        .one_of(kControlPlaneWords)
        .otherwise("standard"),
    field<&Scenario::sensitivity>("sensitivity", "{vary: [traffic, requestGpuTime], by: 10%}",
                                  "What `slicewise sensitivity` varies.")
        .of(kSensitivity),
    plain(T::Blocks, "variants",
          "[{name: before, patch: {nodePools: [{name: v100, devicePlugin: null}]}}]",
          "Changes to spec, each simulated on its own in place of spec itself.")
        .positive()
        .of(kVariant),
    plain(T::Sweep, "sweep", "{nodePools.v100.instanceType: [p3.8xlarge, g5.12xlarge]}",
          "Dotted paths below spec and the values each takes; every combination is simulated, for "
          "every variant."),
};
constexpr FieldList kSpec = block<Scenario, &finish_scenario>(kSpecFields);

constexpr Field kMetadataFields[] = {
    field<&ScenarioSet::name>("name", "aws-cifar10", "Name of the scenario.").as(T::Name).needed(),
    plain(T::Labels, "labels", "{team: vision}", "For your own use."),
    field<&ScenarioSet::annotations>("annotations", "{slicewise.dev/source: https://example.com}",
                                     "For your own use; reports carry it."),
};
constexpr FieldList kMetadata = block<ScenarioSet>(kMetadataFields);

constexpr Field kTopFields[] = {
    plain(T::Word, "apiVersion", "slicewise.dev/v1alpha1", "Version of the file format.")
        .needed()
        .one_of(kApiVersions, Code::ApiVersionUnknown),
    plain(T::Word, "kind", "Scenario", "What the file holds.")
        .needed()
        .one_of(kDocumentKinds, Code::ApiVersionUnknown),
    plain(T::Block, "metadata", "{name: aws-cifar10}", "Name and notes.").needed().of(kMetadata),
    plain(T::Block, "spec", "{nodePools: [...], workloads: [...]}", "What is simulated.")
        .needed()
        .of(kSpec),
};
constexpr FieldList kTop = list(kTopFields);

constexpr Field kScenario = Field{"scenario", T::Block, "", "A scenario for slicewise."}.of(kTop);

}  // namespace

const Field& scenario_field() { return kScenario; }

const Field& spec_field() { return kTopFields[3]; }

}  // namespace slicewise::scenarios

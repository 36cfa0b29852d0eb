#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/job_trace.hpp"

#include "../fields/bind.hpp"
#include "../fields/check_fields.hpp"
#include "../fields/node_values.hpp"
#include "blocks.hpp"

// A file of `kind: Replay`.
namespace slicewise::scenarios {
namespace {

using T = FieldType;

constexpr Word kReplayKinds[] = {"Replay"};
constexpr Word kReplayVersions[] = {"slicewise.dev/v1alpha1"};
constexpr Word kReplayQueues[] = {"fifo", "backfill", "easy", "priority",
                                  "srtf", "srsf",     "muri", "antman"};
// Of them, those that know nothing of sharing, and of these those that choose GPUs by themselves.
constexpr std::span kReplanningQueues = std::span(kReplayQueues).last(4);
constexpr std::span kInterleavingQueues = kReplanningQueues.last(2);

void check_cluster(ReplayFile& /*file*/, const Node& cluster, Reading& reading) {
  constexpr std::array<std::string_view, 4> kChoices = {"gpus", "nodes", "nodeList", "instances"};
  const auto given = std::ranges::count_if(
      kChoices, [&](std::string_view key) { return cluster.find(key) != nullptr; });
  if (given != 1) {
    reading.findings.add(given == 0 ? Code::FieldMissing : Code::SettingConflict, cluster.where,
                         fmt::format("spec.cluster needs one of {}", fmt::join(kChoices, ", ")),
                         "write it like `cluster: {gpus: 2000}`");
  }
  const Node* nodes = blocks(&cluster, "nodes");
  const auto knows = [](const Node& node, std::string_view key) {
    return node.find(key) != nullptr;
  };
  for (std::size_t i = 0; nodes != nullptr && i < nodes->items.size(); ++i) {
    const Node& node = *nodes->items[i];
    if (knows(node, "cpu") == knows(node, "memory") &&
        knows(node, "cpu") == knows(*nodes->items.front(), "cpu")) {
      continue;
    }
    reading.findings.add(Code::SettingConflict, node.where,
                         "cpu and memory are either known of all nodes or of none",
                         "give both to all nodes, or to none: then GPUs alone count");
  }
}

void check_trace_shift(ReplayFile& file, const Node& trace, Reading& reading) {
  if (file.repeat <= 1 || file.shift) return;
  reading.findings.add(
      Code::FieldMissing, value_place(trace, "repeat"),
      "spec.trace.shift is missing: how long after one another the repetitions start",
      "write it like `shift: 137d`");
}

void check_sharing(ReplayFile& file, const Node& spec, Reading& reading) {
  for (const Located<std::string>& rule : file.profile_rules) {
    const auto read = read_profile_rule(rule.value, rule.where);
    if (read) continue;
    for (const Diagnostic& problem : read.error()) reading.findings.add(problem);
  }
  for (const Located<std::string>& way : file.sharings) {
    const auto read = read_sharing_way(way.value, way.where);
    if (read) continue;
    for (const Diagnostic& problem : read.error()) reading.findings.add(problem);
  }
  if (file.sharings.empty()) {
    const std::span sharing = std::span(kPlacements).last(kSharingPlacements);
    for (const std::string& placement : file.placements) {
      if (std::ranges::find(sharing, placement, &Word::text) == sharing.end()) continue;
      reading.findings.add(Code::SettingConflict, value_place(spec, "placement"),
                           fmt::format("{} looks at who shares a GPU", placement),
                           "write sharing: [time-slicing:4], or take another placement");
    }
    for (const char* key : {"profileBy", "backoffLimit"}) {
      if (spec.find(key) == nullptr) continue;
      reading.findings.add(Code::SettingConflict, value_place(spec, key),
                           fmt::format("{} needs sharing: without it nobody meets on a GPU", key),
                           "write sharing: [time-slicing:4], or leave it out");
    }
    return;
  }
  if (file.instances.empty()) {
    reading.findings.add(Code::SettingConflict, value_place(spec, "sharing"),
                         "sharing needs to know which GPUs the nodes have",
                         "write cluster: {instances: [...]}");
  }
  for (const std::string& queue : file.queues) {
    if (std::ranges::find(kReplanningQueues, queue, &Word::text) == kReplanningQueues.end()) {
      continue;
    }
    reading.findings.add(Code::SettingConflict, value_place(spec, "queue"),
                         fmt::format("{} places all jobs anew at each event, whoever shares a GPU "
                                     "with whom: it does not go with sharing",
                                     queue),
                         "take fifo, easy, backfill or priority");
  }
}

void check_replay_spec(ReplayFile& file, const Node& spec, Reading& reading) {
  check_sharing(file, spec, reading);
  const auto interleaves = [](const std::string& queue) {
    return std::ranges::find(kInterleavingQueues, queue, &Word::text) != kInterleavingQueues.end();
  };
  if (!file.placements.empty() && !file.queues.empty() &&
      std::ranges::all_of(file.queues, interleaves)) {
    reading.findings.add(Code::SettingConflict, value_place(spec, "placement"),
                         "muri and antman choose GPUs by themselves, whatever the placement",
                         "leave it out");
  }
  if (!file.inflate) return;
  if (!file.sharings.empty()) {
    reading.findings.add(Code::SettingConflict, value_place(spec, "inflate"),
                         "inflate has no time: sharing does not go with it",
                         "leave one of them out");
  }
  if (!file.gpus) return;
  reading.findings.add(Code::SettingConflict, value_place(spec, "inflate"),
                       "inflate needs nodes, not one pool", "write nodes, nodeList or instances");
}

constexpr Field kReplayTraceFields[] = {
    field<&ReplayFile::trace>("file", "jobs.csv",
                              "Trace that `slicewise import` wrote, relative to this file.")
        .needed()
        .positive(),
    field<&ReplayFile::repeat>("repeat", "4", "Replay the trace this many times.").positive(),
    field<&ReplayFile::shift>("shift", "137d", "Time between repetitions."),
};
constexpr FieldList kReplayTrace = block<ReplayFile, &check_trace_shift>(kReplayTraceFields);

constexpr Field kReplayNodesFields[] = {
    field<&ReplayFile::Nodes::count>("count", "8", "Nodes like this.").between(1, 1'000'000),
    field<&ReplayFile::Nodes::gpus>("gpus", "8", "GPUs of each.").needed().up_to(16),
    field<&ReplayFile::Nodes::gpu_model>("gpuModel", "V100M32",
                                         "As the trace calls it, for jobs that ask for a model."),
    field<&ReplayFile::Nodes::cpu>("cpu", "96",
                                   "Of each node; without cpu and memory GPUs alone count."),
    field<&ReplayFile::Nodes::memory>("memory", "736Gi", "Of each node."),
};
constexpr FieldList kReplayNodes = block<ReplayFile::Nodes>(kReplayNodesFields);

constexpr Field kReplayInstancesFields[] = {
    field<&ReplayFile::Instances::type>("instanceType", "p3.16xlarge", "EC2 instance type.")
        .needed()
        .positive(),
    field<&ReplayFile::Instances::count>("count", "250", "How many.").between(1, 1'000'000),
};
constexpr FieldList kReplayInstances = block<ReplayFile::Instances>(kReplayInstancesFields);

constexpr Field kReplayClusterFields[] = {
    field<&ReplayFile::gpus>("gpus", "2000", "One pool of GPUs, any job takes any of them.")
        .positive(),
    field<&ReplayFile::nodes>("nodes", "[{count: 8, gpus: 8}]", "Nodes by their sizes.")
        .positive()
        .of(kReplayNodes),
    field<&ReplayFile::node_list>(
        "nodeList", "nodes.csv",
        "CSV of nodes (name,cpu_milli,memory_mib,gpu,model), relative to this file.")
        .positive(),
    field<&ReplayFile::instances>("instances", "[{instanceType: p3.16xlarge, count: 250}]",
                                  "Nodes by their EC2 instance types; the report has their cost.")
        .positive()
        .of(kReplayInstances),
    field<&ReplayFile::region>("region", "eu-west-1", "Whose on-demand prices the instances cost."),
    field<&ReplayFile::any_gpu>("anyGpu", "true",
                                "Jobs take GPUs of any model, whatever they ask for."),
};
constexpr FieldList kReplayCluster = block<ReplayFile, &check_cluster>(kReplayClusterFields);

constexpr Field kReplaySpecFields[] = {
    inner("trace", "{file: jobs.csv}", "The jobs.").needed().of(kReplayTrace),
    inner("cluster", "{gpus: 2000}",
          "What they run on: one of gpus, nodes, nodeList and instances.")
        .needed()
        .of(kReplayCluster),
    field<&ReplayFile::queues>("queue", "[fifo, easy]",
                               "Which waiting job goes next; a list compares.")
        .as(T::Words)
        .one_of(kReplayQueues)
        .otherwise("fifo, with sharing backfill"),
    field<&ReplayFile::placements>("placement", "fgd", "Which node a job gets; a list compares.")
        .as(T::Words)
        .one_of(kPlacements)
        .otherwise("best-fit, with sharing least-allocated"),
    field<&ReplayFile::sharings>("sharing", "[exclusive, time-slicing:4, mps:4, mig:all-1g.5gb]",
                                 "How jobs share GPUs; several to compare. Without it a job gets "
                                 "the part of a GPU that the trace says, and nobody slows it down.")
        .positive(),
    field<&ReplayFile::profile_rules>(
        "profileBy", "['name~=bert.*:bert-base-inference-seq-32/a100-40gb/b1']",
        "Profiles of the catalogue for what the trace does not say of the jobs' use, with sharing; "
        "the first rule that fits counts. As profileBy of TraceJobs.")
        .positive(),
    field<&ReplayFile::restart_preempted>("restartPreempted", "true",
                                          "Preempted jobs start over instead of going on."),
    field<&ReplayFile::backoff_limit>(
        "backoffLimit", "0",
        "Times that a job comes back after it found no GPU memory left, with sharing; a column "
        "backoff_limit of the trace goes before it.")
        .up_to(1'000),
    field<&ReplayFile::inflate>(
        "inflate", "1.3", "Let jobs arrive and stay until they ask for this many times all GPUs.")
        .up_to(10),
    field<&ReplayFile::seed>("seed", "7", "Seed of the random numbers."),
    field<&ReplayFile::replications>("replications", "5", "Seeds of inflate.").between(1, 1'000),
};
constexpr FieldList kReplaySpec = block<ReplayFile, &check_replay_spec>(kReplaySpecFields);

constexpr Field kReplayMetadataFields[] = {
    field<&ReplayFile::name>("name", "philly", "Name of the replay.").as(T::Name).needed(),
};
constexpr FieldList kReplayMetadata = block<ReplayFile>(kReplayMetadataFields);

constexpr Field kReplayFileFields[] = {
    plain(T::Word, "apiVersion", "slicewise.dev/v1alpha1", "Version of the format.")
        .needed()
        .one_of(kReplayVersions, Code::ApiVersionUnknown),
    plain(T::Word, "kind", "Replay", "What the file is.")
        .needed()
        .one_of(kReplayKinds, Code::ApiVersionUnknown),
    inner("metadata", "{name: philly}", "Its name.").needed().of(kReplayMetadata),
    inner("spec", "{trace: {file: jobs.csv}, cluster: {gpus: 64}}",
          "Trace, cluster and schedulers.")
        .needed()
        .of(kReplaySpec),
};
}  // namespace

constexpr FieldList kReplayFile = block<ReplayFile>(kReplayFileFields);

namespace {

constexpr Field kReplay =
    Field{"replay", T::Block, "", "A replay of a trace of jobs."}.needed().of(kReplayFile);

}  // namespace

Expected<SharingWay> read_sharing_way(const std::string& text, const SourceLocation& where) {
  using Kind = SharingWay::Kind;
  constexpr int kMostReplicas = 1'000;
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string word = text.substr(0, colon);
  const std::string value = colon == text.size() ? "" : text.substr(colon + 1);
  const auto refuse = [&](Code code, const std::string& message, const std::string& help) {
    return failure(code, where, message, help);
  };
  constexpr std::array<std::pair<std::string_view, Kind>, 4> kWays = {
      {{"exclusive", Kind::Exclusive},
       {"time-slicing", Kind::TimeSlicing},
       {"mps", Kind::Mps},
       {"mig", Kind::Mig}}};
  SharingWay way;
  const auto* const known = std::ranges::find_if(
      kWays, [&](const auto& each) { return is_spelling_of(word, each.first); });
  if (known == kWays.end()) {
    std::array<std::string_view, kWays.size()> words;
    std::ranges::transform(kWays, words.begin(), [](const auto& each) { return each.first; });
    const auto near = nearest_name(word, words);
    return refuse(Code::EnumUnknown, fmt::format("\"{}\" is no way of sharing GPUs", text),
                  fmt::format("{}write exclusive, time-slicing:4, mps:4 or mig:all-1g.5gb",
                              near ? fmt::format("did you mean {}? ", *near) : ""));
  }
  way.kind = known->second;
  way.text = std::string(known->first) + text.substr(colon);
  if (way.kind == Kind::Exclusive) {
    if (value.empty() && colon == text.size()) return way;
    return refuse(Code::ValueRange, fmt::format("\"{}\": exclusive takes no number", text),
                  "write exclusive");
  }
  if (way.kind == Kind::Mig) {
    way.mig_config = value;
    if (!value.empty()) return way;
    return refuse(Code::ValueRange, fmt::format("\"{}\" names no MIG config", text),
                  "write mig:all-1g.5gb");
  }
  const auto [end, failure] =
      std::from_chars(value.data(), value.data() + value.size(), way.replicas);
  if (failure != std::errc() || end != value.data() + value.size() || way.replicas < 2 ||
      way.replicas > kMostReplicas) {
    return refuse(Code::ValueRange,
                  fmt::format("\"{}\" needs the jobs that may be on a GPU at once, from 2 to {}",
                              text, kMostReplicas),
                  fmt::format("write {}:4", word));
  }
  return way;
}

bool is_replay_file(const SourceText& source) {
  constexpr std::size_t kLookedAt = 4096;
  const std::string_view start = std::string_view(source.text).substr(0, kLookedAt);
  return start.find("apiVersion") != std::string_view::npos &&
         start.find("kind") != std::string_view::npos;
}

Expected<ReplayFile> read_replay_file(const SourceText& source) {
  Findings findings;
  Diagnostics syntax;
  const NodePtr document = read_document(source, syntax);
  for (Diagnostic& problem : syntax) findings.add(std::move(problem));
  ReplayFile file;
  if (document != nullptr && document->kind != Node::Kind::Map) {
    findings.add(Code::YamlSyntax, document->where, "the file holds no replay",
                 "slicewise import KIND -o scenario writes one");
  } else if (const Node* kind = document == nullptr ? nullptr : document->find("kind");
             kind != nullptr && kind->text == "Scenario") {
    findings.add(Code::ApiVersionUnknown, kind->where, "this is a Scenario, not a Replay",
                 "slicewise run -f reads it; replay takes a trace of jobs");
  } else if (document != nullptr) {
    check_field(kReplay, *document, "", document->where, Completeness::Whole, findings);
    Reading reading{findings};
    read_fields(kReplayFile, *document, &file, reading);
  }
  Diagnostics problems = findings.take_sorted(source.name);
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  return file;
}

}  // namespace slicewise::scenarios

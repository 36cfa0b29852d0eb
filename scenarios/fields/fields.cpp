#include "fields.hpp"

#include <limits>

#include "fields_node_pool.hpp"
#include "fields_pipeline.hpp"
#include "fields_planning.hpp"
#include "fields_provisioner.hpp"
#include "fields_sensitivity.hpp"
#include "fields_workload.hpp"

namespace slicewise::scenarios {
namespace {

using T = FieldType;
using table::list;

constexpr std::int64_t kAnyInteger = std::numeric_limits<std::int64_t>::max();

constexpr std::string_view kApiVersions[] = {"slicewise.dev/v1alpha1"};
constexpr std::string_view kDocumentKinds[] = {"Scenario"};
constexpr std::string_view kUntil[] = {"AllJobsDone"};
constexpr std::string_view kFidelityWords[] = {"auto", "exact"};
constexpr std::string_view kScorePolicyWords[] = {"LeastAllocated", "MostAllocated"};

constexpr Field kVariant[] = {
    {.name = "name",
     .type = T::Name,
     .required = true,
     .description = "Name of the variant.",
     .example = "name: after"},
    {.name = "description",
     .type = T::Text,
     .description = "What it shows, for reports.",
     .example = "description: Time-slicing x10, 20 pods."},
    {.name = "patch",
     .type = T::Patch,
     .description = "Part of spec. Mappings merge, lists merge by name (other lists replace), "
                    "null removes.",
     .example = "patch: {workloads: [{name: cifar10, count: 20}]}"},
};

constexpr Field kScheduler[] = {
    {.name = "scorePolicy",
     .type = T::Word,
     .default_value = "LeastAllocated",
     .description = "kube-scheduler's NodeResourcesFit: spread pods, or pack them.",
     .example = "scorePolicy: MostAllocated",
     .words = list(kScorePolicyWords)},
};

constexpr Field kSpec[] = {
    {.name = "region",
     .type = T::Text,
     .default_value = "us-east-1",
     .description = "AWS region, for prices.",
     .example = "region: us-east-1",
     .least = 1},
    {.name = "duration",
     .type = T::Duration,
     .description = "Simulated time. Absent: until every Job is done.",
     .example = "duration: 24h",
     .least = 1},
    {.name = "startsAt",
     .type = T::WeekTime,
     .default_value = "Mon 00:00",
     .description = "Day of the week and time of day at which the run starts, UTC.",
     .example = "startsAt: Mon 08:00"},
    {.name = "until",
     .type = T::Word,
     .default_value = "AllJobsDone, unless duration is set",
     .description = "End of the run, in place of duration.",
     .example = "until: AllJobsDone",
     .words = list(kUntil)},
    {.name = "warmup",
     .type = T::Duration,
     .default_value = "0",
     .description = "Start of the run that latency figures leave out.",
     .example = "warmup: 10m"},
    {.name = "seed",
     .type = T::Integer,
     .default_value = "42",
     .description = "Seed of the random streams.",
     .example = "seed: 42",
     .most = kAnyInteger},
    {.name = "replications",
     .type = T::Integer,
     .default_value = "5",
     .description = "Independent runs behind the 95 % intervals.",
     .example = "replications: 10",
     .least = 1,
     .most = 100'000},
    {.name = "fidelity",
     .type = T::Word,
     .default_value = "auto",
     .description = "exact simulates every GPU burst, auto only where it matters.",
     .example = "fidelity: exact",
     .words = list(kFidelityWords)},
    {.name = "scheduler",
     .type = T::Block,
     .description = "Settings of kube-scheduler.",
     .example = "scheduler: {scorePolicy: MostAllocated}",
     .children = list(kScheduler)},
    {.name = "nodePools",
     .type = T::Blocks,
     .required = true,
     .description = "Groups of equal nodes.",
     .example = "nodePools: [{name: v100, instanceType: p3.8xlarge}]",
     .children = list(table::kNodePool),
     .least = 1},
    {.name = "provisioner",
     .type = T::Block,
     .description = "Who adds and removes nodes of pools with nodes {min, max}, and how long a "
                    "new node takes.",
     .example = "provisioner: {kind: Karpenter, consolidateAfter: 5m}",
     .children = list(table::kProvisioner)},
    {.name = "workloads",
     .type = T::Blocks,
     .required = true,
     .description = "What runs.",
     .example = "workloads: [{name: cifar10, kind: Job, count: 5}]",
     .children = list(table::kWorkload),
     .least = 1},
    {.name = "pipelines",
     .type = T::Blocks,
     .description = "Requests that pass through several Services.",
     .example = "pipelines: [{name: voice, traffic: {mean: 12/s}, stages: [{workload: asr}, "
                "{workload: tts, after: [asr]}]}]",
     .children = list(table::kPipeline),
     .least = 1},
    {.name = "planning",
     .type = T::Block,
     .description = "What `slicewise plan` may choose from; what is absent is left to it.",
     .example = "planning: {instanceTypes: [g4dn.xlarge, g5], strategies: [timeSlicing, mps]}",
     .children = list(table::kPlanning)},
    {.name = "objective",
     .type = T::Block,
     .description = "What `slicewise plan` minimises among the configurations that meet every slo.",
     .example = "objective: {minimize: costPer1kInSlo}",
     .children = list(table::kGoal)},
    {.name = "isolation",
     .type = T::Block,
     .description = "What must stand between pods on one GPU.",
     .example = "isolation: {require: [memory, fault], between: namespaces}",
     .children = list(table::kIsolation)},
    {.name = "policies",
     .type = T::Blocks,
     .description = "What must hold for the result.",
     .example = "policies: [{name: budget, assert: cost.monthly <= 1500}]",
     .children = list(table::kPolicy)},
    {.name = "pricing",
     .type = T::Block,
     .description = "Prices other than those of the catalogue.",
     .example = "pricing: {plans: {p4d.24xlarge: {type: savingsPlan3y, discount: 43%}}}",
     .children = list(table::kPricing)},
    {.name = "sensitivity",
     .type = T::Block,
     .description = "What `slicewise sensitivity` varies.",
     .example = "sensitivity: {vary: [traffic, requestGpuTime], by: 10%}",
     .children = list(table::kSensitivity)},
    {.name = "variants",
     .type = T::Blocks,
     .description = "Changes to spec, each simulated on its own in place of spec itself.",
     .example = "variants: [{name: before, patch: {nodePools: [{name: v100, devicePlugin: "
                "null}]}}]",
     .children = list(kVariant),
     .least = 1},
    {.name = "sweep",
     .type = T::Sweep,
     .description = "Dotted paths below spec and the values each takes; every combination is "
                    "simulated, for every variant.",
     .example = "sweep: {nodePools.v100.instanceType: [p3.8xlarge, g5.12xlarge]}"},
};

constexpr Field kMetadata[] = {
    {.name = "name",
     .type = T::Name,
     .required = true,
     .description = "Name of the scenario.",
     .example = "name: aws-cifar10"},
    {.name = "labels",
     .type = T::Labels,
     .description = "For your own use.",
     .example = "labels: {team: vision}"},
    {.name = "annotations",
     .type = T::Labels,
     .description = "For your own use; reports carry it.",
     .example = "annotations: {slicewise.dev/source: https://example.com}"},
};

constexpr Field kTop[] = {
    {.name = "apiVersion",
     .type = T::Word,
     .required = true,
     .description = "Version of the file format.",
     .example = "apiVersion: slicewise.dev/v1alpha1",
     .words = list(kApiVersions),
     .wrong_word = Code::ApiVersionUnknown},
    {.name = "kind",
     .type = T::Word,
     .required = true,
     .description = "What the file holds.",
     .example = "kind: Scenario",
     .words = list(kDocumentKinds),
     .wrong_word = Code::ApiVersionUnknown},
    {.name = "metadata",
     .type = T::Block,
     .required = true,
     .description = "Name and notes.",
     .example = "metadata: {name: aws-cifar10}",
     .children = list(kMetadata)},
    {.name = "spec",
     .type = T::Block,
     .required = true,
     .description = "What is simulated.",
     .example = "spec: {nodePools: [...], workloads: [...]}",
     .children = list(kSpec)},
};

constexpr Field kScenario = {.name = "scenario",
                             .type = T::Block,
                             .description = "A scenario for slicewise.",
                             .children = list(kTop)};

std::string joined_words(const WordList& words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

}  // namespace

const Field* FieldList::find(std::string_view name) const {
  for (const Field& field : *this) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

const Field& scenario_field() { return kScenario; }

const Field& spec_field() { return kTop[3]; }

std::string type_text(const Field& field) {
  switch (field.type) {
    case T::Block:
      return "mapping";
    case T::Blocks:
      return "list of mappings";
    case T::BlocksByName:
      return "mapping of names to lists of mappings";
    case T::BlockByName:
      return "mapping of names to mappings";
    case T::Text:
      return "text";
    case T::Texts:
      return "list of texts";
    case T::Name:
      return "name (lower-case letters, digits and -)";
    case T::Word:
      return "one of: " + joined_words(field.words);
    case T::Words:
      return "one or a list of: " + joined_words(field.words);
    case T::Boolean:
      return "true or false";
    case T::Integer:
      return "whole number";
    case T::Range:
      return "whole number, or {min, max}";
    case T::Names:
      return "list of names";
    case T::Integers:
      return "list of whole numbers";
    case T::Number:
      return "number";
    case T::Bytes:
      return "quantity of bytes (8Gi, 3000Mi, 16G)";
    case T::Cpu:
      return "quantity of CPU (500m, 2)";
    case T::Duration:
      return "duration (2ms, 1m30s, 24h)";
    case T::FineDuration:
      return "duration, also below 1 ns (0.3673us)";
    case T::ClockTime:
      return "time of day (\"14:00\")";
    case T::ClockTimes:
      return "list of times of day (\"14:00\")";
    case T::UtcOffset:
      return "distance from UTC (\"+01:00\")";
    case T::WeekTime:
      return "weekday and time of day (Mon 08:00)";
    case T::Target:
      return "number, rate (12/s) or percentage (70%)";
    case T::Percent:
      return "percentage (38%)";
    case T::Rate:
      return "rate (12/s, 0.5/h)";
    case T::Labels:
      return "mapping of text to text";
    case T::Devices:
      return "all, or list of whole numbers";
    case T::MigDevices:
      return "mapping of MIG profiles to whole numbers";
    case T::MemorySlices:
      return "list of sizes of GPU memory (10gb)";
    case T::Resources:
      return "mapping of resource names to quantities";
    case T::Environment:
      return "mapping of text to text, or list of {name, value}";
    case T::Random:
      return type_text(*field.children.find("mean")) +
             ", {mean, distribution}, {p50, p95} or {p50, p99}";
    case T::Patch:
      return "part of spec";
    case T::Sweep:
      return "mapping of paths to lists of values";
    case T::Ignored:
      return "ignored by the device plugin, refused here";
    case T::Refused:
      return "not taken here";
  }
  return "";
}

}  // namespace slicewise::scenarios

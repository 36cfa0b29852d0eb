#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "../blocks/blocks.hpp"
#include "../fields/bind.hpp"
#include "../fields/check_fields.hpp"
#include "../text/findings.hpp"
#include "manifest_reader.hpp"

// Objects of Kueue. Source: sigs.k8s.io/kueue 0.17, apis/kueue/v1beta1 and v1beta2.
namespace slicewise::scenarios::manifests {
namespace {

// Of an object, or at a key of its spec.
struct NoQuota {
  std::string_view kind;
  std::string_view key;
  const char* what;
};
constexpr const char* kStopped = "queues that are stopped (stopPolicy): they admit Jobs here";
constexpr const char* kChecks = "AdmissionChecks of Kueue: a Job starts when it has its quota";
constexpr std::array kNoQuotas = {
    NoQuota{"Cohort", "", "Cohorts of Kueue: quotas of their own, and cohorts of cohorts"},
    NoQuota{"AdmissionCheck", "", kChecks},
    NoQuota{"WorkloadPriorityClass", "", "WorkloadPriorityClasses of Kueue"},
    NoQuota{"ClusterQueue", "stopPolicy", kStopped},
    NoQuota{"LocalQueue", "stopPolicy", kStopped},
    NoQuota{"ClusterQueue", "fairSharing", "fair sharing of Kueue: no weights"},
    NoQuota{"LocalQueue", "fairSharing", "fair sharing of Kueue: no weights"},
    NoQuota{"ClusterQueue", "admissionChecks", kChecks},
    NoQuota{"ClusterQueue", "admissionChecksStrategy", kChecks},
    NoQuota{"ResourceFlavor", "topologyName",
            "topologies of Kueue: its pods run on any nodes of the flavor"}};

bool is_said(const Node* value) {
  if (value == nullptr || value->text == "None") return false;
  return value->is_scalar() ? value->kind != Node::Kind::Null
                            : !value->entries.empty() || !value->items.empty();
}

bool tell_no_quotas(Context& context, const Node& object, std::string_view kind) {
  bool is_known = false;
  for (const NoQuota& one : kNoQuotas) {
    if (one.kind != kind) continue;
    is_known = true;
    const Node* at = one.key.empty() ? &object : node_below(&object, {"spec", one.key});
    if (one.key.empty() || is_said(at)) {
      context.files.not_simulated.push_back({one.what, at->where});
    }
  }
  return is_known;
}

// The words of v1beta1 in those of v1beta2.
NodePtr flavor_search(const Node& written) {
  auto search = std::make_shared<Node>(written);
  for (Entry& entry : search->entries) {
    if (entry.value->text != "Borrow" && entry.value->text != "Preempt") continue;
    auto word = std::make_shared<Node>(*entry.value);
    word->text = "MayStopSearch";
    entry.value = std::move(word);
  }
  return search;
}

// The spec as a scenario has it: with its name, and without what no scenario has.
Node as_in_scenario(const Node& object, const FieldList& fields) {
  Node spec;
  spec.kind = Node::Kind::Map;
  spec.where = object.where;
  const Node* metadata = object.find("metadata");
  const Entry* name = metadata == nullptr ? nullptr : metadata->entry("name");
  if (name != nullptr) spec.entries.push_back(*name);
  const Node* written = object.find("spec");
  for (Entry entry : entries_of(written)) {
    if (entry.key == "cohort") entry.key = "cohortName";  // of v1beta1
    const Field* field = fields.find(entry.key);
    if (field == nullptr || !field->is_taken() || entry.key == "name") continue;
    if (entry.key == "flavorFungibility") entry.value = flavor_search(*entry.value);
    spec.entries.push_back(std::move(entry));
  }
  return spec;
}

// Held to what a scenario is held to; keys that no scenario has are not missed.
void read_cluster_queue(Context& context, const Node& object) {
  const auto spec = std::make_shared<Node>(as_in_scenario(object, kClusterQueue));
  ClusterQueueFile file;
  Findings findings;
  Reading reading{findings};
  read_block(kClusterQueue, *spec, spec->where, file.queue, reading);
  Node queues;
  queues.kind = Node::Kind::List;
  queues.items.push_back(spec);
  check_field(*spec_field().children().find("clusterQueues"), queues, "clusterQueues", spec->where,
              Completeness::Whole, findings);
  file.is_sound = true;
  for (Diagnostic& found : findings.take_sorted(spec->where.file)) {
    file.is_sound = file.is_sound && found.code == Code::FieldUnknown;
    // What Kueue's webhook refuses, in its own words.
    if (found.code == Code::SettingConflict) report(context, std::move(found));
  }
  context.files.cluster_queues.push_back(std::move(file));
}

void read_flavor(Context& context, const Node& object) {
  const Node spec = as_in_scenario(object, kResourceFlavor);
  ResourceFlavorFile file;
  Findings told_by_schema;
  Reading reading{told_by_schema};
  read_block(kResourceFlavor, spec, spec.where, file.flavor, reading);
  file.tolerations = tolerations_in(node_below(&object, {"spec", "tolerations"}));
  context.files.flavors.push_back(std::move(file));
}

}  // namespace

bool read_kueue(Context& context, const Node& object, std::string_view kind) {
  if (!tell_no_quotas(context, object, kind)) return false;
  if (kind == "ClusterQueue") {
    read_cluster_queue(context, object);
  } else if (kind == "ResourceFlavor") {
    read_flavor(context, object);
  } else if (kind == "LocalQueue") {
    context.files.local_queues.push_back({text_below(&object, {"metadata", "name"}),
                                          text_below(&object, {"metadata", "namespace"}),
                                          text_below(&object, {"spec", "clusterQueue"})});
  }
  return true;
}

}  // namespace slicewise::scenarios::manifests

namespace slicewise::scenarios {

const ClusterQueueFile* cluster_queue_of(const ClusterFiles& files, const PodFile& pod) {
  for (const LocalQueueFile& local : files.local_queues) {
    if (pod.queue.value.empty() || local.name != pod.queue.value ||
        namespace_of(local.space) != namespace_of(pod.space)) {
      continue;
    }
    const auto found =
        std::ranges::find(files.cluster_queues, local.cluster_queue,
                          [](const ClusterQueueFile& file) { return file.queue.name.value; });
    if (found != files.cluster_queues.end()) return &*found;
  }
  return nullptr;
}

}  // namespace slicewise::scenarios

#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "slicewise/scenarios/load.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../blocks/blocks.hpp"
#include "../fields/node_values.hpp"
#include "../text/flow_text.hpp"
#include "variants.hpp"

namespace slicewise::scenarios {
namespace {

NodePtr node_of(const std::string& text) {
  Diagnostics none;
  return read_document({"", text}, none);
}

// `map` with another value of the key, where the old one stood.
NodePtr with(const NodePtr& map, std::string_view key, NodePtr value) {
  auto changed = std::make_shared<Node>(*map);
  const auto known = std::ranges::find(changed->entries, key, &Entry::key);
  if (known != changed->entries.end()) {
    known->value = std::move(value);
  } else {
    changed->entries.push_back({std::string(key), {}, std::move(value)});
  }
  return changed;
}

NodePtr patched(const NodePtr& base, const std::string& patch) {
  Findings none;
  return apply_patch(base, *node_of(patch), none);
}

// As the file calls what became of it.
const std::string& written_name(const Workload& workload) { return workload.given_name(); }
const std::string& written_name(const Pipeline& pipeline) { return pipeline.name.value; }

// The key's list without the blocks that `configured` does not have; what is left goes through
// `change` with its own.
template <class Items, class Change>
NodePtr with_those_of(const NodePtr& spec, std::string_view key, const Items& configured,
                      const Change& change) {
  const Node* list = blocks(spec.get(), key);
  if (list == nullptr) return spec;
  auto kept = std::make_shared<Node>(*list);
  kept->items.clear();
  for (const NodePtr& item : list->items) {
    const auto found = std::ranges::find_if(configured, [&](const auto& each) {
      return text_at(item.get(), "name") == written_name(each);
    });
    if (found != configured.end()) kept->items.push_back(change(item, *found));
  }
  return with(spec, key, kept);
}

// Null for each key that goes.
template <class Goes>
std::string nulls_for(const Node* named, const Goes& goes) {
  std::string text;
  if (named == nullptr) return text;
  for (const Entry& entry : named->entries) {
    if (!goes(entry.key)) continue;
    text += fmt::format("{}{}: null", text.empty() ? "" : ", ", scalar_text(entry.key));
  }
  return text;
}

// Of each extended resource among the requests or the limits.
std::string without_extended(const Node& workload, std::string_view list) {
  const std::string text =
      nulls_for(block(block(block(&workload, "podTemplate"), "resources"), list),
                [](const std::string& key) { return key.find('/') != std::string::npos; });
  return text.empty() ? text : fmt::format("{}: {{{}}}", list, text);
}

// Of each annotation that the pods have no more.
std::string without_annotations(const Node& workload, const Workload& configured) {
  const std::string text =
      nulls_for(block(block(&workload, "podTemplate"), "annotations"),
                [&](const std::string& key) { return !configured.pod.annotations.contains(key); });
  return text.empty() ? text : fmt::format("{{podTemplate: {{annotations: {{{}}}}}}}", text);
}

// The named fields of a block as they are now, where that is not what an empty block has.
template <class Block>
NodePtr with_fields(const NodePtr& workload, std::string_view key, const FieldList& fields,
                    const Block& now, std::initializer_list<std::string_view> names) {
  const Block empty{};
  const NodePtr shown = node_of(shown_fields(fields, &now));
  const NodePtr usual = node_of(shown_fields(fields, &empty));
  NodePtr node = workload;
  for (const std::string_view name : names) {
    const Entry* entry = shown->entry(name);
    if (entry == nullptr) continue;
    const Entry* same = usual->entry(name);
    const std::string text = flow_text(*entry->value);
    const Node* there = block(node.get(), key);
    const bool is_written = there != nullptr && there->entry(name) != nullptr;
    if (!is_written && same != nullptr && flow_text(*same->value) == text) continue;
    node = patched(node, fmt::format("{{{}: {{{}: {}}}}}", key, name, text));
  }
  return node;
}

// How many pods a Service has and when, how they answer, and whom they refuse, where that was
// chosen.
NodePtr with_chosen(const NodePtr& written, const Workload& workload) {
  NodePtr node = written;
  const std::string replicas = fmt::format("{}", workload.count);
  const bool is_chosen = workload.kind == WorkloadKind::Service && !workload.autoscaling;
  if (is_chosen && text_at(node.get(), "replicas").value_or("1") != replicas) {
    node = with(node, "replicas", node_of(replicas));
  }
  if (workload.autoscaling && block(node.get(), "autoscaling") == nullptr) {
    const Autoscaling& scaling = *workload.autoscaling;
    std::string by;
    for (const ReplicaWindow& window : scaling.schedule) {
      by += (by.empty() ? "" : ", ") + window_text(window);
    }
    by = scaling.has_metric() ? fmt::format("metric: RequestRate, target: {}/s", scaling.target)
                              : fmt::format("schedule: [{}]", by);
    node = patched(node, fmt::format("{{replicas: null, autoscaling: {{min: {}, max: {}, {}}}}}",
                                     scaling.min_replicas, scaling.max_replicas, by));
  }
  if (workload.llm) node = with_fields(node, "llm", kLlm, *workload.llm, {"tensorParallelSize"});
  node = with_fields(node, "serving", kServing, workload.serving, {"concurrency", "batching"});
  return with_fields(node, "podTemplate", kPodTemplate, workload.pod, {"labels", "affinity"});
}

// What the pods ask for, and the GPU on which their figures hold.
NodePtr configured_workload(const NodePtr& written, const Workload& workload) {
  NodePtr node = with_chosen(written, workload);
  for (const std::string_view list : {"requests", "limits"}) {
    const std::string nulls = without_extended(*node, list);
    if (!nulls.empty()) {
      node = patched(node, fmt::format("{{podTemplate: {{resources: {{{}}}}}}}", nulls));
    }
  }
  const std::string gone = without_annotations(*node, workload);
  if (!gone.empty()) node = patched(node, gone);
  if (workload.queue.value.empty()) node = patched(node, "{queue: null}");
  std::string asked;
  for (const ExtendedRequest& request : workload.pod.extended) {
    asked += fmt::format("{}{}: {}", asked.empty() ? "" : ", ", scalar_text(request.name.value),
                         request.count);
  }
  std::string selected;
  for (const auto& [label, value] : workload.pod.node_selector) {
    selected += fmt::format("{}{}: {}", selected.empty() ? "" : ", ", scalar_text(label),
                            scalar_text(value));
  }
  node = patched(node, "{podTemplate: {nodeSelector: null}}");
  if (workload.pod.claim.value.empty()) {
    node = patched(node, "{podTemplate: {resourceClaim: null}}");
  }
  if (!asked.empty()) {
    node = patched(node, fmt::format("{{podTemplate: {{resources: {{limits: {{{}}}}}}}}}", asked));
  }
  if (!selected.empty()) {
    node = patched(node, fmt::format("{{podTemplate: {{nodeSelector: {{{}}}}}}}", selected));
  }
  for (const auto& [key, names] :
       {std::pair("oldSelectors", &workload.manifest.old_selectors),
        std::pair("oldResources", &workload.manifest.old_resources),
        std::pair("oldAnnotations", &workload.manifest.old_annotations)}) {
    if (names->empty()) continue;
    std::string list;
    for (const std::string& name : *names) {
      list += fmt::format("{}{}", list.empty() ? "" : ", ", scalar_text(name));
    }
    node = patched(node, fmt::format("{{manifest: {{{}: [{}]}}}}", key, list));
  }
  if (workload.manifest.old_claim) node = patched(node, "{manifest: {oldClaim: true}}");
  if (block(node.get(), "measured") == nullptr || workload.measured->device.value.empty()) {
    return node;
  }
  return patched(node, fmt::format("{{measured: {{device: {}}}}}",
                                   scalar_text(workload.measured->device.value)));
}

NodePtr configured_spec(NodePtr spec, const Scenario& configured) {
  std::string pools;
  for (const NodePool& pool : configured.node_pools) {
    pools += fmt::format("- {}\n", shown_fields(kNodePool, &pool));
  }
  spec = with(spec, "nodePools", node_of(pools));
  spec = with_those_of(spec, "workloads", configured.workloads, configured_workload);
  spec = with_those_of(spec, "pipelines", configured.pipelines,
                       [](const NodePtr& node, const Pipeline& /*kept*/) { return node; });
  if (const Node* plans = block(block(spec.get(), "pricing"), "plans")) {
    for (const Entry& plan : plans->entries) {
      const auto is_its = [&](const PricePlan& kept) {
        return kept.instance_type.value == plan.key;
      };
      if (std::ranges::any_of(configured.price_plans, is_its)) continue;
      spec = patched(spec, fmt::format("{{pricing: {{plans: {{{}: null}}}}}}", plan.key));
    }
  }
  if (!configured.profile_files.empty()) {
    std::string files;
    for (const Located<std::string>& file : configured.profile_files) {
      files += (files.empty() ? "" : ", ") + scalar_text(file.value);
    }
    spec = with(spec, "profileFiles", node_of("[" + files + "]"));
  }
  const Provisioner& adds = configured.provisioner;
  const Node* provisioner = spec->find("provisioner");
  if (adds.limits.empty() && provisioner != nullptr && provisioner->find("limits") != nullptr) {
    spec = patched(spec, "{provisioner: {limits: null}}");
  }
  if (adds.node_overlay || std::ranges::any_of(configured.node_pools, [](const NodePool& pool) {
        return pool.most_nodes.has_value();
      })) {
    spec =
        patched(spec, fmt::format("{{provisioner: {{kind: {}{}{}}}}}", provisioner_name(adds.kind),
                                  adds.node_overlay ? ", nodeOverlay: true" : "",
                                  adds.resource_tags ? ", resourceTags: true" : ""));
  }
  const auto written = parse_duration(text_at(spec.get(), "duration").value_or(""));
  if (configured.duration && (!written || *written != *configured.duration)) {
    const std::int64_t length_s = configured.duration->ns / seconds(1).ns;
    const bool whole_hours = length_s % 3600 == 0;
    const auto length =
        fmt::format("{}{}", whole_hours ? length_s / 3600 : length_s, whole_hours ? "h" : "s");
    spec = with(spec, "duration", node_of(length));
  }
  if (configured.starts_at) {
    spec = with(spec, "startsAt", node_of(week_time_text(*configured.starts_at)));
  }
  spec = with(spec, "seed", node_of(fmt::format("{}", configured.seed)));
  return with(spec, "replications", node_of(fmt::format("{}", configured.replications)));
}

}  // namespace

std::string scenario_text(const SourceText& source, const Overrides& overrides,
                          const Scenario& configured) {
  Diagnostics syntax;
  const NodePtr document = read_document(source, syntax);
  const Entry* spec = document == nullptr ? nullptr : document->entry("spec");
  if (spec == nullptr) return {};
  Findings findings;
  Diagnostics notes;
  for (const Variant& variant : expand_variants(spec->value, overrides.set, findings, notes)) {
    if (variant.name != configured.name) continue;
    return block_text(*with(document, "spec", configured_spec(variant.spec, configured)));
  }
  return {};
}

}  // namespace slicewise::scenarios

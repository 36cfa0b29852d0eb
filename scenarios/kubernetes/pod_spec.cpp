#include "pod_spec.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/quantity.hpp"

#include "../text/scalars.hpp"
#include "manifest_reader.hpp"
#include "pod_sets.hpp"

namespace slicewise::scenarios::manifests {
namespace {

constexpr std::string_view kDisk = "ephemeral-storage";

bool is_gpu_software(const ContainerFile& container) {
  constexpr std::array<std::string_view, 8> kImages = {
      kPluginImage,   "dcgm",           "gpu-feature-discovery", "node-feature-discovery",
      "gpu-operator", kMigManagerImage, "k8s-driver-manager",    "container-toolkit"};
  return std::ranges::any_of(kImages, [&](std::string_view part) {
    return container.image.find(part) != std::string::npos;
  });
}

// "Deployment/asr"; "" without an owner.
std::string maker_of(const Node* metadata) {
  const Node* owner = owner_of(metadata);
  const Node* labels = node_below(metadata, {"labels"});
  std::string kind = text_below(owner, {"kind"});
  std::string name = text_below(owner, {"name"});
  const std::string served = text_below(labels, {"serving.knative.dev/service"});
  if (kind == "Revision" && !served.empty()) std::tie(kind, name) = std::pair("Service", served);
  return controller_of(std::move(kind), std::move(name), text_below(labels, {"pod-template-hash"}));
}

// All but what it asks for.
ContainerFile container_of(const Node& item, bool is_init) {
  constexpr std::size_t kLongestCommand = 100'000;
  ContainerFile container;
  container.name = text_below(&item, {"name"});
  container.image = image_of(item);
  for (const std::string_view part : {"command", "args"}) {
    for (const Node* word : items_of(node_below(&item, {part}))) {
      if (container.command.size() >= kLongestCommand) break;
      container.command += (container.command.empty() ? "" : " ") + text_below(word, {});
    }
  }
  container.runs_entrypoint = items_of(node_below(&item, {"command"})).empty();
  container.is_init = is_init;
  container.restarts_always = text_below(&item, {"restartPolicy"}) == "Always";
  container.where = item.where;
  for (const Node* variable : items_of(node_below(&item, {"env"}))) {
    const Located<std::string> name = located_below(variable, {"name"});
    const Located<std::string> value = located_below(variable, {"value"});
    container.env.push_back({name.value, value.value, name.where, value.where});
  }
  for (const std::string_view probe : {"readinessProbe", "livenessProbe", "startupProbe"}) {
    container.is_probed = container.is_probed || node_below(&item, {probe}) != nullptr;
  }
  const std::string user = text_below(&item, {"securityContext", "runAsUser"});
  if (!user.empty()) container.user = user;
  return container;
}

class PodSpecReader {
 public:
  PodSpecReader(const Node& object, PodFile pod) : object_(object), pod_(std::move(pod)) {}

  PodFile read(const PodSet& set, const Node& pods) {
    const Node* owner_meta = object_.find("metadata");
    const Node* spec = set.is_bare_spec ? &pods : pods.find("spec");
    const Node* meta = set.is_bare_spec ? &pods : pods.find("metadata");
    pod_.object_annotations = pairs_of(node_below(owner_meta, {"annotations"}));
    pod_.annotations = pairs_of(node_below(meta, {"annotations"}));
    pod_.labels = pairs_of(node_below(meta, {"labels"}));
    pod_.space = text_below(owner_meta, {"namespace"});
    // Kueue looks at the Jobs that a CronJob makes, not at the CronJob.
    const Node* job =
        pod_.kind == "CronJob" ? node_below(&object_, {"spec", "jobTemplate"}) : &object_;
    pod_.queue = located_below(job, {"metadata", "labels", "kueue.x-k8s.io/queue-name"});
    read_state();
    if (is_map(spec)) read_spec(*spec, set);
    return std::move(pod_);
  }

 private:
  void read_spec(const Node& spec, const PodSet& set) {
    for (const ContainerAt& one : containers_of(spec, set)) {
      read_container(*one.node, one.is_init, one.resources);
    }
    pod_.is_system = std::ranges::any_of(pod_.containers, is_gpu_software);
    if (const Node* own = spec.find("resources"); is_map(own) && !set.is_bare_spec) {
      take_pod_resources(*own);
    }
    if (const Node* overhead = spec.find("overhead"); is_map(overhead)) add_overhead(*overhead);
    read_placement(spec);
    for (const Node* volume : items_of(spec.find("volumes"))) {
      Located<std::string> claim = located_below(volume, {"persistentVolumeClaim", "claimName"});
      if (!claim.value.empty()) pod_.volumes.push_back(std::move(claim));
    }
    read_claims(spec.find("resourceClaims"));
  }

  // What made it, and whether it runs: the API server says so, manifests do not.
  void read_state() {
    pod_.owner = maker_of(object_.find("metadata"));
    const std::string phase = text_below(&object_, {"status", "phase"});
    pod_.has_ended = pod_.kind == "Pod" && (phase == "Succeeded" || phase == "Failed");
    const Node* conditions = node_below(&object_, {"status", "conditions"});
    for (const Node* one : items_of(conditions)) {
      const std::string type = text_below(one, {"type"});
      const bool ends = pod_.kind == "Job" && (type == "Complete" || type == "Failed");
      pod_.has_ended = pod_.has_ended || (ends && text_below(one, {"status"}) == "True");
    }
    // Kueue suspends what waits in its queues, and starts it. A CronJob has a schedule of its own.
    const bool is_suspended = is_true(node_below(&object_, {"spec", "suspend"})) ||
                              is_true(node_below(&object_, {"spec", "runPolicy", "suspend"}));
    if (is_suspended && !pod_.cron && pod_.queue.value.empty()) pod_.held_by = "suspend: true";
  }

  void read_container(const Node& item, bool is_init, std::string_view resources) {
    ContainerFile container = container_of(item, is_init);
    const std::vector<AskedAmount> asked = asked_amounts(node_below(&item, {resources}));
    for (const auto part : {&AskedAmount::limit, &AskedAmount::request}) {
      for (const AskedAmount& one : asked) {
        if (one.*part) read_amount(one, *(one.*part), container);
      }
    }
    pod_.containers.push_back(std::move(container));
  }

  void read_amount(const AskedAmount& asked, const AskedAmount::Part& part,
                   ContainerFile& container) {
    const std::string& resource = asked.resource;
    const bool extended = asked.is_extended();
    if (resource == kDisk && !container.is_init && &asked.counting() == &part) {
      const auto bytes = quantity_in_thousandths(text_below(part.value, {}));
      pod_.disk = {resource, pod_.disk.amount + bytes.value_or(0) / 1'000, part.value->where};
    }
    if (!extended && resource != "cpu" && resource != "memory") return;
    const Node& value = *part.value;
    if (!value.is_scalar()) return;
    const auto thousandths = quantity_in_thousandths(value.text);
    if (!thousandths || (extended && *thousandths % 1'000 != 0)) {
      pod_.not_quantified = {resource, value.text, part.key, value.where};
      return;
    }
    if (resource == "cpu" && asked.limit && &*asked.limit == &part) {
      container.cpu_limit = *thousandths;
    }
    if (&asked.counting() != &part || (extended && *thousandths == 0)) return;
    container.amounts.push_back(
        {resource, resource == "cpu" ? *thousandths : *thousandths / 1'000, part.key});
  }

  // Of the pod as a whole: takes the place of what its containers ask for together, and limits them
  // together. As one of them asks for it here. Source: kubernetes pkg/api/v1/resource helpers.go.
  void take_pod_resources(const Node& resources) {
    const auto first =
        std::ranges::find_if(pod_.containers, [](const ContainerFile& c) { return !c.is_init; });
    if (first == pod_.containers.end()) return;
    for (const AskedAmount& asked : asked_amounts(&resources)) {
      if (asked.resource != "cpu" && asked.resource != "memory") continue;
      pod_.asks_as_one = true;
      const std::int64_t unit = asked.resource == "cpu" ? 1 : 1'000;
      const auto all = quantity_in_thousandths(text_below(asked.counting().value, {}));
      if (!all) continue;
      const auto is_it = [&](const ResourceAmount& one) { return one.resource == asked.resource; };
      // A limit alone is a request only where no container has one. Source: defaults.go.
      const bool is_asked =
          asked.request || std::ranges::none_of(pod_.containers, [&](const auto& c) {
            return std::ranges::any_of(c.amounts, is_it);
          });
      if (is_asked) {
        for (ContainerFile& container : pod_.containers) std::erase_if(container.amounts, is_it);
        first->amounts.push_back({asked.resource, *all / unit, asked.counting().key});
      }
      const auto limit =
          asked.limit ? quantity_in_thousandths(text_below(asked.limit->value, {})) : std::nullopt;
      if (!limit || asked.resource != "cpu") continue;
      for (ContainerFile& container : pod_.containers) container.cpu_limit = 0;
      first->cpu_limit = *limit;
    }
  }

  // Of the sandbox, beside what the containers ask for.
  void add_overhead(const Node& overhead) {
    const auto first =
        std::ranges::find_if(pod_.containers, [](const ContainerFile& c) { return !c.is_init; });
    if (first == pod_.containers.end()) return;
    for (const std::string_view resource : {"cpu", "memory"}) {
      const Located<std::string> given = located_below(&overhead, {resource});
      const auto thousandths = quantity_in_thousandths(given.value);
      if (!thousandths) continue;
      const std::int64_t amount = resource == "cpu" ? *thousandths : *thousandths / 1'000;
      const auto asked = std::ranges::find(first->amounts, resource, &ResourceAmount::resource);
      if (asked == first->amounts.end()) {
        first->amounts.push_back({std::string(resource), amount, given.where});
      } else {
        asked->amount += amount;
      }
    }
  }

  // The constraint that spreads the pods over nodes rather than zones.
  static const Node* spread_by_node(const Node& spec) {
    const Node* spreads = spec.find("topologySpreadConstraints");
    for (std::size_t i = 0; is_list(spreads) && i < spreads->items.size(); ++i) {
      const Node* one = spreads->items[i].get();
      if (text_below(one, {"topologyKey"}) == kHostname) return one;
    }
    return nullptr;
  }

  // With hostNetwork all ports of the containers are those of the node.
  void read_host_ports(const Node& spec) {
    const bool all = is_true(spec.find("hostNetwork"));
    for (const Node* container : items_of(spec.find("containers"))) {
      for (const Node* port : items_of(node_below(container, {"ports"}))) {
        Located<std::string> taken = located_below(port, {"hostPort"});
        if (taken.value.empty() && all) taken = located_below(port, {"containerPort"});
        const auto number = whole_of(taken.value);
        if (!number || *number < 1 || *number > 65'535) continue;
        const std::string protocol = text_below(port, {"protocol"});
        if (!protocol.empty() && protocol != "TCP") taken.value += "/" + protocol;
        pod_.host_ports.push_back(std::move(taken));
      }
    }
  }

  void read_placement(const Node& spec) {
    pod_.tolerations = tolerations_in(spec.find("tolerations"));
    const Node* selector = spec.find("nodeSelector");
    for (const Entry& label : entries_of(selector)) {
      // A patch takes out what is null.
      const bool is_text = label.value != nullptr && label.value->is_scalar() &&
                           label.value->kind != Node::Kind::Null;
      if (!is_text) continue;
      pod_.node_selector.push_back(
          {label.key, label.value->text, label.key_where, label.value->where});
    }
    const Node* terms =
        node_below(&spec, {"affinity", "nodeAffinity",
                           "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
    for (const Node* term : items_of(terms)) pod_.affinity.push_back(node_term_of(term));
    RequiredCompany company = required_company_of(spec);
    pod_.pod_affinity = std::move(company.affinity);
    pod_.anti_affinity = std::move(company.anti_affinity);
    pod_.other_rule = company.other;
    pod_.preferences = preferences_of(spec).read;
    for (const Node* spread :
         {spread_by_node(spec), node_below(&spec, {"affinity", "podAntiAffinity"})}) {
      if (spread != nullptr && !pod_.spread) pod_.spread = spread->where;
    }
    read_host_ports(spec);
    if (is_true(spec.find("hostIPC"))) pod_.host_ipc = spec.find("hostIPC")->where;
    const std::string user = text_below(&spec, {"securityContext", "runAsUser"});
    if (!user.empty()) pod_.user = user;
    const Node* gates = spec.find("schedulingGates");
    for (const Node* item : items_of(gates)) {
      // Kueue opens its own.
      const std::string gate = text_below(item, {"name"});
      const bool is_queues = gate.starts_with("kueue.x-k8s.io/") && !pod_.queue.value.empty();
      if (!is_queues) pod_.held_by = "schedulingGates";
    }
    pod_.scheduler = text_below(&spec, {"schedulerName"});
    if (pod_.kind == "Pod") pod_.node = text_below(&spec, {"nodeName"});
    const std::string restarts = text_below(&spec, {"restartPolicy"});
    if (!restarts.empty()) pod_.restart_policy = restarts;
    pod_.priority_class = text_below(&spec, {"priorityClassName"});
    pod_.never_preempts = text_below(&spec, {"preemptionPolicy"}) == "Never";
    pod_.priority = std::clamp<std::int64_t>(whole_of(text_below(&spec, {"priority"})).value_or(0),
                                             -2'147'483'648, 1'000'000'000);
  }

  void read_claims(const Node* claims) {
    for (const Node* claim : items_of(claims)) {
      for (const std::string_view key : {"resourceClaimName", "resourceClaimTemplateName"}) {
        const Located<std::string> name = located_below(claim, {key});
        if (name.value.empty()) continue;
        pod_.claims.push_back({std::string(key), name.value, name.where, name.where});
      }
    }
  }

  const Node& object_;
  PodFile pod_;
};

}  // namespace

PodFile pod_file_of(const Node& object, const PodSet& set, const Node& pods, PodFile pod) {
  return PodSpecReader(object, std::move(pod)).read(set, pods);
}

const Node* owner_of(const Node* metadata) {
  const Node* owner = nullptr;
  for (const Node* one : items_of(node_below(metadata, {"ownerReferences"}))) {
    if (!is_map(owner) || is_true(node_below(one, {"controller"}))) owner = one;
  }
  return owner;
}

std::vector<NodeRequirement> node_term_of(const Node* term) {
  std::vector<NodeRequirement> all = requirements_of(node_below(term, {"matchExpressions"}));
  // The one field is metadata.name, which nodes of EKS have as a label, too.
  for (NodeRequirement& field : requirements_of(node_below(term, {"matchFields"}))) {
    field.key = kHostname;
    all.push_back(std::move(field));
  }
  return all;
}

std::vector<ContainerAt> containers_of(const Node& spec, const PodSet& set) {
  std::vector<ContainerAt> all;
  for (const bool is_init : {true, false}) {
    for (const Node* item : items_of(spec.find(is_init ? "initContainers" : "containers"))) {
      all.push_back({item, is_init, "resources"});
    }
  }
  for (const std::string_view key : set.containers) {
    const Node* one = key.empty() ? &spec : spec.find(key);
    if (is_map(one)) all.push_back({one, false, set.resources});
  }
  return all;
}

std::vector<AskedAmount> asked_amounts(const Node* resources) {
  std::vector<AskedAmount> asked;
  for (const bool is_request : {false, true}) {
    const Node* amounts = node_below(resources, {is_request ? "requests" : "limits"});
    for (const Entry& entry : entries_of(amounts)) {
      // A patch takes out what is null.
      if (entry.value == nullptr || entry.value->kind == Node::Kind::Null) continue;
      auto found = std::ranges::find(asked, entry.key, &AskedAmount::resource);
      if (found == asked.end()) found = asked.insert(asked.end(), {entry.key, {}, {}});
      (is_request ? found->request : found->limit) = {entry.value.get(), entry.key_where};
    }
  }
  return asked;
}

std::string image_of(const Node& container) {
  const Node* image = container.find("image");
  if (!is_map(image)) return text_below(image, {});
  return text_below(image, {"repository"}) + ":" + text_below(image, {"tag"});
}

}  // namespace slicewise::scenarios::manifests

namespace slicewise::scenarios {

std::string controller_of(std::string kind, std::string name, std::string_view template_hash) {
  if (kind.empty() || name.empty()) return {};
  const std::string hash = fmt::format("-{}", template_hash);
  const std::size_t dash = name.rfind('-');
  const std::size_t digits = name.size() - (name.find_last_not_of("0123456789") + 1);
  constexpr std::size_t kMinutesSince1970 = 8;  // of the time at which a CronJob made it
  if (kind == "ReplicaSet" && hash.size() > 1 && name.ends_with(hash)) {
    kind = "Deployment";
    name.resize(name.size() - hash.size());
  } else if (kind == "Job" && dash != name.npos && digits >= kMinutesSince1970 &&
             dash + 1 + digits == name.size()) {
    kind = "CronJob";
    name.resize(dash);
  }
  return fmt::format("{}/{}", kind, name);
}

}  // namespace slicewise::scenarios

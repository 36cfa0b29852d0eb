#include "node_pool_choice.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "../text/scalars.hpp"

namespace slicewise::scenarios {

namespace {

// The values that nodes may have of a label; none when it is left open.
std::vector<std::string> values_of(std::span<const NodeRequirement> required,
                                   std::string_view label) {
  const auto one = std::ranges::find_if(required, [&](const NodeRequirement& requirement) {
    return requirement.key == label && requirement.op == "In";
  });
  return one == required.end() ? std::vector<std::string>() : one->values;
}

std::string first_of(std::span<const NodeRequirement> required, std::string_view label) {
  const std::vector<std::string> values = values_of(required, label);
  return values.empty() ? std::string() : values.front();
}

}  // namespace

NodeLabels labels_of(const InstanceGpus& type) {
  if (!type.labels.empty()) return type.labels;
  NodeLabels made = labels_of_type(type.name);
  made.emplace(kGpuNameLabel, type.gpu.empty() ? std::nullopt : std::optional(type.gpu));
  return made;
}

std::string_view architecture_of(const InstanceGpus& type) {
  const auto label = type.labels.find(kArchitectureLabel);
  return label != type.labels.end() && label->second ? std::string_view(*label->second)
                                                     : kArchitectures.front();
}

bool has_labels(const InstanceGpus& type, std::span<const NodeRequirement> required) {
  if (required.empty()) return true;
  const NodeLabels labels = labels_of(type);
  const auto count = labels.find(kGpuCountLabel);
  const bool is_part = count != labels.end() && count->second == "0";
  return std::ranges::all_of(required, [&](const NodeRequirement& one) {
    if (one.op != "In") return fulfils(labels, one);
    if (one.key == kGpuCountLabel && !is_part) return true;  // pods have as many or fewer
    if (one.key != kProductLabel) return fulfils(labels, one);
    return std::ranges::any_of(
        one.values, [&](const std::string& value) { return names_gpu(value, type.gpu); });
  });
}

InstanceGpus instance_called(const std::string& type, std::span<const InstanceGpus> instances) {
  const auto known = std::ranges::find(instances, type, &InstanceGpus::name);
  return known == instances.end() ? InstanceGpus{type, {}, 1} : *known;
}

bool has_count(const InstanceGpus& type, std::span<const NodeRequirement> required) {
  return std::ranges::all_of(required, [&](const NodeRequirement& one) {
    return one.key != kGpuCountLabel || allows(one, std::to_string(type.count));
  });
}

bool has_room(const InstanceGpus& type, const NodeNeed& need) {
  return (type.cpu.count == 0 || need.cpu_milli <= type.cpu.count) &&
         (type.memory.count == 0 || need.memory_bytes <= type.memory.count);
}

std::vector<std::string> families_without(std::span<const std::string> types,
                                          const NodeGroupFile& group) {
  std::vector<std::string> families = values_of(group.requirements, kFamilyLabel);
  std::erase_if(families, [&](const std::string& family) {
    return std::ranges::any_of(
        types, [&](const std::string& type) { return type.starts_with(family + "."); });
  });
  return families;
}

std::string type_asked_for(std::span<const NodeRequirement> as_written, NodeNeed need,
                           std::span<const InstanceGpus> instances) {
  std::vector<NodeRequirement> required(as_written.begin(), as_written.end());
  for (NodeRequirement& one : required) one.key = *label_by(NodeMaker::Unknown, one.key);
  const std::vector<std::string> named = values_of(required, kInstanceTypeLabel);
  for (const std::string& type : named) {
    if (has_labels(instance_called(type, instances), required)) return type;
  }
  if (!named.empty()) return named.front();
  const bool is_left_open = std::ranges::none_of(required, [](const NodeRequirement& one) {
    return one.key.starts_with("karpenter.k8s.aws/instance-") || one.key == kProductLabel;
  });
  if (is_left_open) return {};
  std::optional<std::int64_t> fewest;
  for (const std::string& count : values_of(required, kGpuCountLabel)) {
    const auto gpus = whole_of(count);
    if (gpus && (!fewest || *gpus < *fewest)) fewest = gpus;
  }
  need.gpus = std::max(need.gpus, fewest.value_or(1));
  const auto fit = [&](const InstanceGpus& type) {
    const bool fits = type.count >= need.gpus;
    return !fits ? 0 : !has_count(type, required) ? 1 : has_room(type, need) ? 3 : 2;
  };
  // Images are for amd64 where nobody says otherwise.
  const bool says_cpus = std::ranges::any_of(
      required, [](const NodeRequirement& one) { return one.key == kArchitectureLabel; });
  const auto runs_images = [&](const InstanceGpus& type) {
    return says_cpus || architecture_of(type) == kArchitectures.front();
  };
  const auto is_better = [&](const InstanceGpus& one, const InstanceGpus& other) {
    if (runs_images(one) != runs_images(other)) return runs_images(one);
    if (fit(one) != fit(other)) return fit(one) > fit(other);
    if (fit(one) == 0) return one.count > other.count;
    if (one.price && other.price) return *one.price < *other.price;
    return one.price || other.price ? one.price.has_value() : one.count < other.count;
  };
  const InstanceGpus* best = nullptr;
  for (const InstanceGpus& type : instances) {
    if (!has_labels(type, required)) continue;
    if (best == nullptr || is_better(type, *best)) best = &type;
  }
  if (best != nullptr) return best->name;
  const std::string family = first_of(required, kFamilyLabel);
  const std::string size = first_of(required, kSizeLabel);
  return family.empty() || size.empty() ? std::string() : fmt::format("{}.{}", family, size);
}

std::vector<CapacityChoice> capacities_of(const NodeGroupFile& group, bool choose) {
  const auto may = [&](std::string_view type) {
    return std::ranges::all_of(group.requirements, [&](const NodeRequirement& one) {
      return one.key != kCapacityTypeLabel || allows(one, type);
    });
  };
  const bool is_open = std::ranges::find(group.requirements, kCapacityTypeLabel,
                                         &NodeRequirement::key) == group.requirements.end();
  const bool may_be_spot = !is_open && may("spot");
  // Karpenter takes reservations first, of which there are those that the node class selects.
  const bool is_reserved = !is_open && may("reserved") &&
                           (group.has_reservations || (!may_be_spot && !may("on-demand")));
  const CapacityChoice first = {is_reserved   ? "reserved"
                                : may_be_spot ? "spot"
                                              : "",
                                !is_reserved && may_be_spot && may("on-demand")};
  if (!choose || !may("on-demand") || first.type.empty()) return {first};
  std::vector<CapacityChoice> all = {{first.type, false}};
  if (is_reserved && may_be_spot) all.push_back({"spot", false});
  all.push_back({});
  return all;
}

bool may_have_gpus(const NodeGroupFile& group, std::span<const InstanceGpus> instances) {
  // Types that are not known here may have GPUs by their names.
  std::vector<std::string> named = values_of(group.requirements, kFamilyLabel);
  for (const auto& type : group.types) named.push_back(type.value);
  return instances.empty() || std::ranges::any_of(named, &is_gpu_type) ||
         std::ranges::any_of(instances, [&](const InstanceGpus& type) {
           return has_labels(type, group.requirements);
         });
}

bool may_lack_gpus(const NodeGroupFile& group) {
  const auto leaves_others = [](const NodeRequirement& one) {
    if (one.key.starts_with("karpenter.k8s.aws/instance-gpu")) {
      return one.op == "NotIn" || one.op == "DoesNotExist";
    }
    if (one.op != "In") return true;
    const bool is_name = one.key == kInstanceTypeLabel || one.key == kFamilyLabel;
    if (is_name) return !std::ranges::all_of(one.values, &is_gpu_type);
    return one.key != "karpenter.k8s.aws/instance-category" ||
           std::ranges::any_of(one.values,
                               [](const std::string& name) { return name != "g" && name != "p"; });
  };
  return std::ranges::all_of(group.requirements, leaves_others);
}

std::vector<std::string> choice_of(const NodeGroupFile& group,
                                   std::span<const InstanceGpus> instances) {
  const auto is_choice = [&](const std::string& type) {
    return has_labels(instance_called(type, instances), group.requirements);
  };
  std::vector<std::string> types;
  for (const auto& type : group.types) {
    if (is_gpu_type(type.value) && is_choice(type.value)) types.push_back(type.value);
  }
  if (!types.empty()) return types;
  const std::vector<std::string> sizes = values_of(group.requirements, kSizeLabel);
  for (const std::string& family : values_of(group.requirements, kFamilyLabel)) {
    for (const std::string& size : sizes) {
      const std::string type = fmt::format("{}.{}", family, size);
      const bool is_known =
          std::ranges::find(instances, type, &InstanceGpus::name) != instances.end();
      if (is_known && is_choice(type)) types.push_back(type);
    }
  }
  return types;
}

}  // namespace slicewise::scenarios

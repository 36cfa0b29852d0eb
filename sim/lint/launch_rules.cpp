#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"

#include "../world/parts.hpp"
#include "lint_rules.hpp"

// NodePools of which Karpenter starts no node, whatever pods ask for. Instance types that the
// catalogue does not have may have anything.
// Source: karpenter.sh/docs, "NodePools" (spec.template.spec.requirements, spec.limits).
namespace slicewise::sim::lint {
namespace {

using models::InstanceType;
using scenarios::NodeGroupFile;
using scenarios::NodeRequirement;

std::string words_of(const std::vector<std::string>& values) {
  return fmt::format("{}", fmt::join(values, ", ")).substr(0, 80);
}

void judge_capacity_type(const LintInput& input, const NodeRequirement& requirement) {
  constexpr std::array<std::string_view, 3> kTypes = {"on-demand", "spot", "reserved"};
  if (requirement.key != scenarios::kCapacityTypeLabel || requirement.op != "In") return;
  const bool any = std::ranges::any_of(
      requirement.values, [&](const std::string& value) { return contains(kTypes, value); });
  if (any || requirement.values.empty()) return;
  input.tell(
      Code::NodesNeverLaunched, requirement.where,
      fmt::format("EC2 sells nothing as {}: no node is started", words_of(requirement.values)),
      "on-demand, spot or reserved");
}

// "us-east-1z": zones of a region are counted from a, and none has come past f. "us-east-1" is a
// region, "us-east-1-wl1-bos-wlz-1" a zone.
bool is_no_zone(std::string_view zone) {
  if (zone.size() < 2) return false;
  const std::size_t last = zone.rfind('-');
  const bool ends_in_digit = zone.back() >= '0' && zone.back() <= '9';
  if (ends_in_digit && last != zone.npos && last != zone.find('-')) {
    return zone.find_first_of("0123456789") > last;
  }
  const char digit = zone[zone.size() - 2];
  return digit >= '0' && digit <= '9' && zone.back() > 'f' && zone.back() <= 'z';
}

void judge_zone(const LintInput& input, const NodeRequirement& requirement) {
  if (requirement.key != scenarios::kZoneLabel || requirement.op != "In") return;
  if (requirement.values.empty() || !std::ranges::all_of(requirement.values, is_no_zone)) return;
  input.tell(
      Code::NodesNeverLaunched, requirement.where,
      fmt::format("no region has a zone {}: no node is started", words_of(requirement.values)),
      "aws ec2 describe-availability-zones lists them");
}

// Whether only types with GPUs meet it; g and p are their letters.
bool wants_gpus(const NodeRequirement& requirement) {
  if (requirement.key.find("instance-gpu") != std::string::npos) {
    return !scenarios::allows(requirement, std::nullopt);
  }
  return requirement.key.ends_with("/instance-category") && requirement.op == "In" &&
         std::ranges::all_of(requirement.values, [](const std::string& letter) {
           return letter.starts_with('g') || letter.starts_with('p');
         });
}

// Whether it leaves types that the catalogue does not have: it has NVIDIA's.
bool leaves_others(const NodeRequirement& requirement) {
  if (requirement.key.find("instance-accelerator") != std::string::npos) return true;
  if (!names_gpus(requirement)) return false;
  if (requirement.op == "NotIn") return requirement.key.ends_with("/instance-gpu-manufacturer");
  const auto is_of_others = [](const std::string& value) {
    constexpr std::array<std::string_view, 4> kWords = {"amd", "habana", "radeon", "gaudi"};
    return std::ranges::any_of(kWords, [&](auto word) { return value.starts_with(word); });
  };
  return !wants_gpus(requirement) || std::ranges::any_of(requirement.values, is_of_others);
}

// Of a pool that leaves it to Karpenter which, where the catalogue has all that may be meant.
std::vector<const InstanceType*> gpu_types(const LintInput& input, const NodeGroupFile& pool) {
  std::vector<const InstanceType*> types;
  const bool has_gpus = contains(input.offers, &pool, &NodeOffer::group) ||
                        std::ranges::any_of(pool.requirements, wants_gpus);
  if (!has_gpus || std::ranges::any_of(pool.requirements, leaves_others)) return types;
  for (const InstanceType& type : input.catalogue.instances) {
    if (type.retired_on.empty()) types.push_back(&type);
  }
  return types;
}

// The types that it names, or all of the families that it names, else all with GPUs; nothing where
// one is not known.
std::vector<const InstanceType*> known_types(const LintInput& input, const NodeGroupFile& pool) {
  std::vector<const InstanceType*> types;
  const auto families =
      std::ranges::find_if(pool.requirements, [](const NodeRequirement& requirement) {
        return requirement.key == scenarios::kFamilyLabel && requirement.op == "In";
      });
  if (pool.types.empty() && families == pool.requirements.end()) return gpu_types(input, pool);
  if (pool.types.empty()) {
    for (const std::string& family : families->values) {
      const std::size_t before = types.size();
      for (const InstanceType& type : input.catalogue.instances) {
        if (type.family == family) types.push_back(&type);
      }
      if (types.size() == before) return {};
    }
  }
  for (const auto& name : pool.types) {
    const InstanceType* type = input.catalogue.find_instance(name.value);
    if (type == nullptr) return {};
    types.push_back(type);
  }
  return types;
}

// Which values of a label they have.
std::vector<std::string> values_of(const std::vector<const InstanceType*>& types,
                                   const std::string& key) {
  std::set<std::string> values;
  for (const InstanceType* type : types) {
    const scenarios::NodeLabels labels = type_labels(*type);
    if (const auto own = labels.find(key); own != labels.end() && own->second) {
      values.insert(*own->second);
    }
  }
  return {values.begin(), values.end()};
}

void judge_types(const LintInput& input, const NodeGroupFile& pool,
                 const std::vector<const InstanceType*>& types) {
  bool is_told = false;
  for (const NodeRequirement& requirement : pool.requirements) {
    const auto fits = [&](const InstanceType* type) { return fulfils(*type, {&requirement, 1}); };
    if (std::ranges::any_of(types, fits)) continue;
    is_told = true;
    const std::vector<std::string> values = values_of(types, requirement.key);
    input.tell(
        Code::NodesNeverLaunched, requirement.where,
        fmt::format(
            "none of the instance types that the pool may have has {} {} {}: no node is started",
            requirement.key.substr(0, 60), requirement.op.substr(0, 20),
            words_of(requirement.values)),
        values.empty() ? "leave it out, or name types that have it"
                       : fmt::format("they have {}", words_of(values)));
  }
  const auto fits_all = [&](const InstanceType* type) { return fulfils(*type, pool.requirements); };
  if (is_told || std::ranges::any_of(types, fits_all)) return;
  input.tell(Code::NodesNeverLaunched, pool.where,
             "no instance type meets all requirements of the pool together: no node is started");
}

void judge_limits(const LintInput& input, const NodeGroupFile& pool,
                  const std::vector<const InstanceType*>& types) {
  for (const scenarios::ResourceAmount& limit : pool.limits) {
    const bool is_cpu = limit.resource == "cpu";
    if (!is_cpu && limit.resource != "memory") continue;
    const auto size_of = [&](const InstanceType* type) {
      return is_cpu ? std::int64_t{type->vcpus} : type->memory.count;
    };
    std::int64_t least = size_of(types.front());
    for (const InstanceType* type : types) least = std::min(least, size_of(type));
    if (limit.amount >= least) continue;
    const std::int64_t shown = is_cpu ? least : least >> 30U;
    input.tell(Code::NodesNeverLaunched, limit.where,
               fmt::format("the limit of {} is below that of one node, {}{}: none is started",
                           limit.resource, shown, is_cpu ? "" : "Gi"),
               fmt::format("{}: {}{} a node", limit.resource, shown, is_cpu ? "" : "Gi"));
  }
}

// Source: karpenter.sh/docs/concepts/nodeclasses, capacityReservationSelectorTerms.
void judge_reservations(const LintInput& input, const NodeGroupFile& pool) {
  for (const NodeRequirement& requirement : pool.requirements) {
    const bool is_only = requirement.key == scenarios::kCapacityTypeLabel &&
                         requirement.op == "In" &&
                         requirement.values == std::vector<std::string>{"reserved"};
    if (!is_only || pool.has_reservations) continue;
    input.tell(Code::NodesNeverLaunched, requirement.where,
               fmt::format("its EC2NodeClass {} selects no capacity reservations: no node is "
                           "started",
                           pool.node_class.substr(0, 60)),
               "capacityReservationSelectorTerms in the EC2NodeClass");
  }
}

// Of files that have classes the pool's is missing.
void judge_class(const LintInput& input, const NodeGroupFile& pool) {
  const auto& classes = input.files.node_classes;
  if (classes.empty() || pool.maker == scenarios::NodeMaker::AutoMode || pool.node_class.empty())
    return;
  if (contains(classes, pool.node_class, &scenarios::NodeClassFile::name)) {
    return judge_reservations(input, pool);
  }
  input.tell(
      Code::NodesNeverLaunched, pool.where,
      fmt::format("its EC2NodeClass {} is not among the files: without it no node is started",
                  pool.node_class.substr(0, 60)),
      fmt::format("nodeClassRef: {}", classes.front().name.substr(0, 60)));
}

}  // namespace

void lint_launches(const LintInput& input) {
  for (const NodeGroupFile& pool : input.files.groups) {
    if (pool.kind != NodeGroupFile::Kind::NodePool) continue;
    for (const NodeRequirement& requirement : pool.requirements) {
      judge_capacity_type(input, requirement);
      judge_zone(input, requirement);
    }
    judge_class(input, pool);
    const std::vector<const InstanceType*> types = known_types(input, pool);
    if (types.empty()) continue;
    judge_types(input, pool, types);
    judge_limits(input, pool, types);
  }
}

}  // namespace slicewise::sim::lint

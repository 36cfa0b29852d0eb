#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"

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

// Karpenter has the names of GPUs in small letters.
void judge_gpu_name(const LintInput& input, const NodeRequirement& requirement) {
  if (requirement.key != scenarios::kGpuNameLabel || requirement.op != "In") return;
  const auto has_capital = [](const std::string& name) {
    return std::ranges::any_of(name, [](char c) { return c >= 'A' && c <= 'Z'; });
  };
  if (requirement.values.empty() || !std::ranges::all_of(requirement.values, has_capital)) return;
  input.tell(Code::NodesNeverLaunched, requirement.where,
             fmt::format("no instance type has the GPU name {}, as these labels are in small "
                         "letters: no node is started",
                         words_of(requirement.values)),
             "write a10g, l4, l40s");
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

// "us-east-1z": zones of a region are counted from a, and none has come past f.
bool is_no_zone(std::string_view zone) {
  if (zone.size() < 2) return false;
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

// The types that it names, or all of the families that it names; nothing where it names none, or
// one that is not known.
std::vector<const InstanceType*> known_types(const LintInput& input, const NodeGroupFile& pool) {
  std::vector<const InstanceType*> types;
  const auto families =
      std::ranges::find_if(pool.requirements, [](const NodeRequirement& requirement) {
        return requirement.key == scenarios::kFamilyLabel && requirement.op == "In";
      });
  if (pool.types.empty() && families != pool.requirements.end()) {
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

void judge_types(const LintInput& input, const NodeGroupFile& pool,
                 const std::vector<const InstanceType*>& types) {
  bool is_told = false;
  for (const NodeRequirement& requirement : pool.requirements) {
    const auto fits = [&](const InstanceType* type) { return fulfils(*type, {&requirement, 1}); };
    if (std::ranges::any_of(types, fits)) continue;
    is_told = true;
    input.tell(Code::NodesNeverLaunched, requirement.where,
               fmt::format("none of the pool's instance types has {} {} {}: no node is started",
                           requirement.key.substr(0, 60), requirement.op.substr(0, 20),
                           words_of(requirement.values)),
               "leave it out, or name types that have it");
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

// Of files that have classes the pool's is missing.
void judge_class(const LintInput& input, const NodeGroupFile& pool) {
  const auto& classes = input.files.node_classes;
  if (classes.empty() || pool.maker == scenarios::NodeMaker::AutoMode || pool.node_class.empty())
    return;
  if (contains(classes, pool.node_class, &scenarios::NodeClassFile::name)) {
    return;
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
      judge_gpu_name(input, requirement);
    }
    judge_class(input, pool);
    const std::vector<const InstanceType*> types = known_types(input, pool);
    if (types.empty()) continue;
    judge_types(input, pool, types);
    judge_limits(input, pool, types);
  }
}

}  // namespace slicewise::sim::lint

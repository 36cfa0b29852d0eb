#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/nearest_name.hpp"

#include "../world/parts.hpp"
#include "lint_rules.hpp"

// Claims of DRA: whether those that pods name are there, and whether any device meets them.
namespace slicewise::sim::lint {
namespace {

using scenarios::ClaimFile;
using scenarios::DraDevice;

bool is_device_class(const ClaimFile& file) { return file.kind == "DeviceClass"; }

// Claims that pods name and no file has, and classes that claims name.
void judge_claims(const LintInput& input) {
  const auto& files = input.files.claims;
  const auto judge = [&](const auto& is_meant, const std::string& kind, const std::string& name,
                         const SourceLocation& where) {
    std::vector<std::string> names;
    for (const ClaimFile& file : files) {
      if (is_meant(file)) names.push_back(file.claim.name.value);
    }
    if (contains(names, name)) return;
    const auto near = nearest_name(name, names);
    input.tell(
        Code::DraClaimUnknown, where,
        fmt::format("no {} here is called \"{}\": the pods stay Pending", kind, name.substr(0, 60)),
        near ? fmt::format("did you mean {}?", *near)
             : "create it, a claim in the namespace of its pods");
  };
  const bool any_claim =
      std::ranges::any_of(files, [](const ClaimFile& file) { return !is_device_class(file); });
  for (const scenarios::PodFile& pod : input.files.pods) {
    for (const scenarios::KeyValue& named : pod.claims) {
      if (!any_claim) break;
      const std::string kind =
          named.key == "resourceClaimName" ? "ResourceClaim" : "ResourceClaimTemplate";
      const auto is_meant = [&](const ClaimFile& file) {
        return file.kind == kind &&
               scenarios::namespace_of(file.space) == scenarios::namespace_of(pod.space);
      };
      judge(is_meant, kind, named.value, named.where);
    }
  }
  if (std::ranges::none_of(files, is_device_class)) return;
  for (const ClaimFile& file : files) {
    const std::string& name = file.device_class.value;
    if (name.empty() || name.ends_with(".nvidia.com")) continue;
    judge(is_device_class, "DeviceClass", name, file.device_class.where);
  }
}

// Of the claim and its class; nullopt where nobody can tell here what they select, or where they
// are not about NVIDIA's driver.
std::optional<std::vector<std::string>> selectors_of(const LintInput& input,
                                                     const ClaimFile& claim) {
  const std::string& name = claim.device_class.value;
  if (!claim.refused.value.empty() || name.empty()) return std::nullopt;
  std::vector<std::string> selectors;
  const auto add = [&](const ClaimFile& file) {
    for (const auto& selector : file.claim.selectors) selectors.push_back(selector.value);
  };
  const auto own = std::ranges::find_if(input.files.claims, [&](const ClaimFile& file) {
    return is_device_class(file) && file.claim.name.value == name;
  });
  if (own != input.files.claims.end()) {
    if (!own->refused.value.empty()) return std::nullopt;
    add(*own);
  } else if (const std::string_view known = scenarios::selector_of_class(name); !known.empty()) {
    selectors.emplace_back(known);
  } else {
    return std::nullopt;
  }
  add(claim);
  const bool is_nvidias = std::ranges::any_of(selectors, [](const std::string& selector) {
    return selector.find(scenarios::kDraDriver) != selector.npos;
  });
  return is_nvidias ? std::optional(std::move(selectors)) : std::nullopt;
}

// That a node of the type may publish: its GPUs, whole or as MIG devices.
void add_devices_of(const LintInput& input, const InstanceType& type,
                    std::vector<DraDevice>& devices) {
  const GpuModel* gpu = input.catalogue.find_gpu(type.gpu_model);
  if (gpu == nullptr) return;
  DomainKind kind;
  devices.push_back(device_of(*gpu, kind));
  const MigGeometry* geometry = input.catalogue.find_mig(type.gpu_model);
  if (geometry == nullptr) return;
  for (const MigProfile& profile : geometry->profiles) {
    kind.partition = profile.name;
    kind.memory = profile.memory.value_or(gpu->memory_total);
    devices.push_back(device_of(*gpu, kind));
  }
}

// Devices of which a claim may have some, by who publishes them: a node, or nodes of a type.
struct DeviceSource {
  std::string name;  // "node ip-10-0-1-7"
  std::vector<DraDevice> devices;
};

// nullopt: files of nodes do not say of what type they are.
std::optional<std::vector<DeviceSource>> sources_of(const LintInput& input) {
  std::vector<DeviceSource> sources;
  const auto source = [&](const std::string& name) -> std::vector<DraDevice>& {
    const auto known = std::ranges::find(sources, name, &DeviceSource::name);
    return known != sources.end() ? known->devices
                                  : sources.emplace_back(DeviceSource{name, {}}).devices;
  };
  for (const scenarios::SliceDevice& one : input.files.devices) {
    source(one.node).push_back(one.device);
  }
  if (!sources.empty()) return sources;
  for (const NodeOffer& offer : input.offers) {
    if (offer.group != nullptr && offer.types.empty()) return std::nullopt;
    for (const InstanceType* type : offer.types) {
      add_devices_of(input, *type, source(type->name));
    }
  }
  if (!sources.empty()) return sources;
  for (const InstanceType& type : input.catalogue.instances) {
    add_devices_of(input, type, source(type.name));
  }
  return sources;
}

void judge_request(const LintInput& input, const ClaimFile& claim,
                   const std::vector<std::string>& selectors,
                   const std::vector<DeviceSource>& sources) {
  std::int64_t most = 0;
  for (const DeviceSource& source : sources) {
    most = std::max<std::int64_t>(
        most, std::ranges::count_if(source.devices, [&](const DraDevice& device) {
          return std::ranges::all_of(selectors, [&](const std::string& selector) {
            return scenarios::selects(selector, device);
          });
        }));
  }
  const bool is_published = !input.files.devices.empty();
  const SourceLocation& where = claim.claim.selectors.empty() ? claim.device_class.where
                                                              : claim.claim.selectors.front().where;
  if (most == 0) {
    const bool has_nodes = std::ranges::any_of(
        input.offers, [](const NodeOffer& offer) { return offer.group != nullptr; });
    return input.tell_as(
        is_published ? Severity::Error : Severity::Warning, Code::DraNoDevice, where,
        fmt::format("{} meets this request: pods with the claim \"{}\" stay Pending",
                    is_published ? "no device of the ResourceSlices"
                    : has_nodes  ? "no GPU of the nodes here, whole or cut by MIG,"
                                 : "no GPU of EC2, whole or cut by MIG,",
                    claim.claim.name.value.substr(0, 60)),
        "productName is as nvidia-smi names it, memory what the driver publishes: slicewise get "
        "gpus, kubectl get resourceslices -o yaml");
  }
  if (!is_published || most >= claim.claim.count) return;
  input.tell(Code::DraNoDevice, where,
             fmt::format("{} devices for the claim \"{}\": no node publishes more than {} that "
                         "meet the request, and all are of one node",
                         claim.claim.count, claim.claim.name.value.substr(0, 60), most),
             "a smaller count, or nodes with more GPUs");
}

void judge_requests(const LintInput& input) {
  const auto sources = sources_of(input);
  if (!sources) return;
  for (const ClaimFile& claim : input.files.claims) {
    if (is_device_class(claim)) continue;
    if (const auto selectors = selectors_of(input, claim)) {
      judge_request(input, claim, *selectors, *sources);
    }
  }
}

}  // namespace

void lint_claims(const LintInput& input) {
  judge_claims(input);
  judge_requests(input);
}

}  // namespace slicewise::sim::lint

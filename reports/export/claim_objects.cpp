#include "claim_objects.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../document/document_text.hpp"
#include "guide.hpp"
#include "kubernetes_object.hpp"

// Against the types of NVIDIA's DRA driver (sigs.k8s.io/dra-driver-nvidia-gpu v0.4.1
// api/nvidia.com/resource/v1beta1), which decodes strictly.
namespace slicewise::reports {
namespace {

using nlohmann::json;
using scenarios::ClaimSharing;
using scenarios::ResourceClaim;
using scenarios::Workload;

// One that comes with the driver: by its selector, else by what the claim's say of MIG.
std::string class_of(const ResourceClaim& claim) {
  for (const Located<std::string>& selector : claim.selectors) {
    const std::string& text = selector.value;
    if (text.find(".profile") != text.npos || text.find("'mig'") != text.npos) {
      return "mig.nvidia.com";
    }
  }
  return "gpu.nvidia.com";
}

json object_of(const ResourceClaim& claim, const std::string& space) {
  const std::string device_class = class_of(claim);
  std::vector<std::string> selectors;
  for (const Located<std::string>& selector : claim.selectors) {
    if (selector.value == scenarios::selector_of_class(device_class)) continue;
    selectors.push_back(selector.value);
  }
  json spec = claim_spec(device_class, claim.count, selectors);
  if (claim.sharing) {
    spec["devices"]["config"] = driver_config(*claim.sharing, device_class != kDraDriver);
  }
  return claim_object(claim.name.value, space, claim.is_template, std::move(spec));
}

std::vector<const Workload*> who_names(const scenarios::Scenario& scenario,
                                       const ResourceClaim& claim) {
  std::vector<const Workload*> named;
  for (const Workload& workload : scenario.workloads) {
    if (workload.pod.claim.value == claim.name.value) named.push_back(&workload);
  }
  return named;
}

std::string remark_on(const ResourceClaim& claim, const std::vector<const Workload*>& named) {
  std::string pods;
  for (const Workload* workload : named) {
    pods += fmt::format("{}{} pod{} of {}", pods.empty() ? "" : ", ", workload->count,
                        workload->count == 1 ? "" : "s", workload->name.value);
  }
  return comment(claim.is_template ? fmt::format("Devices of its own for each of {}.", pods)
                                   : fmt::format("One device for {}.", pods));
}

}  // namespace

bool claims_devices(const scenarios::Scenario& scenario) {
  return std::ranges::any_of(scenario.workloads, [](const Workload& workload) {
    return !workload.pod.claim.value.empty();
  });
}

json driver_config(const ClaimSharing& sharing, bool is_mig) {
  constexpr std::array<const char*, 4> kIntervals = {"Default", "Short", "Medium", "Long"};
  json written;
  if (sharing.strategy == ClaimSharing::Strategy::Mps) {
    json mps = json::object();
    if (sharing.active_threads) mps["defaultActiveThreadPercentage"] = *sharing.active_threads;
    if (sharing.memory_limit) {
      mps["defaultPinnedDeviceMemoryLimit"] =
          fmt::format("{}Mi", sharing.memory_limit->count >> 20);
    }
    written = {{"strategy", "MPS"}, {"mpsConfig", std::move(mps)}};
  } else {
    written = {{"strategy", "TimeSlicing"}};
    // A MIG device has no turns of its own length.
    if (!is_mig) {
      written["timeSlicingConfig"] = {
          {"interval", kIntervals[static_cast<std::size_t>(sharing.interval)]}};
    }
  }
  json parameters = {{"apiVersion", "resource.nvidia.com/v1beta1"},
                     {"kind", is_mig ? "MigDeviceConfig" : "GpuConfig"},
                     {"sharing", std::move(written)}};
  return json::array(
      {{{"opaque", {{"driver", kDraDriver}, {"parameters", std::move(parameters)}}}}});
}

json cel_selector(const std::string& expression) { return {{"cel", {{"expression", expression}}}}; }

json claim_spec(const std::string& device_class, std::int64_t count,
                const std::vector<std::string>& selectors) {
  json exactly = {{"deviceClassName", device_class}};
  if (count > 1) exactly["count"] = count;
  for (const std::string& selector : selectors) {
    exactly["selectors"].push_back(cel_selector(selector));
  }
  return {{"devices",
           {{"requests", json::array({{{"name", "gpu"}, {"exactly", std::move(exactly)}}})}}}};
}

json claim_object(const std::string& name, const std::string& space, bool is_template, json spec) {
  if (is_template) spec = {{"spec", std::move(spec)}};
  return kubernetes_object("resource.k8s.io/v1",
                           is_template ? "ResourceClaimTemplate" : "ResourceClaim",
                           {{"name", name}, {"namespace", space}}, std::move(spec));
}

Expected<std::string> claim_documents(const scenarios::Scenario& scenario) {
  std::string out;
  Diagnostics found;
  for (const ResourceClaim& claim : scenario.claims) {
    const std::vector<const Workload*> named = who_names(scenario, claim);
    if (named.empty()) continue;
    const std::string& space = named.front()->namespace_name;
    for (const Workload* workload : named) {
      if (workload->namespace_name == space) continue;
      found.push_back(make_diagnostic(
          Code::ExportUnfit, claim.name.where,
          fmt::format("\"{}\" of namespace {} and \"{}\" of {} name the claim \"{}\", and a claim "
                      "is of one namespace",
                      named.front()->name.value, space, workload->name.value,
                      workload->namespace_name, claim.name.value),
          "put them into one namespace, or give them claims of their own"));
      break;
    }
    out += "---\n" + remark_on(claim, named) + yaml_text(object_of(claim, space));
  }
  if (!found.empty()) return tl::unexpected(std::move(found));
  return out;
}

}  // namespace slicewise::reports

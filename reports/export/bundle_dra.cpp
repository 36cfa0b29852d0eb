#include "bundle_dra.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/filled_text.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"

#include "../document/document_text.hpp"
#include "bundle_parts.hpp"
#include "dra_claims.hpp"
#include "embedded/guide_files.hpp"
#include "embedded/script_files.hpp"
#include "guide.hpp"
#include "installer.hpp"
#include "mig_parted.hpp"
#include "node_settings.hpp"
#include "plugin_config.hpp"
#include "pod_objects.hpp"

namespace slicewise::reports {
namespace {

using scenarios::Scenario;
using scenarios::Workload;

// Its pods name the claim in place of what they ask the device plugin for.
void claim(Workload& workload, const std::string& name, bool is_template, Scenario& scenario) {
  for (const scenarios::ExtendedRequest& request : workload.pod.extended) {
    workload.manifest.old_resources.push_back(request.name.value);
  }
  workload.pod.extended.clear();
  workload.pod.claim.value = name;
  const auto same = [&](const auto& other) { return other.name.value == name; };
  if (std::ranges::any_of(scenario.claims, same)) return;
  scenarios::ResourceClaim& made = scenario.claims.emplace_back();
  made.name.value = name;
  made.is_template = is_template;
}

// The claims that pods of the workload share.
std::vector<std::string> shared_by(const Workload& workload, const DraPlan& plan) {
  std::vector<std::string> names;
  for (const std::vector<SharedClaim>& claims : plan.shared) {
    for (std::size_t n = 0; n < claims.size(); ++n) {
      const bool is_his = std::ranges::any_of(
          claims[n].pods, [&](const auto& pods) { return pods.first->workload == &workload; });
      if (is_his) names.push_back(claim_name(claims, n));
    }
  }
  return names;
}

// Pods that ask the device plugin, beside others that claim devices.
Diagnostics other_pods(const Scenario& scenario) {
  Diagnostics found;
  for (const Workload& workload : scenario.workloads) {
    for (const scenarios::ExtendedRequest& request : workload.pod.extended) {
      if (!claims_devices(scenario) || !scenarios::gpu_resource(request.name.value)) continue;
      found.push_back(make_diagnostic(
          Code::ExportUnfit, request.name.where,
          fmt::format("\"{}\" asks the device plugin for {}, and other pods claim devices of "
                      "NVIDIA's DRA driver: a bundle installs one of the two",
                      workload.name.value, request.name.value),
          "a bundle for each: scenarios with the pools of the one and of the other, whose charts "
          "a nodeSelector in their values keeps to their nodes"));
    }
  }
  return found;
}

// The scenario with the claims of `dra.yaml` in place of resources of the device plugin.
Expected<Scenario> claiming(const Scenario& scenario, const std::vector<PoolTarget>& targets) {
  const auto plan = plan_claims(scenario, targets);
  if (!plan) return tl::unexpected(plan.error());
  Scenario out = scenario;
  Diagnostics found;
  for (std::size_t w = 0; w < scenario.workloads.size(); ++w) {
    const Workload& workload = scenario.workloads[w];
    const auto device = std::ranges::find(plan->devices, &workload, &ClaimedDevice::workload);
    if (device == plan->devices.end()) continue;
    if (device->sharing == nullptr) {
      claim(out.workloads[w], template_name(*device), true, out);
      continue;
    }
    const std::vector<std::string> names = shared_by(workload, *plan);
    if (names.size() == 1) {
      claim(out.workloads[w], names.front(), false, out);
      continue;
    }
    found.push_back(make_diagnostic(
        Code::ExportUnfit, workload.name.where,
        fmt::format("pods of \"{}\" share {} devices, by a claim each: one pod template names one",
                    workload.name.value, names.size()),
        fmt::format(
            "sharedDevicesAllocationPolicy: packed, if one device holds them; else {} "
            "workloads, or dra.yaml (slicewise export --to dra) and an object for each claim",
            names.size())));
  }
  if (!found.empty()) return tl::unexpected(std::move(found));
  return out;
}

// Gates are off by default (values.yaml of the chart).
std::string driver_values(const Scenario& scenario) {
  return comment(fmt::format("Values of Helm chart {} {}, written by slicewise", kDraDriverChart,
                             kDraDriverVersion)) +
         fmt::format(
             "gpuResourcesEnabledOverride: true\nfeatureGates:\n  TimeSlicingSettings: true\n"
             "  {}: true\n",
             makes_mig_devices(scenario) ? "DynamicMIG" : "MPSSupport") +
         toleration_values(scenario, scenarios::ChartValues::Chart::Dra);
}

// For mig-manager alone.
std::string operator_values(const Scenario& scenario, const std::vector<PoolTarget>& targets,
                            const MigPartedFile& file) {
  return comment(
             fmt::format("Values of Helm chart {} {}, written by slicewise: mig-manager, beside "
                         "NVIDIA's DRA driver",
                         kOperatorChart, kOperatorVersion)) +
         "#\n" + mig_runbook_comment(targets, file.needs_reset) +
         "driver:\n  enabled: false\ntoolkit:\n  enabled: false\ndevicePlugin:\n  enabled: false\n"
         "mig:\n  strategy: mixed\n" +
         mig_manager_values(file) +
         toleration_values(scenario, scenarios::ChartValues::Chart::GpuOperator);
}

// Its device plugin would go from all nodes.
constexpr std::string_view kBesideOperator =
    "merge migManager and mig of gpu-operator-values.yaml into its values, label the nodes of the "
    "pools nvidia.com/gpu.deploy.device-plugin=false, and do by hand what follows in apply.sh";

std::string release_lines(const std::vector<PoolTarget>& targets, bool cuts) {
  std::string out;
  if (cuts) out += operator_fetch() + operator_release();
  out += chart_memory(kDraDriverChart, kDraDriverChart);
  out += fmt::format(
      "helm upgrade -i {0} oci://registry.k8s.io/dra-driver-nvidia/charts/{0} --version {1} -n {0} "
      "--create-namespace -f dra-driver-values.yaml\n",
      kDraDriverChart, shell_word(kDraDriverVersion));
  out += script_files::remember_labels_sh();
  for (const PoolTarget& target : targets) {
    out += fmt::format("remember_labels {0} {1}\nkubectl label nodes -l {0} {1}=true --overwrite\n",
                       shell_word(label_of_nodes(*target.pool)), kGpuPresentLabel);
  }
  if (cuts) {
    out += "echo 'MIG layouts: drain and label each node as gpu-operator-values.yaml says' >&2\n";
  }
  return out;
}

// "7 x MIG 1g.5gb" of a node of each pool.
std::string device_lines(const std::vector<PoolTarget>& targets) {
  std::string out;
  for (const PoolTarget& target : targets) {
    out += fmt::format("\n    {}\n", target.pool->name.value);
    if (target.pool->dynamic_mig) {
      out +=
          "      gpu-N-mig-PROFILE-ID-START for each place of each profile on each GPU, made when "
          "a pod "
          "with a claim starts\n";
    } else if (target.mig_devices.empty()) {
      out += fmt::format("      {} x gpu-N\n", target.instance->gpu_count);
    }
    for (const MigDevices& devices : target.mig_devices) {
      out += devices.profile.empty() ? fmt::format("      {} x gpu-N\n", devices.count)
                                     : fmt::format("      {} x gpu-N-mig-..., of profile {}\n",
                                                   devices.count, devices.profile);
    }
  }
  return out;
}

std::string claim_lines(const Scenario& scenario) {
  std::string out;
  for (const Workload& workload : scenario.workloads) {
    const scenarios::ResourceClaim* named = scenario.claim_of(workload);
    if (named == nullptr) continue;
    out += named->is_template
               ? fmt::format("    {} pods of {}: a claim each, made of template {}\n",
                             workload.pods_at_once(), workload.name.value, named->name.value)
               : fmt::format("    {} pods of {}: all in PODS of {}\n", workload.pods_at_once(),
                             workload.name.value, named->name.value);
  }
  return out;
}

// A claim under MPS has a server of its own (cmd/gpu-kubelet-plugin/sharing.go).
std::string mps_lines(bool by_mps) {
  return by_mps ? "\nA Deployment `mps-control-daemon-...` is ready for each claim that is shared "
                  "under MPS:\n\n    kubectl -n dra-driver-nvidia-gpu get deployments\n\n"
                : "";
}

std::string verify_guide(const Scenario& scenario, const std::vector<PoolTarget>& targets,
                         const ExportOptions& options) {
  bool by_mps = std::ranges::any_of(targets, uses_mps);
  for (const scenarios::ResourceClaim& claim : scenario.claims) {
    using Strategy = scenarios::ClaimSharing::Strategy;
    by_mps = by_mps || (claim.sharing && claim.sharing->strategy == Strategy::Mps);
  }
  return filled(guide_files::verify_dra_md(), {{"variant", yaml_scalar(scenario.name)},
                                               {"origin", origin_of(options)},
                                               {"devices", device_lines(targets)},
                                               {"claims", claim_lines(scenario)},
                                               {"mps", mps_lines(by_mps)},
                                               {"pods", pod_lines(scenario)}});
}

}  // namespace

bool needs_dra(const Scenario& scenario) {
  const bool beyond_plugin = std::ranges::any_of(scenario.node_pools, [](const auto& pool) {
    const bool is_cut_and_mps = pool.mig && pool.device_plugin && pool.device_plugin->mps;
    return is_cut_and_mps || has_own_threads(pool);
  });
  return beyond_plugin || claims_devices(scenario);
}

Expected<Scenario> as_claimed(const Scenario& given, const models::Catalogue& catalogue) {
  const Scenario scenario = without_empty_jobs(given);
  if (!needs_dra(scenario) || claims_devices(scenario)) return scenario;
  const Expected<std::vector<PoolTarget>> targets = pool_targets(scenario, catalogue);
  if (!targets) return tl::unexpected(targets.error());
  return claiming(scenario, *targets);
}

Expected<ExportFiles> render_dra_bundle(const Scenario& scenario,
                                        const models::Catalogue& catalogue,
                                        const ExportOptions& options) {
  if (options.image != NodeImage::Al2023) {
    return failure(Code::ExportUnfit, scenario.where,
                   "the NVIDIA variants of Bottlerocket, and EKS Auto Mode, bring the device "
                   "plugin, beside which NVIDIA's DRA driver must not run",
                   "--image al2023");
  }
  if (Diagnostics found = check_ec2(scenario); !found.empty()) return tl::unexpected(found);
  if (Diagnostics found = other_pods(scenario); !found.empty()) return tl::unexpected(found);
  const Expected<std::vector<PoolTarget>> targets = pool_targets(scenario, catalogue);
  if (!targets) return tl::unexpected(targets.error());
  Expected<ExportFiles> claims = render_dra(scenario, catalogue, options);
  if (!claims) return claims;
  const Expected<Scenario> claimed = as_claimed(scenario, catalogue);
  if (!claimed) return tl::unexpected(claimed.error());
  const auto mig = mig_parted_file(*targets, catalogue);
  if (!mig) return tl::unexpected(mig.error());
  const bool cuts = mig->has_value();

  ExportFiles files = std::move(*claims);
  files.push_back({"dra-driver-values.yaml", driver_values(scenario)});
  if (cuts)
    files.push_back({"gpu-operator-values.yaml", operator_values(scenario, *targets, **mig)});
  add_pods(*claimed, "pods/", files);
  std::vector<PoolNodes> nodes;
  for (const PoolTarget& target : *targets) nodes.push_back({target, ""});
  const std::string checks =
      type_checks(*targets) + node_checks(*claimed, nodes, "make these nodes first");
  files.push_back({"apply.sh",
                   filled(script_files::apply_dra_sh(),
                          {{"title", script_title(scenario, options, "Puts in place")},
                           {"check", script_files::check_files_sh()},
                           {"types", checks + (cuts ? new_operator_check(kBesideOperator) : "")},
                           {"release", release_lines(*targets, cuts)},
                           {"patches", patch_lines(*claimed)},
                           {"objects", object_lines(*claimed, "apply")},
                           {"pods", pod_steps(*claimed, !cuts)}}),
                   true});
  files.push_back({"rollback.sh",
                   filled(script_files::rollback_dra_sh(),
                          {{"title", script_title(scenario, options, "Takes back")},
                           {"check", cuts ? operator_rollback_check() : applied_check()},
                           {"deployments", undo_lines(*claimed)},
                           {"objects", object_lines(*claimed, "delete --ignore-not-found")},
                           {"labels", filled(script_files::put_back_labels_sh(), {{"since", ""}})},
                           {"release", chart_rollback(kDraDriverChart, kDraDriverChart)},
                           {"operator", cuts ? operator_rollback() : ""}}),
                   true});
  files.push_back({"VERIFY.md", verify_guide(*claimed, *targets, options)});
  files.push_back({"SHA256SUMS", checksums(files)});
  return files;
}

}  // namespace slicewise::reports

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"

// Configuration for the NVIDIA device plugin, ready to apply. Deterministic: same input, same
// bytes.
namespace slicewise::reports {

using scenarios::NodeImage;

inline constexpr int kMostRequests = 100'000;

struct ExportOptions {
  std::string chart_version = "0.20.0";  // of the chart nvidia-device-plugin, 0.14 to 0.20
  std::map<std::string, std::string> node_selector;  // nodes that run the plugin; empty = chart's
  NodeImage image = NodeImage::Al2023;  // of Karpenter's and eksctl's nodes, and of the bundle
  bool by_operator = false;     // the GPU Operator runs the plugin, whether or not something is cut
  std::string cluster = {};     // "": the placeholder ${CLUSTER_NAME}
  std::string repository = {};  // of Git, for argocd and flux; "": ${REPOSITORY_URL}
  // Of openmetrics: a label, when the run begins (absent: see kMetricsEpoch) and whether
  // dcgm-exporter's names are written as well.
  std::string scenario = {};
  std::optional<std::int64_t> start_unix = {};
  bool dcgm_compat = false;
  int most_requests = kMostRequests;  // rows of requests.csv
  std::string scenario_text = {};     // that is exported, as a file: scenarios::scenario_text()
  std::string origin = {};            // a sentence on what it is from and whether that stands
};

// Those that follow what the scenario says of its cluster.
ExportOptions export_options(const scenarios::Scenario& scenario);

// values.yaml for `helm upgrade -i nvdp nvdp/nvidia-device-plugin -f -`: one named config for each
// distinct plugin config of the node pools. Comments carry the choice of renameByDefault and why,
// roll-out and roll-back commands, the `kubectl describe node` block to expect, and who prints the
// matching pod patches.
//
// Errors: ENUM_UNKNOWN for a chart that is not supported, INSTANCE_UNKNOWN and GPU_UNKNOWN, and
// everything that the plugin or the chart version would refuse or silently ignore, all at once.
Expected<std::string> helm_values(const scenarios::Scenario& scenario,
                                  const models::Catalogue& catalogue, const ExportOptions& options);

// The same as a ConfigMap for a plugin that is installed with config.name. For chart 0.14 it has
// the name, namespace and key of the AWS time-slicing demo (sanjeevrg89/eks-gpu-sharing-demo).
Expected<std::string> config_map(const scenarios::Scenario& scenario,
                                 const models::Catalogue& catalogue, const ExportOptions& options);

// What the scenario says about the pods, as one strategic merge patch per workload (YAML documents
// for `kubectl patch --patch-file` or the patches of a kustomization). A workload that maps the
// whole GPU at start and shares it by time-slicing is told of TF_FORCE_GPU_ALLOW_GROWTH in a
// comment.
std::string pod_patches(const scenarios::Scenario& scenario);

// The one of `workload`, which is one of the scenario's.
std::string pod_patch(const scenarios::Scenario& scenario, const scenarios::Workload& workload);

// Everything that `slicewise export --to` can write, in one table: help, completion, the topic
// `explain export` and the bundle are made from it.

struct ExportFile {
  std::string path;  // relative, "pods/kustomization.yaml"
  std::string text;
  bool executable = false;
  std::string left_out = {};  // what belongs into it and is not there: "" is nothing
};
// In the order in which they are to be read; no path twice.
using ExportFiles = std::vector<ExportFile>;

// Writes nothing by itself. Errors: EXPORT_UNFIT when this kind of file cannot say what the
// scenario says, INSTANCE_UNKNOWN, GPU_UNKNOWN, and whatever the reader of the file would refuse or
// silently ignore, all at once.
using RenderExport = Expected<ExportFiles>(const scenarios::Scenario& scenario,
                                           const models::Catalogue& catalogue,
                                           const ExportOptions& options);

RenderExport render_helm_values;
RenderExport render_config_map;
RenderExport render_gpu_operator;
RenderExport render_mig_parted;
RenderExport render_karpenter;
RenderExport render_pod_patch;
RenderExport render_kustomize;
RenderExport render_bottlerocket;
RenderExport render_eksctl;
RenderExport render_dra;
RenderExport render_nos;
RenderExport render_hami;
RenderExport render_aws_vgpu;
RenderExport render_keda;
RenderExport render_kueue;
RenderExport render_terraform;
RenderExport render_probe_job;
RenderExport render_bundle;
RenderExport render_argocd;
RenderExport render_flux;
RenderExport render_scenario;
// These simulate the first replication and write down how it went (sim/recording.hpp).
RenderExport render_prometheus_rule;
RenderExport render_perfetto;
RenderExport render_openmetrics;
RenderExport render_grafana;
RenderExport render_csv_tables;

// Puts `origin` (ExportOptions) as a comment on top of what is one file alone and takes comments,
// as YAML and TOML do. Of a set of files those that people read have it inside.
void put_on_top(ExportFiles& files, std::string_view origin);

// When a simulated run begins, unless somebody says otherwise: on Monday 2026-01-05, at the time of
// the week at which the scenario starts. Unix seconds.
inline constexpr std::int64_t kMetricsEpoch = 1'767'571'200;

// Whether a kind is of use on nodes of some sort.
enum class Applies : std::uint8_t { Yes, No };

// Which of the ExportOptions a kind of file depends on.
struct ExportFlags {
  bool chart_version = false;
  bool image = false;
  bool gpu_operator = false;
  bool cluster = false;
  bool repository = false;
  bool node_selector = false;
};

struct ExportKind {
  std::string_view name;  // after --to
  std::string_view what;
  // Nodes on which it takes effect.
  Applies al2023;        // managed and self-managed node groups, Ubuntu as well
  Applies karpenter;     // nodes that Karpenter starts
  Applies bottlerocket;  // NVIDIA variants
  Applies auto_mode;     // EKS Auto Mode
  std::string_view remark;
  RenderExport* render;
  ExportFlags uses = {};
  bool shows_run = false;  // what a simulated run did, for other tools to show; changes no cluster
};

inline constexpr Applies kYes = Applies::Yes;
inline constexpr Applies kNo = Applies::No;

inline constexpr ExportFlags kUsesChart{.chart_version = true, .node_selector = true};
inline constexpr ExportFlags kUsesNodes{.image = true, .cluster = true};
inline constexpr ExportFlags kUsesAll{.chart_version = true,
                                      .image = true,
                                      .gpu_operator = true,
                                      .cluster = true,
                                      .node_selector = true};
inline constexpr ExportFlags kUsesRepository{.chart_version = true,
                                             .image = true,
                                             .gpu_operator = true,
                                             .cluster = true,
                                             .repository = true,
                                             .node_selector = true};

inline constexpr std::array kExportKinds = {
    ExportKind{"helm-values", "values of the device plugin's Helm chart", kYes, kYes, kNo, kNo,
               "one device plugin per node: not beside the GPU Operator, nor the DaemonSet that "
               "eksctl installs unless --install-nvidia-plugin=false",
               render_helm_values, kUsesChart},
    ExportKind{"configmap", "the same as a ConfigMap, for a plugin installed with config.name",
               kYes, kYes, kNo, kNo, "as helm-values", render_config_map, kUsesChart},
    ExportKind{"gpu-operator", "values of the GPU Operator's Helm chart", kYes, kYes, kNo, kNo,
               "driver and container toolkit come from the EKS image; it brings device plugin and "
               "mig-manager: in place of helm-values, not beside it",
               render_gpu_operator},
    ExportKind{"mig-parted", "MIG layouts, node labels and how to change them", kYes, kYes, kNo,
               kNo, "read by mig-manager (GPU Operator) or nvidia-mig-parted on the host",
               render_mig_parted},
    ExportKind{"karpenter", "NodePool, EC2NodeClass and NodeOverlay", kNo, kYes, kYes, kYes,
               "NodeOverlay is alpha: Karpenter 1.7 and newer with its feature gate",
               render_karpenter, kUsesNodes},
    ExportKind{"pod-patch", "what the pods ask for, as patches", kYes, kYes, kYes, kYes,
               "the name of the resource must be the one that the nodes offer", render_pod_patch},
    ExportKind{"kustomize", "the same patches as a kustomize component", kYes, kYes, kYes, kYes,
               "needs --out DIR", render_kustomize},
    ExportKind{"bottlerocket", "user data of Bottlerocket nodes, in TOML", kNo, kYes, kYes, kNo,
               "time-slicing since OS 1.25, MIG (one profile for all GPUs) since 1.34, MPS since "
               "1.54; the nodes rename to nvidia.com/gpu.shared unless told not to",
               render_bottlerocket},
    ExportKind{"eksctl", "ClusterConfig with the node groups", kYes, kNo, kYes, kNo,
               "eksctl installs a device plugin of its own, without sharing, unless "
               "--install-nvidia-plugin=false; a managed group has no fall-back from spot",
               render_eksctl, kUsesNodes},
    ExportKind{
        "terraform", "node groups, or Karpenter's objects, and the plugin's Helm release", kYes,
        kYes, kYes, kNo,
        "needs --out DIR, on AL2023; a module for a cluster that is there: aws_eks_node_group, "
        "kubectl_manifest and helm_release",
        render_terraform, kUsesAll},
    ExportKind{
        "dra", "claims and DeviceClasses of NVIDIA's DRA driver", kYes, kYes, kNo, kNo,
        "in place of the device plugin, never beside it on a node; Kubernetes 1.34 and newer, "
        "Karpenter 1.15; sharing is behind feature gates of the driver",
        render_dra},
    ExportKind{"nos", "node labels and pods for nebuly's nos", kYes, kNo, kNo, kNo,
               "MPS by memory slices (nos) and MIG (mixed); needs its fork of the device plugin; "
               "unmaintained since 2024",
               render_nos},
    ExportKind{"hami", "values of HAMi's Helm chart, and what the pods ask it for", kYes, kNo, kNo,
               kNo,
               "in place of NVIDIA's device plugin and, for pods with GPUs, of the scheduler; its "
               "settings are those of all nodes",
               render_hami},
    ExportKind{
        "aws-vgpu", "the DaemonSet of AWS's virtual GPU device plugin, and what pods need", kYes,
        kYes, kNo, kNo,
        "in place of NVIDIA's device plugin on these nodes: MPS for every pod, without limits; "
        "last changed in 2023",
        render_aws_vgpu},
    ExportKind{"keda", "ScaledObjects of the Services that are autoscaled", kYes, kYes, kYes, kYes,
               "KEDA and Prometheus; a query names the metric of vLLM, Triton or dcgm-exporter",
               render_keda},
    ExportKind{"kueue", "flavors and queues with the quotas that were simulated; KAI's queues",
               kYes, kYes, kYes, kYes,
               "needs --out DIR; Kueue 0.17 and newer; Jobs get their label by a component",
               render_kueue},
    ExportKind{"bundle", "a directory with all that applies, and scripts", kYes, kYes, kYes, kYes,
               "needs --out DIR; apply.sh, rollback.sh and VERIFY.md", render_bundle, kUsesAll},
    ExportKind{"argocd", "the bundle as a folder of a Git repository, with its Applications", kYes,
               kYes, kYes, kYes, "needs --out DIR; Argo CD 2.10 and newer", render_argocd,
               kUsesRepository},
    ExportKind{"flux", "the same with Flux's GitRepository, Kustomizations and HelmRelease", kYes,
               kYes, kYes, kYes, "needs --out DIR; Flux 2.7 and newer, 2.3 with slower upgrades",
               render_flux, kUsesRepository},
    ExportKind{"prometheus-rule", "alerts where the cluster leaves what was simulated", kYes, kYes,
               kYes, kYes,
               "Prometheus Operator; limits are objectives, and the most of the first replication",
               render_prometheus_rule},
    ExportKind{"probe-job", "Jobs that measure the GPUs of the nodes, by gpu_probe", kYes, kYes,
               kYes, kYes,
               "nothing else may run on the GPU meanwhile; --catalogue reads what they print",
               render_probe_job},
    ExportKind{"scenario", "the scenario as a file: one variant, or one option of a plan", kYes,
               kYes, kYes, kYes, "for slicewise itself: run it, change it, plan from it",
               render_scenario},
    ExportKind{"perfetto",
               "a simulated run as a trace for ui.perfetto.dev",
               kNo,
               kNo,
               kNo,
               kNo,
               "the first replication, GPU by GPU and pod by pod",
               render_perfetto,
               {},
               true},
    ExportKind{"openmetrics",
               "a simulated run as metrics for Prometheus",
               kNo,
               kNo,
               kNo,
               kNo,
               "back-filled by promtool tsdb create-blocks-from openmetrics; "
               "--start says when the run begins, --dcgm-compat adds the names of dcgm-exporter",
               render_openmetrics,
               {},
               true},
    ExportKind{"grafana",
               "a dashboard over these metrics",
               kNo,
               kNo,
               kNo,
               kNo,
               "import it in Grafana; it asks for the data source",
               render_grafana,
               {},
               true},
    ExportKind{"csv",
               "a simulated run as tables, for DuckDB or a spreadsheet",
               kNo,
               kNo,
               kNo,
               kNo,
               "needs --out DIR",
               render_csv_tables,
               {},
               true},
};

}  // namespace slicewise::reports

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/export.hpp"
#include "slicewise/sim/recording.hpp"

#include "../document/document_text.hpp"
#include "embedded/head_files.hpp"
#include "guide.hpp"
#include "pod_owner.hpp"

// Alerts where a cluster leaves what was simulated. Metrics as their exporters have them:
// kube-state-metrics docs/metrics/workload/pod-metrics.md; dcgm-exporter etc/default-counters.csv;
// vLLM docs/usage/metrics.md; Triton docs/user_guide/metrics.md; Karpenter's reference of metrics.
namespace slicewise::reports {
namespace {

using nlohmann::json;
using scenarios::Figure;
using scenarios::Scenario;
using scenarios::Workload;

// What a rule says, beside the numbers.
struct Alert {
  std::string_view name;
  std::string expression;
  std::string_view lasts;                     // before it fires
  std::map<std::string, std::string> labels;  // beside the severity: whom it is about
  std::string summary;
  std::string description;
};

json rule_of(const Alert& alert) {
  json labels = alert.labels;
  labels["severity"] = "warning";
  return {{"alert", alert.name},
          {"expr", alert.expression},
          {"for", alert.lasts},
          {"labels", std::move(labels)},
          {"annotations", {{"summary", alert.summary}, {"description", alert.description}}}};
}

std::string pods_of(const Workload& workload) {
  return fmt::format(R"(namespace="{}",pod=~"{}-.*")", workload.namespace_name,
                     workload.name.value);
}

// Of all workloads: a Pending pod of one is in the way of another's.
Alert pending_pods(const Scenario& scenario, std::int64_t most) {
  std::set<std::string> namespaces;
  std::set<std::string> names;
  for (const Workload& workload : scenario.workloads) {
    namespaces.insert(workload.namespace_name);
    names.insert(workload.name.value + "-.*");
  }
  return {
      "SlicewisePodsPending",
      fmt::format(R"(sum(kube_pod_status_phase{{namespace=~"{}",pod=~"{}",phase="Pending"}}) > {})",
                  fmt::join(namespaces, "|"), fmt::join(names, "|"), most),
      "15m",
      {},
      "More pods are Pending than were simulated",
      fmt::format("At most {} were Pending at once in the simulated run; {{{{ $value }}}} are. "
                  "kubectl describe pod names what no node offers.",
                  most)};
}

Alert queueing(const Workload& workload, std::int64_t most) {
  const std::string_view metric =
      workload.llm ? "vllm:num_requests_waiting" : "nv_inference_pending_request_count";
  return {"SlicewiseRequestsQueue",
          fmt::format("sum({}{{{}}}) > {}", metric, pods_of(workload), most),
          "5m",
          {{"workload", workload.name.value}},
          fmt::format("More requests of {} wait than were simulated", workload.name.value),
          fmt::format(
              "At most {} waited at the end of a bucket of the simulated run; {{{{ $value }}}} do.",
              most)};
}

// A quantile of what a client sees, as its server says it; "" for figures that no server has.
struct LatencyFigure {
  Figure figure;
  std::string_view name;
  std::string_view quantile;
  std::string_view of;  // vLLM's histogram, "" for the whole answer
};
constexpr LatencyFigure kLatencyFigures[] = {
    {Figure::LatencyP50, "latencyP50", "0.5", ""},
    {Figure::LatencyP90, "latencyP90", "0.9", ""},
    {Figure::LatencyP95, "latencyP95", "0.95", ""},
    {Figure::LatencyP99, "latencyP99", "0.99", ""},
    {Figure::LatencyP999, "latencyP999", "0.999", ""},
    {Figure::TtftP50, "ttftP50", "0.5", "vllm:time_to_first_token_seconds"},
    {Figure::TtftP95, "ttftP95", "0.95", "vllm:time_to_first_token_seconds"},
    {Figure::TtftP99, "ttftP99", "0.99", "vllm:time_to_first_token_seconds"},
    {Figure::TpotP50, "tpotP50", "0.5", "vllm:request_time_per_output_token_seconds"},
    {Figure::TpotP95, "tpotP95", "0.95", "vllm:request_time_per_output_token_seconds"},
    {Figure::TpotP99, "tpotP99", "0.99", "vllm:request_time_per_output_token_seconds"},
};

std::string quantile_of(const Workload& workload, const LatencyFigure& figure) {
  if (workload.llm) {
    const std::string_view histogram =
        figure.of.empty() ? "vllm:e2e_request_latency_seconds" : figure.of;
    return fmt::format("histogram_quantile({}, sum by (le) (rate({}_bucket{{{}}}[5m])))",
                       figure.quantile, histogram, pods_of(workload));
  }
  // Quantiles of pods do not add up: the worst.
  return fmt::format(R"(max(nv_inference_request_summary_us{{{},quantile="{}"}}) / 1e6)",
                     pods_of(workload), figure.quantile);
}

void add_latency(const Workload& workload, std::vector<Alert>& alerts) {
  for (const scenarios::Objective& objective : workload.objectives) {
    const auto* figure =
        std::ranges::find(kLatencyFigures, objective.figure, &LatencyFigure::figure);
    const auto* limit = std::get_if<Duration>(&objective.limit);
    if (figure == std::end(kLatencyFigures) || limit == nullptr) continue;
    alerts.push_back(
        {"SlicewiseObjectiveMissed",
         fmt::format("{} > {:.9g}", quantile_of(workload, *figure), to_seconds(*limit)),
         "10m",
         {{"workload", workload.name.value}, {"figure", std::string(figure->name)}},
         fmt::format("{} misses its objective", workload.name.value),
         fmt::format("The limit of {} is {:.9g} s; it is {{{{ $value }}}} s.", figure->name,
                     to_seconds(*limit))});
  }
}

// The devices of one kind: whole GPUs of a model, or MIG instances of a profile of it.
using DeviceKind = std::pair<std::string, std::string>;

std::map<DeviceKind, Bytes> memory_of(const sim::Recording& recording) {
  std::map<DeviceKind, Bytes> most;
  for (const sim::RecordedGpu& gpu : recording.gpus) {
    Bytes& held = most[{gpu.model, gpu.partition}];
    for (const Bytes bytes : gpu.memory) held = std::max(held, bytes);
  }
  return most;
}

// dcgm-exporter's modelName is what nvidia-smi prints, with blanks where GPU Feature Discovery's
// label has hyphens.
void add_memory(const sim::Recording& recording, const models::Catalogue& catalogue,
                std::vector<Alert>& alerts) {
  for (const auto& [kind, most] : memory_of(recording)) {
    const models::GpuModel* gpu = catalogue.find_gpu(kind.first);
    if (gpu == nullptr || gpu->kubernetes_product.empty() || most.count == 0) continue;
    std::string model = gpu->kubernetes_product;
    std::ranges::replace(model, '-', '.');
    std::string labels = fmt::format(R"(modelName=~"{}")", model);
    if (!kind.second.empty()) labels += fmt::format(R"(,GPU_I_PROFILE="{}")", kind.second);
    std::map<std::string, std::string> about = {{"gpu_model", kind.first}};
    if (!kind.second.empty()) about["gpu_partition"] = kind.second;
    const std::int64_t mebibytes_held = (most.count + (1 << 20) - 1) >> 20;
    alerts.push_back(
        {"SlicewiseGpuMemory",
         fmt::format("max by (Hostname, gpu, GPU_I_ID) (DCGM_FI_DEV_FB_USED{{{}}}) > {}", labels,
                     mebibytes_held),
         "5m", std::move(about),
         fmt::format("Pods take more memory of a {}{}{} than was simulated", kind.first,
                     kind.second.empty() ? "" : " slice ", kind.second),
         fmt::format("The scenario's processes hold at most {} MiB there, contexts included; {{{{ "
                     "$value }}}} MiB are used on GPU {{{{ $labels.gpu }}}} of {{{{ "
                     "$labels.Hostname }}}}. The next one may run out of memory.",
                     mebibytes_held)});
  }
}

// The most that were started within an hour.
std::int64_t most_in_an_hour(const sim::Recording& recording, const std::string& pool) {
  std::vector<TimePoint> started;
  for (const sim::RecordedNode& node : recording.nodes) {
    if (node.pool_name == pool && node.launched) started.push_back(*node.launched);
  }
  std::ranges::sort(started);
  std::int64_t most = 0;
  for (auto first = started.begin(); first != started.end(); ++first) {
    const auto last = std::ranges::upper_bound(first, started.end(), *first + hours(1));
    most = std::max<std::int64_t>(most, last - first);
  }
  return most;
}

void add_thrash(const Scenario& scenario, const sim::Recording& recording,
                std::vector<Alert>& alerts) {
  if (scenario.provisioner.kind != scenarios::Provisioner::Kind::Karpenter) return;
  for (const scenarios::NodePool& pool : scenario.node_pools) {
    const std::int64_t most = most_in_an_hour(recording, pool.name.value);
    alerts.push_back(
        {"SlicewiseNodesComeAndGo",
         fmt::format(R"(sum(increase(karpenter_nodes_created_total{{nodepool="{}"}}[1h])) > {})",
                     pool.name.value, most),
         "15m",
         {{"nodepool", pool.name.value}},
         fmt::format("Karpenter starts more nodes of {} than were simulated", pool.name.value),
         fmt::format(
             "At most {} were started within an hour of the simulated run; {{{{ $value }}}} were. "
             "Where shares are not known to Karpenter it starts nodes that do not fit.",
             most)});
  }
}

std::string alerts_title(const Scenario& scenario, const sim::Recording& recording) {
  return head(head_files::alerts_txt(),
              {{"variant", yaml_scalar(scenario.name)}, {"seed", std::to_string(recording.seed)}});
}

}  // namespace

Expected<ExportFiles> render_prometheus_rule(const Scenario& scenario,
                                             const models::Catalogue& catalogue,
                                             const ExportOptions& /*options*/) {
  const Expected<sim::World> world = sim::build_world(scenario, catalogue);
  if (!world) return tl::unexpected(world.error());
  const auto recording = sim::record(*world);
  std::vector<Alert> alerts = {pending_pods(scenario, recording->result.pods.pending_max)};
  for (std::size_t w = 0; w < scenario.workloads.size(); ++w) {
    const Workload& workload = scenario.workloads[w];
    const std::vector<std::int64_t>& waiting = recording->workloads[w].waiting;
    if (workload.traffic && !waiting.empty()) {
      alerts.push_back(queueing(workload, *std::ranges::max_element(waiting)));
    }
    add_latency(workload, alerts);
  }
  add_memory(*recording, catalogue, alerts);
  add_thrash(scenario, *recording, alerts);
  json rules = json::array();
  for (const Alert& alert : alerts) rules.push_back(rule_of(alert));
  const json object = kubernetes_object(
      "monitoring.coreos.com/v1", "PrometheusRule",
      {{"name", "slicewise"}, {"labels", {{"release", "kube-prometheus-stack"}}}},
      {{"groups", json::array({{{"name", "slicewise"}, {"rules", std::move(rules)}}})}});
  return ExportFiles{
      {"prometheus-rule.yaml", alerts_title(scenario, *recording) + yaml_text(object)}};
}

}  // namespace slicewise::reports

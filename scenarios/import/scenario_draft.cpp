#include "scenario_draft.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../text/flow_text.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::string_view kKindNames[] = {"Job", "Deployment", "Service", "Notebook"};

class Writer {
 public:
  explicit Writer(const ScenarioDraft& draft) : draft_(draft) {}

  ScenarioText write() {
    line(
        fmt::format("# Made by `slicewise {}`. TODO marks what the source does not say: the values "
                    "there are Assumed.",
                    draft_.made_by));
    line("apiVersion: slicewise.dev/v1alpha1");
    line("kind: Scenario");
    line(fmt::format("metadata: {{name: {}}}", scalar_text(draft_.name)));
    line("spec:");
    line(fmt::format("  region: {}",
                     draft_.region.empty() ? "us-east-1" : in_quotes(draft_.region)));
    line(duration());
    if (!draft_.provisioner.empty()) line("  provisioner: " + draft_.provisioner);
    line("  nodePools:");
    for (const DraftPool& pool : draft_.pools) write_pool(pool);
    line("  workloads:");
    for (const DraftWorkload& workload : draft_.workloads) write_workload(workload);
    return {std::move(text_), missing()};
  }

 private:
  void line(const std::string& text) {
    text_ += text;
    text_ += '\n';
    line_ += 1 + static_cast<int>(std::ranges::count(text, '\n'));
  }

  // A line that somebody has to look at.
  void todo(const std::string& text, const std::string& comment, const std::string& what,
            const std::string& whose) {
    line(fmt::format("{}  # TODO: {}", text, comment));
    auto found =
        std::ranges::find(missing_, what, &std::pair<std::string, std::vector<std::string>>::first);
    if (found == missing_.end()) found = missing_.insert(found, {what, {}});
    found->second.push_back(whose);
    lines_.push_back(line_);
  }

  // People come by the clock: a working day shows them, half an hour of the night does not.
  std::string duration() const {
    const auto has = [&](DraftWorkload::Kind kind) {
      return std::ranges::find(draft_.workloads, kind, &DraftWorkload::kind) !=
             draft_.workloads.end();
    };
    using Kind = DraftWorkload::Kind;
    if (has(Kind::Notebook)) return "  startsAt: Mon 00:00\n  duration: 1d";
    return has(Kind::Service) || has(Kind::Deployment) ? "  duration: 30m" : "  until: AllJobsDone";
  }

  static std::string nodes_text(const DraftPool& pool) {
    constexpr std::int64_t kMost = 10'000;
    if (!pool.most_nodes) {
      return fmt::format("    nodes: {}", std::clamp<std::int64_t>(pool.nodes, 1, kMost));
    }
    const std::int64_t most = std::clamp<std::int64_t>(*pool.most_nodes, 1, kMost);
    return fmt::format("    nodes: {{min: {}, max: {}}}",
                       std::clamp<std::int64_t>(pool.nodes, 0, most), most);
  }

  void write_pool(const DraftPool& pool) {
    line(fmt::format("  - name: {}", scalar_text(pool.name)));
    const std::string type = fmt::format("    instanceType: {}", in_quotes(pool.instance_type));
    pool.type_is_assumed ? todo(type, "Assumed", "instanceType", pool.name) : line(type);
    const std::string nodes = nodes_text(pool);
    pool.nodes_are_assumed ? todo(nodes, "Assumed: enough GPUs for the pods", "nodes", pool.name)
                           : line(nodes);
    if (pool.weight > 0) {
      line(fmt::format("    weight: {}", std::min<std::int64_t>(pool.weight, 100)));
    }
    if (!pool.capacity_type.empty()) line(fmt::format("    capacityType: {}", pool.capacity_type));
    if (pool.falls_back) line("    spot: {fallback: on-demand}");
    write_labels("    labels", pool.labels);
    if (!pool.taints.empty()) line(fmt::format("    taints: [{}]", fmt::join(pool.taints, ", ")));
    if (pool.sharing.empty()) return;
    const std::string sharing = "    " + pool.sharing;
    pool.sharing_is_assumed ? todo(sharing, "Assumed", "sharing", pool.name) : line(sharing);
  }

  template <class Labels>
  static std::string labels_text(const Labels& labels) {
    std::string text;
    for (const auto& [name, value] : labels) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", in_quotes(name), in_quotes(value));
    }
    return "{" + text + "}";
  }

  void write_labels(const std::string& key, const DraftLabels& labels) {
    if (!labels.empty()) line(fmt::format("{}: {}", key, labels_text(labels)));
  }

  void write_workload(const DraftWorkload& w) {
    line(fmt::format("  - name: {}", scalar_text(w.name)) +
         (w.comment.empty() ? "" : "  # " + w.comment));
    if (!w.space.empty()) line(fmt::format("    namespace: {}", scalar_text(w.space)));
    line(fmt::format("    kind: {}", kKindNames[static_cast<std::size_t>(w.kind)]));
    if (w.kind != DraftWorkload::Kind::Notebook) {
      line(fmt::format("    {}: {}", w.kind == DraftWorkload::Kind::Job ? "count" : "replicas",
                       std::clamp<std::int64_t>(w.pods, 0, 1'000'000)));
    }
    if (w.scaling) write_scaling(*w.scaling);
    if (w.priority != 0) line(fmt::format("    priority: {}", w.priority));
    if (w.backoff_limit) line(fmt::format("    backoffLimit: {}", *w.backoff_limit));
    if (!w.restart_policy.empty()) line(fmt::format("    restartPolicy: {}", w.restart_policy));
    write_pod(w);
    write_memory(w);
    write_figures(w);
  }

  void write_scaling(const ScalingFile& scaling) {
    std::string text = fmt::format("    autoscaling: {{min: {}, max: {}, metric: {}, target: {}",
                                   scaling.fewest, scaling.most, scaling.metric, scaling.target);
    for (const auto& [key, value] : {std::pair("syncPeriod", &scaling.every),
                                     std::pair("scaleDownWindow", &scaling.down_window),
                                     std::pair("scaleUpWindow", &scaling.up_window),
                                     std::pair("cooldown", &scaling.cooldown)}) {
      if (!value->empty()) text += fmt::format(", {}: {}", key, *value);
    }
    line(text + "}");
  }

  void write_pod(const DraftWorkload& w) {
    std::string requests;
    if (w.cpu_milli > 0) requests = fmt::format("cpu: {}m", w.cpu_milli);
    if (w.memory_bytes > 0) {
      constexpr std::int64_t kMebibyte = 1'048'576;
      requests += fmt::format("{}memory: {}Mi", requests.empty() ? "" : ", ",
                              (w.memory_bytes + kMebibyte - 1) / kMebibyte);
    }
    line("    podTemplate:");
    line(fmt::format("      resources: {{requests: {{{}}}, limits: {{{}: {}}}}}", requests,
                     w.resource, w.gpus));
    if (!w.tolerations.empty()) {
      line(fmt::format("      tolerations: [{}]", fmt::join(w.tolerations, ", ")));
    }
    write_labels("      nodeSelector", w.node_selector);
    write_labels("      labels", w.labels);
    write_anti_affinity(w.anti_affinity);
    write_labels("      annotations", w.annotations);
    write_labels("      env", w.environment);
  }

  void write_anti_affinity(const std::vector<PodAffinityTerm>& terms) {
    if (terms.empty()) return;
    line("      affinity:");
    line("        podAntiAffinity:");
    line("          requiredDuringSchedulingIgnoredDuringExecution:");
    for (const PodAffinityTerm& term : terms) {
      line(fmt::format("            - topologyKey: {}", term.topology_key));
      line(fmt::format("              labelSelector: {{matchLabels: {}}}",
                       labels_text(term.match_labels)));
      if (term.namespaces.empty()) continue;
      std::vector<std::string> spaces;
      for (const std::string& space : term.namespaces) spaces.push_back(in_quotes(space));
      line(fmt::format("              namespaces: [{}]", fmt::join(spaces, ", ")));
    }
  }

  void write_memory(const DraftWorkload& w) {
    constexpr std::int64_t kMebibyte = 1'048'576;
    // What `check` warns of in the manifest, the scenario runs into.
    const std::string_view allocator = w.is_greedy ? "allocator: Greedy, " : "";
    const std::string_view risk =
        w.is_greedy ? "; TensorFlow maps all free memory (GPU_MEM_GREEDY) without "
                      "TF_FORCE_GPU_ALLOW_GROWTH"
                    : "";
    if (!w.gpu_memory && !w.profile.empty() && !w.is_greedy) return;
    if (!w.gpu_memory) {
      todo(fmt::format("    gpuMemory: {{{}resident: 2Gi}}", allocator),
           fmt::format("Assumed{}", risk), "gpuMemory", w.name);
      return;
    }
    const std::string memory = fmt::format("    gpuMemory: {{{}resident: {}Mi}}", allocator,
                                           (w.gpu_memory->count + kMebibyte - 1) / kMebibyte);
    if (w.is_greedy) return todo(memory, std::string(risk.substr(2)), "gpuMemory", w.name);
    w.memory_is_measured ? line(memory + "  # the most that was seen") : line(memory);
  }

  // GPU time and rate of requests: what is not known follows from how busy the GPU was where that
  // is known, and is a guess otherwise.
  void write_requests(const DraftWorkload& w) {
    constexpr double kMeanOfP50 = 1.0455;  // of a lognormal law with p99 = 2 p50
    const std::string use = w.gpu_permille ? fmt::format("the GPU was in use {}.{} % of the time",
                                                         *w.gpu_permille / 10, *w.gpu_permille % 10)
                                           : "";
    // GPU seconds a second, by all pods.
    const double load = w.gpu_permille ? *w.gpu_permille * 1e-3 *
                                             static_cast<double>(std::max<std::int64_t>(1, w.pods))
                                       : 0;
    double seconds = 0.03;
    if (const auto given = parse_duration(w.gpu_time)) {
      seconds = to_seconds(*given);
    } else if (const auto rate = parse_rate(w.traffic); rate && load > 0 && rate->per_second > 0) {
      seconds = load / rate->per_second / kMeanOfP50;
    }
    // Of the time in which the GPU is in use: what fills the SMs cannot be more.
    std::string fill;
    if (w.gpu_permille && w.sm_permille && *w.sm_permille <= *w.gpu_permille) {
      fill = fmt::format("smActive: {:.1f}%, ", 100.0 * *w.sm_permille / *w.gpu_permille);
    }
    const auto micros = std::max<std::int64_t>(1, std::llround(seconds * 1e6));
    const auto text = [](std::int64_t us) {
      return us % 1'000 == 0 ? fmt::format("{}ms", us / 1'000) : fmt::format("{}us", us);
    };
    const std::string time =
        fmt::format("    measured: {{requestGpuTime: {{p50: {}, p99: {}}}, {}provenance: Assumed}}",
                    text(micros), text(2 * micros), fill);
    if (!w.gpu_time.empty()) {
      todo(time, "p50 as annotated; p99 Assumed", "p99 of requestGpuTime", w.name);
    } else if (w.profile.empty()) {
      todo(time, use.empty() ? "GPU time of a request" : "Assumed; " + use, "measured", w.name);
    }
    if (!w.traffic.empty()) {
      line(fmt::format("    traffic: {{shape: Poisson, mean: {}}}  # {}", w.traffic,
                       w.traffic_from));
      return;
    }
    // The profile's time is the catalogue's to know.
    const bool follows = load > 0 && (w.profile.empty() || !w.gpu_time.empty());
    const double rate = follows ? load / (seconds * kMeanOfP50) : 1;
    todo(fmt::format("    traffic: {{shape: Poisson, mean: {:.4g}/s, provenance: Assumed}}", rate),
         follows ? "so many that " + use : "rate of requests", "traffic", w.name);
  }

  void write_figures(const DraftWorkload& w) {
    if (!w.profile.empty()) line(fmt::format("    profile: {}", in_quotes(w.profile)));
    if (w.kind == DraftWorkload::Kind::Service) return write_requests(w);
    std::string use =
        w.gpu_permille ? fmt::format("gpuUtil: {}.{}%", *w.gpu_permille / 10, *w.gpu_permille % 10)
                       : "gpuBusy: 50%";
    // What fills the SMs cannot be more than what keeps the GPU in use.
    if (w.gpu_permille && w.sm_permille && *w.sm_permille <= *w.gpu_permille) {
      use += fmt::format(", smActive: {}.{}%", *w.sm_permille / 10, *w.sm_permille % 10);
    }
    if (w.kind == DraftWorkload::Kind::Notebook) {
      todo(
          "    notebooks: {users: 1, sessionsPerDay: 1.5, length: {p50: 2h, p95: 7h}, peaksAt: "
          "[\"09:30\", \"14:00\"], interval: {p50: 45s, p95: 12m}, gpuTime: {p50: 2s, p95: 40s}}",
          "Assumed: sessions and cells", "notebooks", w.name);
      line("    measured: {provenance: Assumed}");
      return;
    }
    constexpr std::int64_t kUnits = 100;
    line(fmt::format("    work: {{units: {}}}", kUnits));
    if (!w.profile.empty()) return;
    if (w.run_time) {
      const std::int64_t unit = std::max<std::int64_t>(1'000'000, w.run_time->ns / kUnits);
      todo(fmt::format("    measured: {{unitTime: {}us, {}, provenance: Assumed}}", unit / 1'000,
                       use),
           w.gpu_permille ? "the run time as it was, perhaps beside others"
                          : "the run time as it was; gpuBusy Assumed",
           "measured", w.name);
    } else {
      todo(fmt::format("    measured: {{unitTime: 6s, {}, provenance: Assumed}}", use),
           "time of one of the 100 units", "measured", w.name);
    }
  }

  std::string missing() const {
    if (missing_.empty()) return {};
    std::string text = "Missing: ";
    for (const auto& [what, names] : missing_) {
      text += fmt::format("{}{} ({})", text.size() == 9 ? "" : ", ", what, first_of(names, 5));
    }
    return fmt::format("{}. Filled with Assumed values; see TODO lines {}.", text,
                       first_of(lines_, 20));
  }

  template <class Item>
  static std::string first_of(const std::vector<Item>& items, std::size_t most) {
    const std::span<const Item> shown(items.data(), std::min(items.size(), most));
    return fmt::format("{}{}", fmt::join(shown, ", "), items.size() > most ? ", ..." : "");
  }

  const ScenarioDraft& draft_;
  std::string text_;
  int line_ = 0;
  std::vector<std::pair<std::string, std::vector<std::string>>> missing_;
  std::vector<int> lines_;
};

bool offers(const DraftPool& pool, const std::string& resource) {
  const auto has = [&](std::string_view word) {
    return pool.sharing.find(word) != std::string::npos;
  };
  const bool renames = has("renameByDefault: true");
  const bool is_mixed = has("strategy: mixed");
  if (resource == kGpuResource) {
    return !renames && !is_mixed && !has("virtualGpu") && !has("nos:");
  }
  if (resource == "k8s.amazonaws.com/vgpu") return has("virtualGpu");
  if (resource.starts_with(kMigPrefix)) {
    std::string profile = resource.substr(kMigPrefix.size());
    constexpr std::string_view kShared = ".shared";
    const bool is_shared = profile.ends_with(kShared);
    if (is_shared) profile.resize(profile.size() - kShared.size());
    return is_mixed && (!is_shared || renames) && has(profile);
  }
  if (resource.starts_with("nvidia.com/gpu-")) return has("nos:");
  return renames && resource == "nvidia.com/gpu.shared";
}

// How many of a pool's units one GPU makes, as its sharing says.
std::int64_t units_per_gpu(const DraftPool& pool) {
  for (const std::string_view key : {"replicas: ", "perGpu: "}) {
    const std::size_t at = pool.sharing.find(key);
    if (at == std::string::npos) continue;
    const std::int64_t units = std::atoll(pool.sharing.c_str() + at + key.size());
    return std::clamp<std::int64_t>(units, 1, 10'000);
  }
  const std::size_t layout = pool.sharing.find("all-");
  if (!pool.sharing.starts_with("mig:") || layout == std::string::npos) return 1;
  return std::max<std::int64_t>(1, 7 / std::max(1, std::atoi(pool.sharing.c_str() + layout + 4)));
}

}  // namespace

ScenarioText written(const ScenarioDraft& draft) { return Writer(draft).write(); }

std::int64_t gpus_of(const std::string& type, const ImportOptions& options) {
  const auto known = std::ranges::find(options.instances, type, &InstanceGpus::name);
  return known == options.instances.end() ? 1 : known->count;
}

std::string dns_name(const std::string& text, const std::string& other) {
  constexpr std::size_t kLongest = 63;
  std::string name;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || upper) {
      name += upper ? static_cast<char>(c + 32) : c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  name = name.substr(0, kLongest);
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? other : name;
}

DraftPool assumed_pool(const std::string& resource, std::int64_t gpus_of_pod,
                       std::optional<int> replicas) {
  DraftPool pool;
  pool.name = "gpu";
  pool.instance_type = "g5.xlarge";
  pool.type_is_assumed = true;
  pool.sharing_is_assumed = true;
  if (gpus_of_pod > 1) pool.instance_type = gpus_of_pod <= 4 ? "g5.12xlarge" : "g5.48xlarge";
  if (resource.starts_with(kMigPrefix)) {
    const std::string profile = resource.substr(kMigPrefix.size());
    // Slices of 5 GB are those of an A100 of 40 GB, others as a rule those of 80 GB.
    const bool small = profile.ends_with("g.5gb") || profile == "2g.10gb" || profile == "3g.20gb" ||
                       profile == "4g.20gb" || profile == "7g.40gb";
    pool.instance_type = small ? "p4d.24xlarge" : "p5.48xlarge";
    pool.sharing = fmt::format("mig: {{strategy: mixed, config: all-{}}}", profile);
  } else if (resource == "k8s.amazonaws.com/vgpu") {
    pool.instance_type = "g5.xlarge";
    pool.sharing = fmt::format("virtualGpu: {{perGpu: {}}}", replicas.value_or(10));
  } else if (resource.starts_with("nvidia.com/gpu-")) {
    const std::string size = resource.substr(std::string_view("nvidia.com/gpu-").size());
    pool.sharing = fmt::format("nos: {{slices: [{}, {}]}}", size, size);
  } else if (resource == "nvidia.com/gpu.shared" || replicas) {
    const bool renamed = resource == "nvidia.com/gpu.shared";
    pool.sharing = fmt::format(
        "devicePlugin: {{version: v1, sharing: {{timeSlicing: {{{}resources: [{{name: "
        "nvidia.com/gpu, "
        "replicas: {}}}]}}}}}}",
        renamed ? "renameByDefault: true, " : "", std::max(2, replicas.value_or(4)));
    pool.sharing_is_assumed = !replicas;
  }
  return pool;
}

namespace {

// "a", then "a-2" and "a-3". `given` has the last number of each name: a thousand of one name are
// not counted through for the next.
std::string new_name(const std::string& name, std::map<std::string, int>& given) {
  int& last = given[name];
  if (++last == 1) return name;
  std::string numbered = fmt::format("{}-{}", name, last);
  while (!given.try_emplace(numbered, 1).second) numbered = fmt::format("{}-{}", name, ++last);
  return numbered;
}

}  // namespace

void complete(ScenarioDraft& draft, const ImportOptions& options) {
  std::map<std::string, int> names;
  for (DraftWorkload& workload : draft.workloads) {
    if (names.contains(workload.name)) {
      workload.name =
          dns_name(workload.name.substr(0, 40) + "-" + workload.space.substr(0, 16), "w");
    }
    workload.name = new_name(workload.name, names);
  }
  for (const DraftWorkload& workload : draft.workloads) {
    const bool is_offered = std::ranges::any_of(
        draft.pools, [&](const DraftPool& pool) { return offers(pool, workload.resource); });
    if (is_offered) continue;
    draft.pools.push_back(assumed_pool(workload.resource, workload.gpus, options.replicas));
  }
  std::map<std::string, int> pools;
  for (DraftPool& pool : draft.pools) {
    pool.name = new_name(pool.name, pools);
    if (!pool.nodes_are_assumed) continue;
    std::int64_t units = 0;
    for (const DraftWorkload& workload : draft.workloads) {
      if (!offers(pool, workload.resource)) continue;
      constexpr std::int64_t kMost = 1'000'000;
      units += std::min(workload.pods, kMost) * std::min(workload.gpus, kMost);
    }
    const std::int64_t each = units_per_gpu(pool) * gpus_of(pool.instance_type, options);
    pool.nodes =
        std::max(pool.nodes, (std::min<std::int64_t>(units, 10'000'000) + each - 1) / each);
  }
}

}  // namespace slicewise::scenarios

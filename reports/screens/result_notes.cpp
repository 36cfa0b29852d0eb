#include "result_notes.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "../text/text_table.hpp"
#include "result_figures.hpp"
#include "screen.hpp"

namespace slicewise::reports {
namespace {

void add_once(std::vector<std::string>& lines, std::string line) {
  if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
}

// "unitTime, gpuBusy, ..." of "cifar10: unitTime", "cifar10: gpuBusy" and so on.
std::string field_names(const std::vector<sim::AssumedInput>& inputs) {
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::string> names;
  for (const sim::AssumedInput& input : inputs) add_once(names, std::string(input.name()));
  const bool more = names.size() > kMostNamed;
  if (more) names.resize(kMostNamed);
  return joined(names) + (more ? ", ..." : "");
}

// The variants of a scenario mostly share their inputs; each is named once.
std::string assumed_line(std::span<const sim::VariantResult> variants, bool full) {
  const std::vector<sim::AssumedInput> inputs = assumed_inputs(variants);
  if (inputs.empty()) {
    int counted = 0;
    for (const auto& variant : variants) counted = std::max(counted, variant.provenance.assumed);
    return counted == 0 ? "" : fmt::format("{} inputs Assumed: nobody measured them", counted);
  }
  const bool one = inputs.size() == 1;
  if (!full) {
    return fmt::format("{} {} Assumed (-o wide lists {}): {}", inputs.size(),
                       one ? "input" : "inputs", one ? "it" : "them", field_names(inputs));
  }
  return fmt::format("{} {} Assumed: nobody measured {}: {}", inputs.size(),
                     one ? "input" : "inputs", one ? "it" : "them",
                     joined(std::vector<std::string>(inputs.begin(), inputs.end())));
}

std::string prices_text(const sim::Stamp& stamp, const Signs& s, std::size_t hash_shown) {
  if (stamp.price_file.empty()) return "prices " + stamp.price_date;
  return fmt::format("prices {} ({}, {}{})", stamp.price_file, stamp.price_date,
                     stamp.price_file_sha256.substr(0, hash_shown), s.ellipsis);
}

constexpr NotModelled kNotModelled[] = {
    {"PCIe and NVLink contention",
     "jobs that copy much between host and GPU, or between GPUs, disturb each other more than "
     "is shown: pods with several GPUs have their links to themselves; MIG instances have no "
     "link "
     "to each other"},
    {"clocks under heat and power caps",
     "a GPU that is kept busier may lower its clock, and the instances of one GPU share its "
     "power: seven busy slices are a little slower than one alone; the clock is constant here"},
    {"L2 and DRAM contention of single kernels under MPS",
     "clients that have SMs of their own slow each other by a fixed 7 %, as measured on average; "
     "a pair that fights for the cache does worse, one that does not does better"},
    {"scheduling delay of many MPS clients",
     "each client beyond the second delays a kernel by some microseconds, which only jobs of "
     "many very short kernels notice"},
    {"static SM partitions of MPS",
     "since CUDA 13.1 a partition of SMs can be a client's own on Ampere and later "
     "(nvidia-cuda-mps-control -S; docs.nvidia.com/deploy/mps, Using Static SM Partitioning): "
     "nobody borrows what is idle there, and its faults stay inside; nothing measured says how "
     "fast clients are so, and the device plugin does not set it: activeThreads comes closest, "
     "which limits a client and keeps no SMs for it"},
    {"NVLink between instances",
     "the GPUs of all 9 or 18 instances of a P6e-GB200 UltraServer reach each other over NVLink; "
     "here those of one instance do"},
    {"start-up of MPS clients", "the first contact with the MPS server takes no time here"},
    {"turns of several processes in one pod",
     "under time-slicing the CUDA processes of a pod take one turn together, not one each; under "
     "MPS their memory and their limits count each, but a pod answers one batch at a time, or does "
     "one unit, as one client, however many they are: replicas of one process are simulated each"},
    {"ranks of a job on several nodes, step by step",
     "the pods of a job (podsPerJob) begin and end together and each goes at its own pace "
     "meanwhile; where ranks exchange gradients, one that is slowed first and another that is "
     "slowed later make the job longer than is shown; GPUs of one pod keep step"},
    {"kernel interference in caches",
     "with time-slicing, beyond the refill of a cold L2 after a switch, tenants do not slow each "
     "other's kernels"},
    {"CPUs in place of GPUs",
     "profiles are of GPUs, and none says how long the same work takes on CPUs: whether a service "
     "is cheaper without a GPU is a measurement of yours"},
    {"checkpoints",
     "a job that is evicted or hit by a fault starts over from its first unit of work; only the "
     "queues srtf and srsf let it go on"},
    {"MIG changes node by node",
     "when the layout changes, all nodes of the pool are drained at once; a rolling change "
     "would keep some of them in service"},
    {"CPUs of another kind",
     "host work takes as long on the CPUs of every instance type, those of arm64 included"},
    {"NUMA placement", "a pod whose CPUs sit on the far socket feeds its GPU more slowly"},
    {"image registry throughput",
     "many nodes that pull at once share a registry; here each pull takes its own time only"},
    {"CFS weights between pods",
     "when the vCPUs of a node bind, all pods slow down alike, whatever they requested"},
    {"allocators that give memory back",
     "GPU memory that a process has taken stays taken until the process ends"},
    {"time of the control plane",
     "scheduling, the device plugin and container starts take no time unless `startup` says so"},
    {"replacing nodes by cheaper ones",
     "consolidation removes nodes and moves their pods; it buys no other instance type, does not "
     "go back from on-demand to spot, and knows no budgets of NodePools but those of 0 nodes"},
    {"a spot market",
     "nodes are taken back one by one at a constant rate and price, and a new one is always to "
     "be "
     "had; in reality a zone runs short of a type, and many go at once"},
    {"the network and HTTP",
     "a request reaches its pod and its answer the client in no time; TLS, proxies and large "
     "bodies come on top of the latencies shown"},
    {"cores for pre- and post-processing",
     "all requests on a node share its vCPUs evenly (processor sharing) with everything else "
     "there; thread pools, pinning and CPU limits of a pod do not order them"},
    {"speculative decoding, pipeline parallelism and experts",
     "a language model makes one token per sequence and step; the whole GPUs of its pod share "
     "every layer, replicas of shared ones do not: it has them on one GPU, with a warning; a "
     "mixture of experts is its active and its total weights; more of it: explain llm"},
    {"metrics pipelines of autoscalers",
     "the metric is an exact average up to the moment of the decision; scraping adds up to a "
     "minute of delay, and lost scrapes hold scaling up"},
    {"scaling by the clock",
     "replicas follow their metric and their schedule (KEDA's cron trigger), and nodes their pods; "
     "scheduled actions of node groups, which begin before the load comes, are not simulated"},
    {"daylight saving and holidays",
     "the clock of a daily curve or a schedule has one offset to UTC, that of January where a "
     "time "
     "zone is named, and every week is alike"},
    {"parts of Kueue",
     "quotas are simulated as they are without fair sharing, of Jobs alone: no weights, "
     "topologies, "
     "admission checks (MultiKueue, ProvisioningRequests), cohorts of cohorts or with quotas of "
     "their own, Deployments and pods in queues, quotas of DRA, nor waitForPodsReady; decisions "
     "take no time (Kueue batches some for a second), and what was stopped is back in its queue "
     "once "
     "its pods have gone; "
     "plan and compare, which change what pods ask for, leave quotas out"},
    {"quotas of KAI's queues",
     "a pod of KAI starts when it finds a part of a GPU, whatever its queue deserves; and it takes "
     "nobody's place, where KAI stops pods of lower priority in its queue, or moves some to make "
     "room"},
    {"clients that give up or adapt",
     "an open loop sends on however slow the answers get; only time-outs and retries that the "
     "scenario gives are made"},
    {"all-reduces over shared GPUs",
     "a pod with replicas of several GPUs waits for the slowest of them and leaves the others to "
     "their neighbours meanwhile; NCCL's kernels spin there, so that its steps take longer and "
     "slow the neighbours down"},
    {"all-reduces beside the computation",
     "what the GPUs of a pod add up is on top of the step, as if it waited for the last "
     "gradient; "
     "frameworks send the first ones while the others are computed, and NVLink SHARP (H100 and "
     "later) adds up in the switch"},
    {"devices of other plugins",
     "network interfaces (vpc.amazonaws.com/efa) and other extended resources beside the GPU "
     "take "
     "no part in the choice of nodes: check says whether the nodes of files have them"},
    {"company that pods require",
     "required podAffinity, required podAntiAffinity by zones and topologySpreadConstraints with "
     "DoNotSchedule hold no pod back here; Karpenter takes whose company pods would rather have "
     "for "
     "a requirement at first, and may start more nodes for them"},
    {"disks and quotas of namespaces",
     "requests of ephemeral-storage, nodeName, other schedulers and ResourceQuotas keep no pod "
     "back here"},
    {"partitions that follow what waits",
     "nos cuts GPUs anew for Pending pods, by MPS and by MIG; here nos.slices and mig.changes say "
     "beforehand what there is"},
    {"Jobs that are exported as one",
     "several alike are the indexes of one Job: with restartPolicy OnFailure it fails as a whole, "
     "where each would by itself"},
    {"pods with two kinds of GPU resource", "such scenarios are refused, with the reason"},
    {"parts of DRA",
     "claims of several requests or of a share of a device, prioritised lists, MIG devices made "
     "on demand, claims on nodes that come and go, and several ways of sharing in one pool are "
     "refused or left out, with the reason"},
};

}  // namespace

const std::vector<NotModelled>& not_modelled() {
  static const std::vector<NotModelled> items(std::begin(kNotModelled), std::end(kNotModelled));
  return items;
}

namespace {

// Of recorded jobs that did not run, or ran otherwise, by reason.
void add_apart_lines(const sim::VariantResult& variant, std::vector<std::string>& lines) {
  for (const sim::WorkloadResult& w : variant.workloads) {
    if (!w.recorded || w.recorded->apart.empty()) continue;
    std::string text;
    for (const scenarios::ApartJobs& jobs : w.recorded->apart) {
      text += fmt::format("{} {} {} (first: {})", text.empty() ? "" : ",", jobs.jobs,
                          apart_text(jobs.why), jobs.first.text());
    }
    add_once(lines, fmt::format("jobs of the trace of \"{}\" that do not run as recorded:{}",
                                w.name, text));
  }
}

}  // namespace

std::vector<sim::AssumedInput> assumed_inputs(std::span<const sim::VariantResult> variants) {
  std::vector<sim::AssumedInput> all;
  for (const sim::VariantResult& variant : variants) {
    for (const sim::AssumedInput& input : variant.provenance.assumed_inputs) {
      if (std::ranges::find(all, input) == all.end()) all.push_back(input);
    }
  }
  return all;
}

std::string price_note(bool per_job, bool per_1k_requests) {
  if (!per_job && !per_1k_requests) return "";
  return fmt::format(
      "{}{}{}: of the hours of nodes alone, idle time included; not EKS's fee, storage or traffic "
      "(slicewise explain cost)",
      per_job ? price_column("perJobUsd").header : "", per_job && per_1k_requests ? ", " : "",
      per_1k_requests ? request_price_heading() : "");
}

std::string price_note(std::span<const sim::VariantResult> variants) {
  const auto any = [&](std::optional<Usd> sim::Cost::*price) {
    return std::ranges::any_of(variants,
                               [&](const auto& v) { return (v.cost.*price).has_value(); });
  };
  return price_note(any(&sim::Cost::per_job), any(&sim::Cost::per_1k_requests_in_slo));
}

std::string expectation_text(const models::ExpectedError& error) {
  const auto figures = [](const models::ExpectedError& known) {
    return fmt::format(
        "{}, half of {} published rows were within {:.2g} %, nine of ten within {:.2g} %",
        models::evidence_words(known.evidence), known.rows, known.median_percent,
        known.ninth_decile_percent);
  };
  const std::string of = error.mode + (error.unlike ? " beside other workloads" : "");
  if (error.rows > 0) return fmt::format("{}: {}", of, figures(error));
  std::string out = fmt::format("{}: {}, nobody published how far off it is", of,
                                models::evidence_words(error.evidence));
  for (const models::ExpectedError& known : models::published_errors()) {
    if (known.mode == error.mode && known.unlike == error.unlike)
      return out + "; " + figures(known);
  }
  return out;
}

std::vector<std::string> note_lines(std::span<const sim::VariantResult> variants, bool full) {
  std::vector<std::string> lines;
  for (const sim::VariantResult& variant : variants) {
    for (const Diagnostic& d : variant.findings) {
      // The assumed inputs have a line of their own.
      if (d.severity != Severity::Note || d.code == Code::InputAssumed) continue;
      add_once(lines, fmt::format("{}: {}", info(d.code).name, d.message));
    }
    add_apart_lines(variant, lines);
  }
  if (std::string assumed = assumed_line(variants, full); !assumed.empty()) {
    lines.push_back(std::move(assumed));
  }
  for (const sim::VariantResult& variant : variants) {
    for (const models::ExpectedError& error : variant.expected_errors) {
      add_once(lines, "error to expect of " + expectation_text(error));
    }
  }
  lines.emplace_back("not modelled: slicewise explain not-modelled");
  return lines;
}

namespace {

// "after 12 d 4 h of its first run, 5000 of 20000 recorded jobs done".
std::string stopped_text(const sim::VariantResult& variant) {
  std::int64_t jobs = 0;
  double done = 0;
  for (const sim::WorkloadResult& w : variant.workloads) {
    if (!w.recorded) continue;
    jobs += w.recorded->all.jobs;
    done += w.recorded->all.finished;
  }
  return fmt::format("after {} of its first run, {:.0f} of {} recorded jobs done",
                     duration_text(*variant.stopped_at), done, jobs);
}

}  // namespace

std::string interrupted_line(const sim::Result& result) {
  if (!result.interrupted) return "";
  if (result.variants.empty()) {
    return fmt::format("INTERRUPTED: 0 of {} runs done", result.stamp.replications);
  }
  const bool one = result.variants.size() == 1;
  std::string done;
  for (const sim::VariantResult& v : result.variants) {
    done += fmt::format("{}{}", done.empty() ? "" : ", ", one ? "" : v.name + " ");
    done += v.stopped_at ? stopped_text(v)
                         : fmt::format("{} of {} runs done", v.replications, v.replications_asked);
  }
  return "INTERRUPTED: " + done + (one ? "" : "; a variant without a finished run is left out");
}

namespace {

// "5", "5 to 20".
template <class Number>
std::string range_text(const std::vector<Number>& numbers) {
  const auto [least, most] = std::ranges::minmax(numbers);
  return least < most ? fmt::format("{} to {}", least, most) : fmt::format("{}", most);
}

std::string origin_line(const sim::Stamp& stamp, const std::string& seeds, const std::string& runs,
                        bool intervals, const TextStyle& style) {
  constexpr std::size_t kHashShown = 8;
  const Signs& s = signs(style);
  std::vector<std::string> parts = {
      fmt::format("seed{} {}", seeds.find(' ') == std::string::npos ? "" : "s", seeds),
      fmt::format("{} run{}", runs, runs == "1" ? "" : "s"),
      intervals ? "95% intervals" : "no intervals"};
  if (!stamp.price_date.empty()) parts.push_back(prices_text(stamp, s, kHashShown));
  if (!stamp.scenario_sha256.empty()) {
    parts.push_back(
        fmt::format("scenario {}{}", stamp.scenario_sha256.substr(0, kHashShown), s.ellipsis));
  }
  parts.push_back("slicewise v" + stamp.version);
  return fmt::format("{}", fmt::join(parts, s.dot));
}

}  // namespace

std::string seeds_text(const sim::Result& result) {
  std::vector<std::uint64_t> seeds;
  for (const sim::VariantResult& v : result.variants) seeds.push_back(v.seed);
  return range_text(seeds.empty() ? std::vector{result.stamp.seed} : seeds);
}

std::string replications_text(const sim::Result& result) {
  std::vector<int> asked;
  for (const sim::VariantResult& v : result.variants) asked.push_back(v.replications_asked);
  return range_text(asked.empty() ? std::vector{result.stamp.replications} : asked);
}

std::string origin_line(const sim::Stamp& stamp, const std::vector<int>& runs, bool intervals,
                        const TextStyle& style) {
  return origin_line(stamp, std::to_string(stamp.seed),
                     range_text(runs.empty() ? std::vector{stamp.replications} : runs), intervals,
                     style);
}

std::string origin_line(const sim::Result& result, const TextStyle& style) {
  const bool intervals =
      !result.variants.empty() &&
      std::ranges::all_of(
          result.variants, [](int n) { return n > 1; }, &sim::VariantResult::replications);
  return origin_line(result.stamp, seeds_text(result), replications_text(result), intervals, style);
}

}  // namespace slicewise::reports

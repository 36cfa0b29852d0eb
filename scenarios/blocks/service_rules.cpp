#include <fmt/format.h>

#include "../fields/node_values.hpp"
#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

class ServiceRules {
 public:
  ServiceRules(const Node& node, const Workload& workload, Findings& findings)
      : node_(node), workload_(workload), findings_(findings) {}

  void check() {
    refuse(&node_, "work", "a Service answers requests: give it `traffic`, or make it a Job");
    const Node* measured = block(&node_, "measured");
    refuse(measured, "unitTime", "a Service has no work units; give requestGpuTime");
    for (const std::string_view key : {"gpuBusy", "gpuUtil"}) {
      refuse(measured, key,
             "requestGpuTime is what a request has of the GPU; give its work on the host as "
             "serving.cpuBefore and cpuAfter, or bursts with cpuBetween");
    }
    if (workload_.llm) {
      check_llm();
    } else if (workload_.profile.value.empty()) {
      check_request_time(measured);
    }
    check_batching();
    check_bursts();
  }

 private:
  void refuse(const Node* parent, std::string_view key, std::string help,
              std::string_view on = "a Service") {
    if (parent == nullptr || parent->entry(key) == nullptr) return;
    findings_.add(Code::SettingConflict, key_place(*parent, key), fmt::format("{} on {}", key, on),
                  std::move(help));
  }

  void missing(std::string_view key, const SourceLocation& where, std::string_view who,
               std::string help) {
    findings_.add(Code::FieldMissing, where,
                  fmt::format("\"{}\" is missing: {} needs it", key, who), std::move(help));
  }

  void check_request_time(const Node* measured) {
    constexpr std::string_view kExample = "requestGpuTime: {p50: 31ms, p99: 44ms}";
    if (node_.entry("measured") == nullptr) {
      missing("measured", value_place(node_, "name"), "a Service",
              fmt::format("add `measured: {{{}}}`, or name a `profile`", kExample));
    } else if (measured != nullptr && measured->entry("requestGpuTime") == nullptr) {
      missing("requestGpuTime", key_place(node_, "measured"), "a Service",
              fmt::format("add `{}`, or name a `profile`", kExample));
    }
  }

  void check_llm() {
    constexpr std::string_view kWho = "a Service with llm";
    const Node* measured = block(&node_, "measured");
    for (const std::string_view key : {"requestGpuTime", "extraPerItem"}) {
      refuse(measured, key, "llm.step says how long the steps take", kWho);
    }
    for (const std::string_view key : {"capacityShare", "bandwidthShare"}) {
      refuse(measured, key, "what a step computes and reads follows from llm.step", kWho);
    }
    const Node* serving = block(&node_, "serving");
    for (const std::string_view key : {"batching", "concurrency"}) {
      refuse(serving, key, "continuous batching runs up to llm.maxSequences at once", kWho);
    }
    const Node& llm = *block(&node_, "llm");
    if (workload_.llm->model.value.empty()) check_own_law(llm);
    check_precision(llm);
    check_tokens(llm);
    if (workload_.llm->role == LlmRole::Prefill) {
      refuse_figures({"tpotP50", "tpotP95", "tpotP99"}, "a Service with llm.role Prefill",
                     "it gives one token: the objective belongs to the Service that decodes");
    }
    if (workload_.llm->role == LlmRole::Decode) check_decode(llm);
    if (workload_.llm->adapters) check_adapters(llm);
    if (workload_.llm->sleep) check_sleep(llm);
    if (workload_.llm->shared_prefix) {
      refuse(&llm, "prefixReuse", "what is found of sharedPrefix is simulated",
             "llm with sharedPrefix");
    }
  }

  // Each adapter has keys and values of its own.
  void check_adapters(const Node& llm) {
    refuse(&llm, "sharedPrefix",
           "prompts of different adapters have no keys and values alike, which is not simulated: "
           "prefixReuse says what share is found",
           "llm with adapters");
    if (workload_.llm->role == LlmRole::Both) return;
    refuse(&llm, "adapters", "adapters are simulated where one server does all of a request",
           "a Service with llm.role Prefill or Decode");
  }

  void check_sleep(const Node& llm) {
    constexpr std::string_view kWho = "llm with sleep";
    refuse(&llm, "adapters",
           "what becomes of adapters while their base model sleeps is not simulated", kWho);
    if (workload_.llm->role == LlmRole::Both) return;
    refuse(&llm, "sleep", "engines sleep where one server does all of a request",
           "a Service with llm.role Prefill or Decode");
  }

  void refuse_figures(std::initializer_list<std::string_view> figures, std::string_view on,
                      const std::string& help) {
    for (const std::string_view figure : figures) refuse(block(&node_, "slo"), figure, help, on);
  }

  // It is told what the stage before it did.
  void check_decode(const Node& llm) {
    constexpr std::string_view kWho = "a Service with llm.role Decode";
    refuse(&node_, "traffic",
           "it gets its requests from a pipeline, after a stage with role Prefill", kWho);
    for (const std::string_view key : {"tokens", "sharedPrefix", "prefixReuse"}) {
      refuse(&llm, key, "give it to the Service with role Prefill", kWho);
    }
    refuse_figures({"ttftP50", "ttftP95", "ttftP99"}, kWho,
                   "the first token comes from the Service with role Prefill");
  }

  // They change what the model of the catalogue has; figures of one's own are as they are.
  void check_precision(const Node& llm) {
    struct Figure {
      std::string_view of;
      const Node* parent;
      std::string_view key;
    };
    const bool has_model = !workload_.llm->model.value.empty();
    const Node* step = block(&llm, "step");
    for (const std::string_view key : {"quantization", "kvCacheDtype"}) {
      if (has_model) continue;
      refuse(&llm, key, "give the figures as they are with it, and leave it out",
             "llm without a model of the catalogue");
    }
    for (const Figure& figure :
         {Figure{"quantization", &llm, "weights"}, Figure{"quantization", step, "weightsTime"},
          Figure{"quantization", step, "tokenTime"},
          Figure{"kvCacheDtype", &llm, "kvBytesPerToken"},
          Figure{"kvCacheDtype", step, "cacheReadTime"}}) {
      if (!has_model || llm.entry(figure.of) == nullptr) continue;
      refuse(figure.parent, figure.key, "one of them says it: leave the other out",
             fmt::format("llm with {}", figure.of));
    }
  }

  // Without a model of the catalogue the file has to say everything.
  void check_own_law(const Node& llm) {
    constexpr std::string_view kWho = "llm without a model of the catalogue";
    const auto need = [&](const Node& parent, std::string_view key, const SourceLocation& where,
                          std::string_view example) {
      if (parent.entry(key) != nullptr) return;
      missing(key, where, kWho, fmt::format("add `{}`, or name a `model`", example));
    };
    const SourceLocation& where = workload_.llm->where;
    need(llm, "step", where,
         "step: {weightsTime: 14.2ms, tokenTime: 63.7us, cacheReadTime: 0.3673us}");
    need(llm, "weights", where, "weights: 16Gi");
    need(llm, "kvBytesPerToken", where, "kvBytesPerToken: 128Ki");
    const Node* step = block(&llm, "step");
    if (step == nullptr) return;
    const SourceLocation place = key_place(llm, "step");
    need(*step, "weightsTime", place, "weightsTime: 14.2ms");
    need(*step, "tokenTime", place, "tokenTime: 63.7us");
    need(*step, "cacheReadTime", place, "cacheReadTime: 0.3673us");
  }

  // Of a Service that only pipelines use, the rules of pipelines ask the same.
  void check_tokens(const Node& llm) {
    if (llm.entry("tokens") != nullptr || !workload_.traffic) return;
    if (!brings_tokens(*workload_.traffic)) report_missing_tokens(workload_, findings_);
  }

  void check_batching() {
    const Node* batching = block(block(&node_, "serving"), "batching");
    const Serving& serving = workload_.serving;
    if (batching == nullptr || workload_.llm) return;
    if (batching->entry("maxBatch") == nullptr) return;  // reported as missing
    if (serving.max_batch == 1 && serving.max_delay.ns > 0) {
      findings_.add(Code::SettingConflict, value_place(*batching, "maxDelay"),
                    "maxDelay with maxBatch 1", "a batch of one is full at once: remove maxDelay");
    }
    if (serving.concurrency > 0 && serving.concurrency < serving.max_batch) {
      findings_.add(Code::SettingConflict, value_place(*batching, "maxBatch"),
                    "maxBatch is above concurrency",
                    "a batch never holds more requests than the pod works on");
    }
  }

  void check_bursts() {
    const Node* serving = block(&node_, "serving");
    if (serving == nullptr || serving->entry("bursts") == nullptr || !workload_.llm) return;
    findings_.add(Code::SettingConflict, value_place(*serving, "bursts"),
                  "bursts with llm: its steps are the bursts", "remove bursts");
  }

  const Node& node_;
  const Workload& workload_;
  Findings& findings_;
};

}  // namespace

bool brings_tokens(const Traffic& traffic) {
  const auto* trace = std::get_if<RequestTrace>(&traffic.shape);
  // One without rows could not be read, which is reported: it might have had tokens.
  return trace != nullptr && (trace->has_tokens || trace->rows.empty());
}

void report_missing_tokens(const Workload& workload, Findings& findings) {
  findings.add(Code::FieldMissing, workload.llm->where,
               "\"tokens\" is missing: llm needs it unless a trace has columns of tokens",
               "add `tokens: {input: {p50: 1020, p99: 4142}, output: {p50: 129, p99: 601}}`");
}

void check_service(const Node& node, const Workload& workload, Findings& findings) {
  ServiceRules(node, workload, findings).check();
}

}  // namespace slicewise::scenarios

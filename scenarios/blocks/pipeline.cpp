#include <algorithm>
#include <map>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

using T = FieldType;

constexpr Field kStageFields[] = {
    field<&Pipeline::Stage::workload>("workload", "asr", "Service that does this stage.")
        .as(T::Name)
        .needed(),
    field<&Pipeline::Stage::after>(
        "after", "[asr]", "Stages whose answers it needs, by the names of their workloads.")
        .as(T::Names)
        .otherwise("none: starts with the request"),
    field<&Pipeline::Stage::network>(
        "network", "2ms", "Time from the last of these answers to it; no GPU or host is needed."),
    field<&Pipeline::Stage::kv_bandwidth>(
        "kvBandwidth", "12Gi",
        "Bytes per second at which the keys and values of a prompt come to a stage that decodes.")
        .positive()
        .otherwise("the slowest network of the nodes of both stages"),
};
constexpr FieldList kStage = block<Pipeline::Stage>(kStageFields);

constexpr Field kPipelineFields[] = {
    field<&Pipeline::name>("name", "voice", "Name of the pipeline.").as(T::Name).needed(),
    field<&Pipeline::traffic>("traffic", "{shape: Poisson, mean: 12/s}",
                              "Requests of the pipeline.")
        .needed()
        .of(kTraffic),
    field<&Pipeline::stages>("stages", "[{workload: asr}, {workload: tts, after: [asr]}]",
                             "The Services that a request passes through, end to end.")
        .needed()
        .positive()
        .of(kStage),
    field<&Pipeline::objectives>("slo", "{latencyP99: 2s}",
                                 "Objectives from end to end; a run that misses one exits with 99.")
        .as(T::Block)
        .of(kPipelineSlo),
};

// From a stage to those that wait for it.
using StageGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

std::string known_names(const std::string& wrong, const std::vector<std::string_view>& names) {
  if (const auto nearest = nearest_name(wrong, names)) {
    return fmt::format("did you mean \"{}\"?", *nearest);
  }
  std::string text;
  for (const std::string_view name : names) {
    if (name.empty()) continue;  // which is reported
    text += fmt::format("{}{}", text.empty() ? "known: " : ", ", name);
  }
  return text;
}

class PipelineRules {
 public:
  PipelineRules(const Scenario& scenario, const Pipeline& pipeline, Findings& findings)
      : scenario_(scenario), pipeline_(pipeline), findings_(findings) {}

  void check() {
    for (std::size_t i = 0; i < pipeline_.stages.size(); ++i) {
      const Located<std::string>& name = pipeline_.stages[i].workload;
      if (name.value.empty()) continue;
      check_workload_of(name);
      check_halves(pipeline_.stages[i]);
      const auto [first, inserted] = stage_.emplace(name.value, i);
      if (inserted) continue;
      findings_.add(
          Code::NameDuplicate, name.where,
          fmt::format("two stages of pipeline \"{}\" are \"{}\"", pipeline_.name.value, name.value),
          "a request passes through a Service once; give a second pass its own Service",
          fmt::format("first used on line {}",
                      pipeline_.stages[first->second].workload.where.line));
    }
    StageGraph graph(pipeline_.stages.size());
    for (std::size_t i = 0; i < pipeline_.stages.size(); ++i) {
      for (const Located<std::string>& input : pipeline_.stages[i].after) {
        if (const auto from = stage_called(input)) boost::add_edge(*from, i, graph);
      }
    }
    check_cycles(graph);
  }

 private:
  void check_workload_of(const Located<std::string>& name) {
    std::vector<std::string_view> services;
    for (const Workload& workload : scenario_.workloads) {
      if (workload.kind == WorkloadKind::Service) services.emplace_back(workload.name.value);
      if (workload.name.value != name.value) continue;
      if (workload.kind == WorkloadKind::Service) {
        // One of the two alone is a mistake that is reported already.
        const bool has_tokens = !workload.llm || workload.llm->input || workload.llm->output ||
                                workload.llm->role == LlmRole::Decode;
        if (!has_tokens && !brings_tokens(pipeline_.traffic)) {
          report_missing_tokens(workload, findings_);
        }
        return;
      }
      findings_.add(
          Code::SettingConflict, name.where,
          fmt::format("\"{}\" is a {}, not a Service", name.value, kind_name(workload.kind)),
          "only a Service answers requests");
      return;
    }
    findings_.add(Code::FieldUnknown, name.where,
                  fmt::format("no workload is called \"{}\"", name.value),
                  known_names(name.value, services));
  }

  const Llm* model_of(const Located<std::string>& name) const {
    const Workload* const found = scenario_.find_workload(name.value);
    return found != nullptr && found->llm ? &*found->llm : nullptr;
  }

  // Who decodes gets keys and values from the one who had the prompt, of the same model.
  void check_halves(const Pipeline::Stage& stage) {
    const Llm* decodes = model_of(stage.workload);
    if (decodes == nullptr || decodes->role != LlmRole::Decode) {
      if (!stage.kv_bandwidth) return;
      findings_.add(Code::SettingConflict, stage.workload.where,
                    fmt::format("kvBandwidth of \"{}\", which does not decode for another stage",
                                stage.workload.value),
                    "it belongs to stages whose llm has role Decode: use network");
      return;
    }
    const Llm* prefills = stage.after.size() == 1 ? model_of(stage.after.front()) : nullptr;
    if (prefills == nullptr || prefills->role != LlmRole::Prefill) {
      findings_.add(Code::SettingConflict, stage.workload.where,
                    fmt::format("\"{}\" decodes, and needs the one stage after which it comes to "
                                "be one with role Prefill",
                                stage.workload.value),
                    "add `after: [prefill]`, a Service with llm: {role: Prefill}");
    } else if (prefills->model.value != decodes->model.value ||
               prefills->kv_bytes_per_token != decodes->kv_bytes_per_token ||
               prefills->kv_cache_dtype != decodes->kv_cache_dtype) {
      findings_.add(Code::SettingConflict, stage.workload.where,
                    fmt::format("\"{}\" and \"{}\" do not have the same keys and values",
                                stage.after.front().value, stage.workload.value),
                    "give both the same model, kvBytesPerToken and kvCacheDtype");
    }
  }

  std::optional<std::size_t> stage_called(const Located<std::string>& name) {
    const auto found = stage_.find(name.value);
    if (found != stage_.end()) return found->second;
    std::vector<std::string_view> stages;
    for (const auto& [stage, position] : stage_) stages.emplace_back(stage);
    findings_.add(
        Code::FieldUnknown, name.where,
        fmt::format("\"{}\" is no stage of pipeline \"{}\"", name.value, pipeline_.name.value),
        known_names(name.value, stages));
    return std::nullopt;
  }

  // Stages that reach each other are one strongly connected component.
  void check_cycles(const StageGraph& graph) {
    std::vector<std::size_t> component(pipeline_.stages.size());
    const std::size_t count = boost::strong_components(
        graph, boost::make_iterator_property_map(component.begin(),
                                                 boost::get(boost::vertex_index, graph)));
    for (std::size_t c = 0; c < count; ++c) {
      std::vector<std::size_t> members;
      for (std::size_t i = 0; i < component.size(); ++i) {
        if (component[i] == c) members.push_back(i);
      }
      const bool waits_for_itself =
          members.size() == 1 && boost::edge(members[0], members[0], graph).second;
      if (members.size() > 1 || waits_for_itself) report_cycle(members);
    }
  }

  void report_cycle(const std::vector<std::size_t>& members) {
    std::string names;
    for (const std::size_t i : members) {
      names +=
          fmt::format("{}\"{}\"", names.empty() ? "" : ", ", pipeline_.stages[i].workload.value);
    }
    const Pipeline::Stage& first = pipeline_.stages[members[0]];
    findings_.add(Code::SettingConflict, first.workload.where,
                  members.size() == 1 ? fmt::format("stage {} waits for itself", names)
                                      : fmt::format("stages {} wait for each other", names),
                  "no request would ever pass: take a name out of `after`");
  }

  const Scenario& scenario_;
  const Pipeline& pipeline_;
  Findings& findings_;
  std::map<std::string, std::size_t> stage_;  // position of the first of that name
};

bool is_stage(const Scenario& scenario, const std::string& workload) {
  return std::ranges::any_of(scenario.pipelines, [&](const Pipeline& pipeline) {
    return std::ranges::any_of(pipeline.stages, [&](const Pipeline::Stage& stage) {
      return stage.workload.value == workload;
    });
  });
}

}  // namespace

constinit const FieldList kPipeline = block<Pipeline>(kPipelineFields);

void check_pipelines(const Scenario& scenario, Findings& findings) {
  for (const Pipeline& pipeline : scenario.pipelines) {
    PipelineRules(scenario, pipeline, findings).check();
  }
  for (const Workload& workload : scenario.workloads) {
    if (workload.kind != WorkloadKind::Service || workload.traffic ||
        is_stage(scenario, workload.name.value)) {
      continue;
    }
    findings.add(Code::FieldMissing, workload.name.where,
                 "\"traffic\" is missing: a Service needs it, unless a pipeline uses it",
                 "add `traffic: {shape: Poisson, mean: 12/s}`");
  }
}

}  // namespace slicewise::scenarios

#include "slicewise/scenarios/load.hpp"

#include <algorithm>
#include <iterator>

#include "../fields/bind.hpp"
#include "../fields/check_fields.hpp"
#include "../fields/node_values.hpp"
#include "../text/document.hpp"
#include "../text/findings.hpp"
#include "../traces/trace_files.hpp"
#include "../variants/variants.hpp"

namespace slicewise::scenarios {
namespace {

// The rules and values of every variant. What they share is reported once.
std::vector<Scenario> read_variants(const Node& document, const Overrides& overrides,
                                    Findings& findings, TraceFiles& traces) {
  std::vector<Scenario> scenarios;
  const Entry* spec = document.entry("spec");
  if (spec == nullptr || spec->value->kind != Node::Kind::Map) return scenarios;
  for (const Variant& variant :
       expand_variants(spec->value, overrides.set, findings, traces.notes())) {
    check_field(spec_field(), *variant.spec, "spec", spec->key_where, Completeness::Whole,
                findings);
    Scenario& scenario = scenarios.emplace_back();
    Reading reading{findings, &traces};
    read_fields(spec_field().children(), *variant.spec, &scenario, reading);
    scenario.name = variant.name;
    scenario.description = variant.description;
    scenario.swept_value = variant.swept_value;
  }
  return scenarios;
}

// The file as it stands. With variants, spec is only what they have in common.
void check_document(const Node& document, Findings& findings) {
  const bool has_variants = blocks(document.find("spec"), "variants") != nullptr;
  check_field(scenario_field(), document, "", document.where,
              has_variants ? Completeness::Base : Completeness::Whole, findings);
}

// What reads a document of another kind: a Replay, what slicewise has written, a Kubernetes object.
// "" for a scenario, and for what may be a misspelt one.
std::string_view reader_of(const Node* document) {
  if (document == nullptr || document->kind != Node::Kind::Map) return {};
  const Node* kind = document->find("kind");
  const Node* version = document->find("apiVersion");
  if (kind == nullptr || kind->kind != Node::Kind::Text) return {};
  if (kind->text == "Replay") return "slicewise replay -f reads it";
  if (version == nullptr || version->kind != Node::Kind::Text || kind->text == "Scenario")
    return {};
  if (!version->text.starts_with("slicewise")) {
    return "slicewise check -f says what a cluster does with it, slicewise import k8s -f makes a "
           "scenario of it";
  }
  if (kind->text == "Plan") return "slicewise export, report, explain and diff read it";
  if (kind->text == "Comparison") {
    return "slicewise diff reads it; slicewise compare -f SCENARIO -o html writes its page";
  }
  if (kind->text == "Result") return "slicewise report, explain and diff read it";
  const bool is_written = version->text.find(".v1") != std::string::npos;
  return is_written ? "name the scenario that slicewise wrote it about" : "";
}

// Something to know, with which the scenario can be run.
bool is_remark(const Diagnostic& d) { return d.severity != Severity::Error; }

}  // namespace

LoadedScenario read_scenario_file(const SourceText& source, const Overrides& overrides,
                                  const FileReader& read_file) {
  Findings findings;
  TraceFiles traces(source.name, read_file);
  Diagnostics syntax;
  const NodePtr document = read_document(source, syntax);
  for (Diagnostic& problem : syntax) findings.add(std::move(problem));
  LoadedScenario loaded;
  ScenarioSet& set = loaded.set;
  if (document != nullptr && document->kind == Node::Kind::Null) {
    findings.add(Code::YamlSyntax, document->where, "the file holds no scenario",
                 "slicewise init writes one to start from");
  } else if (const std::string_view reader = reader_of(document.get()); !reader.empty()) {
    const Node* kind = document->find("kind");
    findings.add(Code::ApiVersionUnknown, kind->where,
                 "this is a " + kind->text + ", not a Scenario", std::string(reader));
  } else if (document != nullptr) {
    check_document(*document, findings);
    set.variants = read_variants(*document, overrides, findings, traces);
    if (const Entry* spec = document->entry("spec"); spec != nullptr) {
      set.inputs = inputs_of(spec->value, overrides.set);
    }
  }
  if (const Node* metadata = block(document.get(), "metadata")) {
    Reading reading{findings, &traces};
    read_fields(scenario_field().children().find("metadata")->children(), *metadata, &set, reading);
  }
  loaded.problems = findings.take_sorted(source.name);
  set.notes = traces.notes();
  std::ranges::copy_if(loaded.problems, std::back_inserter(set.notes), is_remark);
  std::erase_if(loaded.problems, is_remark);
  loaded.traces = traces.take();
  std::vector<std::string> parts = overrides.set;
  for (const SourceText& trace : loaded.traces) parts.push_back(trace.text);
  set.sha256 = sha256_hex(source.text, parts);
  return loaded;
}

Expected<ScenarioSet> load_scenario(const SourceText& source, const Overrides& overrides,
                                    const FileReader& read_file) {
  LoadedScenario loaded = read_scenario_file(source, overrides, read_file);
  if (!loaded.problems.empty()) return tl::unexpected(std::move(loaded.problems));
  return std::move(loaded.set);
}

}  // namespace slicewise::scenarios

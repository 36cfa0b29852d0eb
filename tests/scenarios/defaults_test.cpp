#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "slicewise/scenarios/job_trace.hpp"

#include "blocks/blocks.hpp"
#include "fields/bind.hpp"
#include "one_workload.hpp"
#include "text/document.hpp"

// What the table of fields documents as the default is what holds without the field: for every
// such field a scenario without it equals one in which the default is written out, and differs
// from one with another value.
namespace slicewise::scenarios {
namespace {

// A field, and a place of a scenario where it may stand: "workloads.train.count".
struct Place {
  const Field* field;
  std::string path;
};

// The default is that of a member, rather than of other things around the field.
bool is_proven_here(const Field& field) {
  return field.binding != nullptr && field.other_default.empty() && !field.default_text().empty();
}

FieldList below(const Field& field) { return field.children(); }

void collect(const FieldList& fields, std::set<const Field*>& found) {
  for (const Field& field : fields) {
    if (is_proven_here(field)) found.insert(&field);
    collect(below(field), found);
  }
}

void find_places(const FieldList& fields, const Node& node, const std::string& path,
                 std::vector<Place>& places);

void find_places_in(const Field& field, const Node& node, const std::string& path,
                    std::vector<Place>& places) {
  if (node.kind == Node::Kind::List) {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const Node* name = node.items[i]->find("name");
      const bool named = name != nullptr && name->text.find('/') == std::string::npos;
      find_places(below(field), *node.items[i],
                  named ? path + "." + name->text : path + "[" + std::to_string(i) + "]", places);
    }
    return;
  }
  if (field.type == FieldType::BlocksByName) {
    for (const Entry& named : node.entries) {
      find_places_in(field, *named.value, path + "." + named.key, places);
    }
    return;
  }
  find_places(below(field), node, path, places);
}

void find_places(const FieldList& fields, const Node& node, const std::string& path,
                 std::vector<Place>& places) {
  for (const Field& field : fields) {
    const std::string here =
        path.empty() ? std::string(field.name) : path + "." + std::string(field.name);
    if (is_proven_here(field)) places.push_back({&field, here});
    const Node* value = node.find(field.name);
    if (value != nullptr) find_places_in(field, *value, here, places);
  }
}

// every_field.yaml without its variants and its sweep.
std::string every_field() {
  std::ifstream file(SLICEWISE_SOURCE_DIR "/tests/scenarios/every_field.yaml");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str().substr(0, text.str().find("\n  variants:") + 1);
}

Expected<SourceText> every_trace_of(const std::string& path) {
  if (path.find("jobs") != std::string::npos) {
    return SourceText{path,
                      "arrival_s,run_s,gpus,deadline_s,user,group\n0,60,1,90,ana,vision\n"
                      "5,60,1,,bo,vision\n9,60,2,90,bo,vision\n"};
  }
  return SourceText{path,
                    "when,prompt,answer,client,at_s,rate,law,variation,blocks\n"
                    "0,100,10,0,0,1,Gamma,2,1\n12.5,200,20,0,600,0,,0,1\n"};
}

// All that the scenario says, after one change; nullopt when a rule refuses it.
std::optional<std::string> said_with(const std::string& text, const std::string& setting) {
  const auto loaded = load_scenario({"f.yaml", text}, {{setting}}, every_trace_of);
  if (!loaded) return std::nullopt;
  return shown_fields(spec_field().children(), &loaded->variants.at(0));
}

// Some value that is not the default.
std::string other_value(const Field& field) {
  const std::string standard = field.default_text();
  switch (field.type) {
    case FieldType::Boolean:
      return standard == "true" ? "false" : "true";
    case FieldType::Word:
      return std::string(field.words.begin()->text == standard ? (field.words.begin() + 1)->text
                                                               : field.words.begin()->text);
    case FieldType::Integer:
    case FieldType::Range:
      return std::to_string(std::stoll(standard) + 1);
    case FieldType::Number:
      return "1.5";
    case FieldType::Percent:
      return "33%";
    case FieldType::Bytes:
      return "77Mi";
    case FieldType::Cpu:
      return "700m";
    case FieldType::UtcOffset:
      return "+03:00";
    case FieldType::WeekTime:
      return "Tue 08:00";
    case FieldType::Duration:
      return standard == "0" ? "1ms" : "3s";
    default:
      return "other";
  }
}

// Takes from `unproven` the fields of which `text` shows that their default is in force.
void prove(const std::string& text, std::set<const Field*>& unproven) {
  Diagnostics syntax;
  const NodePtr document = read_document({"f.yaml", text}, syntax);
  ASSERT_TRUE(document != nullptr && document->find("spec") != nullptr);
  std::vector<Place> places;
  find_places(spec_field().children(), *document->find("spec"), "", places);
  for (const Place& place : places) {
    if (!unproven.contains(place.field)) continue;
    const std::string standard = place.field->default_text();
    const auto without = said_with(text, place.path + "=null");
    const auto written = said_with(text, place.path + "=" + standard);
    const auto changed = said_with(text, place.path + "=" + other_value(*place.field));
    // A rule may want the field here, or refuse the other value; elsewhere none does.
    if (!without || !written || !changed || *without == *changed) continue;
    EXPECT_TRUE(*without == *written) << place.path << " = " << standard;
    unproven.erase(place.field);
  }
}

TEST(ThoroughDefaults, EachDocumentedDefaultIsTheOneInForce) {
  std::set<const Field*> unproven;
  collect(spec_field().children(), unproven);
  EXPECT_GT(unproven.size(), 60U);
  prove(every_field(), unproven);
  prove(
      "apiVersion: slicewise.dev/v1alpha1\n"
      "kind: Scenario\n"
      "metadata: {name: sparse}\n"
      "spec:\n"
      "  gpuSoftware: {gpuOperator: true}\n"
      "  nodePools:\n"
      "  - {name: gpu, instanceType: g5.xlarge, mps: {}, devicePlugin: {sharing: {mps: {resources: "
      "[{name: nvidia.com/gpu, replicas: 4}]}}}}\n"
      "  - {name: parts, instanceType: g5.xlarge, kai: true}\n"
      "  kaiQueues: [{name: research}]\n"
      "  workloads:\n"
      "  - {name: train, profile: p, podTemplate: {tolerations: [{key: a}]}}\n"
      "  - {name: paced, kind: Service, traffic: {mean: 1/s}, measured: {requestGpuTime: 9ms}, "
      "serving: {bursts: 2}}\n"
      "  - {name: chat, kind: Service, traffic: {mean: 1/s}, llm: {model: m, tokens: {input: "
      "{mean: 5}, output: {mean: 5}}}}\n"
      "  - {name: lab, kind: Notebook, notebooks: {users: 6, length: 2h, peaksAt: [\"09:30\"], "
      "interval: 45s, gpuTime: 2s, memory: {mean: 2Gi}}}\n",
      unproven);
  for (const Field* field : unproven) {
    ADD_FAILURE() << field->name << ": nothing shows that \"" << field->default_text()
                  << "\" is its default";
  }
}

// A file of `kind: Replay` in which each field that has a default has a line "    # PATH" to stand
// for it.
std::optional<std::string> replay_with(const std::string& path, const std::string& value) {
  std::string text =
      "apiVersion: slicewise.dev/v1alpha1\nkind: Replay\nmetadata: {name: philly}\nspec:\n"
      "  trace:\n    file: jobs.csv\n    shift: 137d\n    # spec.trace.repeat\n"
      "  # spec.restartPreempted\n  # spec.backoffLimit\n  # spec.seed\n  # spec.replications\n"
      "  cluster:\n    # spec.cluster.anyGpu\n    # spec.cluster.region\n";
  text += path.find("instances") != std::string::npos || path == "spec.backoffLimit"
              ? "    instances:\n    - instanceType: p3.16xlarge\n"
                "      # spec.cluster.instances.count\n"
              : "    nodes:\n    - gpus: 8\n      # spec.cluster.nodes.count\n";
  if (path == "spec.backoffLimit") text += "  sharing: [mps:2]\n";
  const std::size_t at = text.find("# " + path + "\n");
  if (at == std::string::npos) return std::nullopt;
  if (!value.empty())
    text.replace(at, path.size() + 2, path.substr(path.rfind('.') + 1) + ": " + value);
  const auto file = read_replay_file({"replay.yaml", text});
  return file ? std::optional(shown_fields(kReplayFile, &*file)) : std::nullopt;
}

// How many.
int prove_replay(const FieldList& fields, const std::string& path) {
  int proven = 0;
  for (const Field& field : fields) {
    const std::string here = path + (path.empty() ? "" : ".") + std::string(field.name);
    proven += prove_replay(below(field), here);
    if (!is_proven_here(field)) continue;
    const auto without = replay_with(here, "");
    const auto written = replay_with(here, field.default_text());
    const auto changed = replay_with(here, other_value(field));
    if (!without || !written || !changed) {
      ADD_FAILURE() << here << ": the file above has no line for it";
      continue;
    }
    ++proven;
    EXPECT_EQ(*without, *written) << here << " = " << field.default_text();
    EXPECT_NE(*without, *changed) << here;
  }
  return proven;
}

TEST(Defaults, OfAReplayTheyAreInForceAsWell) { EXPECT_EQ(prove_replay(kReplayFile, ""), 9); }

void collect_words(const FieldList& fields, std::vector<std::string>& found) {
  for (const Field& field : fields) {
    if (!field.other_default.empty()) found.emplace_back(field.name);
    collect_words(below(field), found);
  }
}

// tests/tools/defaults_test.py proves these, and those of scenarios.
TEST(Defaults, OfAReplayOnlyTheSchedulersHangOnOtherThings) {
  std::vector<std::string> found;
  collect_words(kReplayFile, found);
  EXPECT_EQ(found, (std::vector<std::string>{"queue", "placement"}));
}

// Of the gaps of a rate that changes, whatever the seed: no other draws than without it.
TEST(Defaults, GapsVaryAsPoissons) {
  const std::string steps =
      "kind: Service, measured: {requestGpuTime: 31ms}, traffic: {shape: Steps, steps: [{at: 0, "
      "rate: 2/s}]";
  const auto without = workload_of(with_workload(steps + "}")).traffic;
  const auto written = workload_of(with_workload(steps + ", variation: 1}")).traffic;
  const auto changed = workload_of(with_workload(steps + ", variation: 2}")).traffic;
  EXPECT_EQ(without->gaps, Traffic::Gaps::Poisson);
  EXPECT_EQ(written->gaps, without->gaps);
  EXPECT_EQ(changed->gaps, Traffic::Gaps::Gamma);
}

// Of the field that decides what the others of its block mean.
TEST(Defaults, TrafficIsPoisson) {
  const std::string service = "kind: Service, measured: {requestGpuTime: 31ms}, traffic: ";
  const auto without = workload_of(with_workload(service + "{mean: 2/s}")).traffic;
  const auto written = workload_of(with_workload(service + "{mean: 2/s, shape: Poisson}")).traffic;
  const auto changed = workload_of(with_workload(service + "{mean: 2/s, shape: Constant}")).traffic;
  EXPECT_EQ(without->gaps, written->gaps);
  EXPECT_EQ(without->shape.index(), written->shape.index());
  EXPECT_NE(without->gaps, changed->gaps);
}

}  // namespace
}  // namespace slicewise::scenarios

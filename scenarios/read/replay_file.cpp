#include "slicewise/scenarios/replay_file.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../fields/check_fields.hpp"
#include "../fields/fields_replay.hpp"
#include "../text/document.hpp"
#include "../text/findings.hpp"
#include "node_values.hpp"

namespace slicewise::scenarios {
namespace {

std::vector<std::string> words_at(const Node* parent, std::string_view key) {
  const Node* node = parent == nullptr ? nullptr : parent->find(key);
  std::vector<std::string> words;
  if (node == nullptr) return words;
  if (node->kind == Node::Kind::Text) words.push_back(node->text);
  for (const NodePtr& item : node->items) words.push_back(item->text);
  return words;
}

void read_cluster(const Node& cluster, ReplayFile& file, Findings& findings) {
  constexpr std::array<std::string_view, 4> kChoices = {"gpus", "nodes", "nodeList", "instances"};
  const auto given = std::ranges::count_if(
      kChoices, [&](std::string_view key) { return cluster.find(key) != nullptr; });
  if (given != 1) {
    findings.add(given == 0 ? Code::FieldMissing : Code::SettingConflict, cluster.where,
                 fmt::format("spec.cluster needs one of {}", fmt::join(kChoices, ", ")),
                 "write it like `cluster: {gpus: 2000}`");
  }
  file.gpus = integer_at(&cluster, "gpus");
  file.node_list = text_at(&cluster, "nodeList").value_or("");
  file.region = text_at(&cluster, "region").value_or("");
  file.any_gpu = boolean_at(&cluster, "anyGpu").value_or(false);
  if (const Node* nodes = blocks(&cluster, "nodes")) {
    for (const NodePtr& node : nodes->items) {
      file.nodes.push_back({integer_at(node.get(), "count").value_or(1),
                            int_at(node.get(), "gpus").value_or(0),
                            text_at(node.get(), "gpuModel").value_or(""), cpu_at(node.get(), "cpu"),
                            bytes_at(node.get(), "memory")});
      const ReplayFile::Nodes& read = file.nodes.back();
      if (read.cpu.has_value() == read.memory.has_value() &&
          read.cpu.has_value() == file.nodes.front().cpu.has_value()) {
        continue;
      }
      findings.add(Code::SettingConflict, node->where,
                   "cpu and memory are either known of all nodes or of none",
                   "give both to all nodes, or to none: then GPUs alone count");
    }
  }
  if (const Node* instances = blocks(&cluster, "instances")) {
    for (const NodePtr& node : instances->items) {
      file.instances.push_back({located_text_at(node.get(), "instanceType"),
                                integer_at(node.get(), "count").value_or(1)});
    }
  }
}

void read_spec(const Node& spec, ReplayFile& file, Findings& findings) {
  const Node* trace = block(&spec, "trace");
  file.trace = located_text_at(trace, "file");
  file.repeat = int_at(trace, "repeat").value_or(1);
  file.shift = duration_at(trace, "shift");
  if (file.repeat > 1 && !file.shift) {
    findings.add(Code::FieldMissing, value_place(*trace, "repeat"),
                 "spec.trace.shift is missing: how long after one another the repetitions start",
                 "write it like `shift: 137d`");
  }
  if (const Node* cluster = block(&spec, "cluster")) read_cluster(*cluster, file, findings);
  file.queues = words_at(&spec, "queue");
  file.placements = words_at(&spec, "placement");
  file.restart_preempted = boolean_at(&spec, "restartPreempted").value_or(false);
  file.inflate = number_at(&spec, "inflate");
  if (const auto seed = integer_at(&spec, "seed")) file.seed = static_cast<std::uint64_t>(*seed);
  file.replications = int_at(&spec, "replications");
  if (file.inflate && file.gpus) {
    findings.add(Code::SettingConflict, value_place(spec, "inflate"),
                 "inflate needs nodes, not one pool", "write nodes, nodeList or instances");
  }
}

}  // namespace

bool is_replay_file(const SourceText& source) {
  constexpr std::size_t kLookedAt = 4096;
  const std::string_view start = std::string_view(source.text).substr(0, kLookedAt);
  return start.find("apiVersion") != std::string_view::npos &&
         start.find("kind") != std::string_view::npos;
}

Expected<ReplayFile> read_replay_file(const SourceText& source) {
  Findings findings;
  Diagnostics syntax;
  const NodePtr document = read_document(source, syntax);
  for (Diagnostic& problem : syntax) findings.add(std::move(problem));
  ReplayFile file;
  if (document != nullptr && document->kind != Node::Kind::Map) {
    findings.add(Code::YamlSyntax, document->where, "the file holds no replay",
                 "slicewise import KIND -o scenario writes one");
  } else if (const Node* kind = document == nullptr ? nullptr : document->find("kind");
             kind != nullptr && kind->text == "Scenario") {
    findings.add(Code::ApiVersionUnknown, kind->where, "this is a Scenario, not a Replay",
                 "slicewise run -f reads it; replay takes a trace of jobs");
  } else if (document != nullptr) {
    check_field(table::kReplay, *document, "", document->where, Completeness::Whole, findings);
    file.name = text_at(block(document.get(), "metadata"), "name").value_or("");
    if (const Node* spec = block(document.get(), "spec")) read_spec(*spec, file, findings);
  }
  Diagnostics problems = findings.take_sorted(source.name);
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  return file;
}

}  // namespace slicewise::scenarios

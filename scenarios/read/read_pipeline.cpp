#include "node_values.hpp"
#include "read_scenario.hpp"

namespace slicewise::scenarios {
namespace {

Pipeline::Stage read_stage(const Node& node) {
  Pipeline::Stage stage;
  stage.workload = located_text_at(&node, "workload");
  if (const Node* after = blocks(&node, "after")) {
    for (const NodePtr& name : after->items) {
      if (name->kind == Node::Kind::Text) stage.after.push_back({name->text, name->where});
    }
  }
  return stage;
}

}  // namespace

Pipeline read_pipeline(const Node& node, Findings& findings, TraceFiles& traces) {
  Pipeline pipeline;
  pipeline.where = node.where;
  pipeline.name = located_text_at(&node, "name");
  pipeline.traffic = read_traffic(node, findings, traces).value_or(Traffic{});
  pipeline.objectives = read_objectives(node);
  if (const Node* stages = blocks(&node, "stages")) {
    for (const NodePtr& stage : stages->items) {
      if (stage->kind == Node::Kind::Map) pipeline.stages.push_back(read_stage(*stage));
    }
  }
  return pipeline;
}

}  // namespace slicewise::scenarios

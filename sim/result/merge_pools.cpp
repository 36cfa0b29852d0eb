#include <algorithm>

#include "slicewise/models/execution_law.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

// As scenarios spell it.
std::string_view policy_word(models::Vgpu::Policy policy) {
  switch (policy) {
    case models::Vgpu::Policy::BestEffort:
      return "bestEffort";
    case models::Vgpu::Policy::EqualShare:
      return "equalShare";
    case models::Vgpu::Policy::FixedShare:
      return "fixedShare";
  }
  return "bestEffort";
}

int most_nodes(const PoolModel& pool) { return pool.most_nodes.value_or(pool.nodes); }

void describe_sharing(const PoolModel& pool, NodePoolResult& result) {
  for (const DomainKind& kind : pool.kinds) {
    const auto turns = [&](const models::TimeSlice& slice) {
      result.turn = slice.turn;
      result.switch_cost = slice.switch_cost;
    };
    std::visit(models::Overloaded{
                   [](const models::Exclusive&) {},
                   [&](const models::TimeSlicing& slicing) { turns(slicing.slice); },
                   [&](const models::Mps& mps) {
                     // The smallest, where MIG instances of several sizes are shared.
                     result.active_threads =
                         std::min(result.active_threads.value_or(1), mps.active_threads);
                     if (!result.memory_limit ||
                         (mps.memory_limit && *mps.memory_limit < *result.memory_limit)) {
                       result.memory_limit = mps.memory_limit;
                     }
                   },
                   [&](const models::Vgpu& vgpu) {
                     turns(vgpu.slice);
                     result.vgpu_policy = policy_word(vgpu.policy);
                     result.vgpus_per_gpu = vgpu.per_gpu;
                   },
               },
               kind.sharing);
  }
}

void describe_partitions(const PoolModel& pool, NodePoolResult& result) {
  const NodeLayout& layout = pool.layouts.front();
  if (layout.name.empty()) return;
  result.mig_config = layout.name;
  double compute = 0;
  for (const NodeLayout::Domain& domain : layout.domains) {
    const DomainKind& kind = pool.kinds[domain.kind];
    compute += kind.share.compute;
    if (!kind.partition.empty()) result.instances[kind.partition] += most_nodes(pool);
  }
  result.sms_unused_ratio = std::max(0.0, 1 - compute / pool.gpus_per_node);
}

}  // namespace

NodePoolResult pool_result(const PoolModel& pool) {
  NodePoolResult result;
  result.name = pool.name;
  result.instance_type = pool.instance_type;
  result.gpu_model = pool.gpu->name;
  result.region = pool.region;
  result.purchase_option = pool.purchase_option;
  result.strategy = pool.strategy;
  result.nodes = most_nodes(pool);
  result.gpus_per_node = pool.gpus_per_node;
  result.price = pool.price.usd;
  result.price_source = pool.price.source.text;
  describe_sharing(pool, result);
  describe_partitions(pool, result);
  for (std::size_t offer = 0; offer < pool.offers.size(); ++offer) {
    result.advertised[pool.offers[offer].name] = result.nodes * pool.tickets_per_node(offer, 0);
  }
  return result;
}

}  // namespace slicewise::sim

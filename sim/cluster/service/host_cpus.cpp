#include "host_cpus.hpp"

#include <algorithm>

namespace slicewise::sim {

HostCpus::HostCpus(RunState& run) : run_(run) {
  const bool needed = std::ranges::any_of(run.world.workloads, [](const WorkloadModel& model) {
    return needs_host_cpu(model.spec.serving);
  });
  if (!needed) return;
  for (const Node& node : run.cluster.nodes) cpus_.emplace_back(run.cluster.pool(node).vcpus);
}

void HostCpus::start(std::uint32_t pod, const Task& task, Duration work) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(tasks_.size()));
    tasks_.emplace_back();
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  tasks_[slot] = task;
  tasks_[slot].started = run_.now;
  const NodeId node = run_.cluster.pods[pod].node;
  const auto& limit = run_.cluster.model(run_.cluster.pods[pod]).spec.pod.cpu_limit;
  HostCpu& cpu = cpus_[index(node)];
  cpu.advance(run_.now);
  cpu.start(pod, slot, work,
            limit ? static_cast<double>(limit->count) / 1000.0 : HostCpu::kNoLimit);
  arm(node);
}

HostCpus::Done HostCpus::complete(NodeId node) {
  HostCpu& cpu = cpus_[index(node)];
  cpu.advance(run_.now);
  const HostCpu::Task done = cpu.complete();
  free_slots_.push_back(done.item);
  arm(node);
  return {done.owner, tasks_[done.item]};
}

void HostCpus::leave_to_batch(NodeId node, double vcpus) {
  const auto all = static_cast<double>(run_.cluster.pool(run_.cluster.nodes[index(node)]).vcpus);
  HostCpu& cpu = cpus_[index(node)];
  cpu.advance(run_.now);
  cpu.set_cores(std::max(1.0, all - vcpus));
  arm(node);
}

}  // namespace slicewise::sim

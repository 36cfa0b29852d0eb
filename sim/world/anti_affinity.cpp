#include "anti_affinity.hpp"

#include <algorithm>

#include "admission.hpp"

namespace slicewise::sim {

AntiAffinity::AntiAffinity(const World& world, std::size_t nodes)
    : party_(world.workloads.size(), kNone) {
  std::vector<std::size_t> workloads;  // by party
  const auto join = [&](std::size_t w) {
    if (party_[w] != kNone) return;
    party_[w] = workloads.size();
    workloads.push_back(w);
  };
  for (std::size_t a = 0; a < world.workloads.size(); ++a) {
    if (!sim::refuses_some(world.workloads[a].spec.pod)) continue;
    for (std::size_t b = 0; b < world.workloads.size(); ++b) {
      if (!sim::refuses(world.workloads[a].spec, world.workloads[b].spec)) continue;
      join(a);
      join(b);
    }
  }
  parties_ = workloads.size();
  for (const std::size_t a : workloads) {
    for (const std::size_t b : workloads) {
      const Workload& own = world.workloads[a].spec;
      const Workload& other = world.workloads[b].spec;
      refuses_.push_back({shuns(own, other), shares_port(own.pod, other.pod)});
    }
  }
  there_.resize(nodes * parties_);
}

void AntiAffinity::copy(std::size_t node, const AntiAffinity& from) {
  const auto first = from.there_.begin() + static_cast<std::ptrdiff_t>(node * parties_);
  std::copy_n(first, parties_, there_.begin() + static_cast<std::ptrdiff_t>(node * parties_));
}

// Whether `holds` says so of the workload and somebody who is there.
bool AntiAffinity::any_there(std::size_t node, std::size_t workload, auto&& holds) const {
  const std::size_t own = any() ? party_[workload] : kNone;
  for (std::size_t other = 0; own != kNone && other < parties_; ++other) {
    if (there_[node * parties_ + other] > 0 && holds(own, other)) return true;
  }
  return false;
}

bool AntiAffinity::refuses_some(std::size_t node, std::size_t workload) const {
  return any_there(node, workload,
                   [this](std::size_t own, std::size_t other) { return of(own, other).shuns; });
}

bool AntiAffinity::is_refused(std::size_t node, std::size_t workload) const {
  return any_there(node, workload,
                   [this](std::size_t own, std::size_t other) { return of(other, own).shuns; });
}

bool AntiAffinity::lacks_port(std::size_t node, std::size_t workload) const {
  return any_there(node, workload, [this](std::size_t own, std::size_t other) {
    return of(own, other).shares_port;
  });
}

std::int64_t AntiAffinity::on_empty(std::size_t workload, std::int64_t pods) const {
  const std::size_t own = any() ? party_[workload] : kNone;
  const bool is_alone = own != kNone && (of(own, own).shuns || of(own, own).shares_port);
  return is_alone ? std::min<std::int64_t>(pods, 1) : pods;
}

}  // namespace slicewise::sim

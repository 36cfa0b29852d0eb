#include "pod_company.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "slicewise/lookup.hpp"

#include "admission.hpp"

namespace slicewise::sim {
namespace {

using scenarios::PodAffinityTerm;

bool has_label(const PoolModel& pool, const std::string& key) {
  return key == scenarios::kHostname || pool.labels.contains(key);
}

std::set<std::string> labels_of(const std::vector<PodAffinityTerm>& terms) {
  std::set<std::string> labels;
  for (const PodAffinityTerm& term : terms) labels.insert(term.topology_key);
  return labels;
}

// Whether a term of this label is about the pods of `b`.
bool shuns_by(const std::string& label, const Workload& a, const Workload& b) {
  return std::ranges::any_of(a.pod.anti_affinity, [&](const PodAffinityTerm& term) {
    return term.topology_key == label && selects(a, term, b);
  });
}

bool selects_by_all(const Workload& a, const Workload& b) {
  return std::ranges::all_of(a.pod.pod_affinity,
                             [&](const PodAffinityTerm& term) { return selects(a, term, b); });
}

}  // namespace

std::vector<char> counted_pools(const World& world, const PodTemplate& pod,
                                const scenarios::TopologySpread& rule) {
  std::vector<char> counted;
  for (const PoolModel& pool : world.pools) {
    const bool has_all =
        std::ranges::all_of(pod.preferences.spread, [&](const scenarios::TopologySpread& other) {
          return other.is_required() != rule.is_required() || has_label(pool, other.topology_key);
        });
    const bool suits = rule.node_affinity_policy == "Ignore" || matches_selector(pool, pod);
    const bool takes = rule.node_taints_policy != "Honor" || !has_untolerated_taint(pool, pod);
    counted.push_back(has_all && suits && takes ? 1 : 0);
  }
  return counted;
}

PodCompany::PodCompany(const World& world, const std::vector<std::size_t>& pool_of)
    : company_(world, pool_of),
      spread_(world, pool_of),
      rules_(world.workloads.size()),
      wakes_(world.workloads.size()),
      rivals_(world.workloads.size()),
      party_(world.workloads.size(), kNone),
      is_there_(pool_of.size()),
      foreseen_(world.pools.size()) {
  any_ = std::ranges::any_of(world.workloads, [](const WorkloadModel& workload) {
    return sim::refuses_some(workload.spec.pod);
  });
  for (std::size_t w = 0; any_ && w < world.workloads.size(); ++w) {
    add_spreads(world, w);
    add_near(world, w);
    add_far(world, w);
    for (std::size_t v = 0; v < world.workloads.size(); ++v) {
      if (shares_port(world.workloads[w].spec.pod, world.workloads[v].spec.pod)) {
        rivals_[w].push_back(v);
        join(v);
      }
    }
  }
  there_.resize(pool_of.size() * parties_.size());
  known_.clear();
}

void PodCompany::join(std::size_t workload) {
  if (party_[workload] != kNone) return;
  party_[workload] = parties_.size();
  parties_.push_back(workload);
}

// Rules that are alike have one tally.
std::size_t PodCompany::tally_of(DomainTallies& tallies, std::string_view label,
                                 const std::vector<char>& counted, const Weights& weights) {
  const auto [known, is_new] = known_.try_emplace({&tallies, std::string(label), counted, weights});
  if (!is_new) return known->second;
  known->second = tallies.add(label, counted);
  for (std::size_t w = 0; w < weights.size(); ++w) {
    if (weights[w] == 0) continue;
    tallies.take(known->second, w, weights[w]);
    join(w);
  }
  return known->second;
}

void PodCompany::add_near(const World& world, std::size_t w) {
  const Workload& own = world.workloads[w].spec;
  if (own.pod.pod_affinity.empty()) return;
  Rules& rules = rules_[w];
  Weights weights;
  for (std::size_t v = 0; v < world.workloads.size(); ++v) {
    weights.push_back(selects_by_all(own, world.workloads[v].spec) ? 1 : 0);
    if (weights.back() != 0) wakes_[v].push_back(w);
  }
  rules.meets_itself = weights[w] != 0;
  rules.near_nobody = std::ranges::count(weights, 0) == std::ssize(weights);
  rules.reaches = true;
  const std::vector<char> everywhere(world.pools.size(), 1);
  for (const std::string& label : labels_of(own.pod.pod_affinity)) {
    rules.near.push_back(tally_of(company_, label, everywhere, weights));
  }
}

void PodCompany::add_far(const World& world, std::size_t w) {
  const Workload& own = world.workloads[w].spec;
  Rules& rules = rules_[w];
  const std::vector<char> everywhere(world.pools.size(), 1);
  std::set<std::string> labels;  // of anybody's terms
  for (const WorkloadModel& workload : world.workloads) {
    labels.merge(labels_of(workload.spec.pod.anti_affinity));
  }
  for (const std::string& label : labels) {
    Weights refused;
    Weights refusing;
    for (const WorkloadModel& other : world.workloads) {
      refused.push_back(shuns_by(label, own, other.spec) ? 1 : 0);
      refusing.push_back(shuns_by(label, other.spec, own) ? 1 : 0);
    }
    if (contains(refused, 1)) {
      rules.far.push_back(tally_of(company_, label, everywhere, refused));
      if (refused[w] != 0) rules.alone.push_back(rules.far.back());
    }
    if (contains(refusing, 1)) {
      rules.refused_by.push_back(tally_of(company_, label, everywhere, refusing));
    }
    const bool any = contains(refused, 1) || contains(refusing, 1);
    rules.reaches = rules.reaches || (any && label != scenarios::kHostname);
  }
}

void PodCompany::add_spreads(const World& world, std::size_t w) {
  const Workload& own = world.workloads[w].spec;
  for (const scenarios::TopologySpread& rule : own.pod.preferences.spread) {
    if (!rule.is_required()) continue;
    Weights weights;
    for (std::size_t v = 0; v < world.workloads.size(); ++v) {
      weights.push_back(selects(own, rule, world.workloads[v].spec) ? 1 : 0);
      if (weights.back() != 0) wakes_[v].push_back(w);
    }
    const std::size_t tally =
        tally_of(spread_, rule.topology_key, counted_pools(world, own.pod, rule), weights);
    rules_[w].spreads.push_back({tally, rule.max_skew, rule.min_domains, weights[w] != 0});
    rules_[w].reaches = true;
    least_.resize(std::max(least_.size(), tally + 1));
  }
}

void PodCompany::set_there(std::size_t node, bool is_there) {
  if (!any_ || (is_there_[node] != 0) == is_there) return;
  is_there_[node] = is_there ? 1 : 0;
  ++version_;
}

void PodCompany::count(std::size_t node, std::size_t workload, std::int64_t pods) {
  if (!any_ || pods == 0 || party_[workload] == kNone) return;
  there_[node * parties_.size() + party_[workload]] += pods;
  company_.count(node, workload, pods);
  count_spread(node, workload, pods);
}

void PodCompany::count_spread(std::size_t node, std::size_t workload, std::int64_t pods) {
  if (least_.empty()) return;
  spread_.count(node, workload, pods);
  ++version_;
}

void PodCompany::copy(std::size_t node, const PodCompany& from) {
  for (const std::size_t w : parties_) count(node, w, from.there(node, w) - there(node, w));
  set_there(node, true);
}

void PodCompany::clear(std::size_t node) {
  for (const std::size_t w : parties_) count(node, w, -there(node, w));
  set_there(node, false);
}

const PodCompany::Least& PodCompany::least(std::size_t tally) const {
  Least& least = least_[tally];
  if (least.version == version_) return least;
  least = {};
  least.version = version_;
  seen_.assign(spread_.domains(tally), char{0});
  const auto consider = [&](std::size_t domain, std::int64_t pods) {
    if (domain != kNone && std::exchange(seen_[domain], char{1}) != 0) return;
    ++least.domains;
    least.of_others = std::min(least.of_others, std::max(pods, least.pods));
    if (pods >= least.pods) return;
    least.pods = pods;
    least.domain = domain;
  };
  for (std::size_t n = 0; n < is_there_.size(); ++n) {
    if (is_there_[n] == 0 || !spread_.counts(tally, spread_.pool_of(n))) continue;
    const std::size_t domain = spread_.domain(tally, n);
    consider(domain, spread_.sum(tally, n));
  }
  for (std::size_t p = 0; p < foreseen_.size(); ++p) {
    if (foreseen_[p] == 0 || !spread_.counts(tally, p)) continue;
    const bool of_nodes = spread_.is_of_nodes(tally);
    const std::size_t domain = of_nodes ? kNone : spread_.domain_of_pool(tally, p);
    consider(domain, of_nodes ? 0 : spread_.sum_of_domain(tally, domain));
  }
  return least;
}

bool PodCompany::has_any(const std::vector<std::size_t>& tallies, std::size_t node) const {
  return std::ranges::any_of(tallies, [&](std::size_t tally) {
    return company_.has_label(tally, node) && company_.sum(tally, node) > 0;
  });
}

// The first of those that want each other near may go anywhere.
bool PodCompany::is_near(const Rules& rules, std::size_t node) const {
  const auto has = [&](std::size_t tally) { return company_.has_label(tally, node); };
  const auto is_there = [&](std::size_t tally) { return company_.sum(tally, node) > 0; };
  const auto is_nowhere = [&](std::size_t tally) { return company_.total(tally) == 0; };
  return std::ranges::all_of(rules.near, has) &&
         (std::ranges::all_of(rules.near, is_there) ||
          (rules.meets_itself && std::ranges::all_of(rules.near, is_nowhere)));
}

std::optional<PodCompany::Refusal> PodCompany::reject(std::size_t node,
                                                      std::size_t workload) const {
  if (!any_) return std::nullopt;
  const Rules& rules = rules_[workload];
  for (const Spread& spread : rules.spreads) {
    if (!spread_.has_label(spread.tally, node)) return Refusal::SpreadLabel;
    const Least& fewest = least(spread.tally);
    const std::int64_t pods = fewest.domains < spread.min_domains ? 0 : fewest.pods;
    const std::int64_t skew =
        spread_.sum(spread.tally, node) + (spread.counts_itself ? 1 : 0) - pods;
    if (skew > spread.max_skew) return Refusal::Spread;
  }
  if (!is_near(rules, node)) return Refusal::Affinity;
  if (has_any(rules.far, node)) return Refusal::AntiAffinity;
  if (has_any(rules.refused_by, node)) return Refusal::ExistingAntiAffinity;
  return std::nullopt;
}

bool PodCompany::lacks_port(std::size_t node, std::size_t workload) const {
  return any_ && std::ranges::any_of(rivals_[workload],
                                     [&](std::size_t rival) { return there(node, rival) > 0; });
}

std::int64_t PodCompany::room(std::size_t node, std::size_t workload, std::int64_t pods) const {
  if (!any_) return pods;
  if (!admits(node, workload)) return 0;
  std::int64_t room = on_empty(company_.pool_of(node), workload, pods);
  for (const Spread& spread : rules_[workload].spreads) {
    if (!spread.counts_itself) continue;
    const Least& fewest = least(spread.tally);
    std::int64_t of_others =
        fewest.domain == spread_.domain(spread.tally, node) ? fewest.of_others : fewest.pods;
    if (fewest.domains < spread.min_domains) of_others = 0;
    if (of_others == INT64_MAX) continue;  // there is no other domain
    room = std::min(room, spread.max_skew + of_others - spread_.sum(spread.tally, node));
  }
  return std::max<std::int64_t>(room, std::min<std::int64_t>(pods, 1));
}

std::int64_t PodCompany::on_empty(std::size_t pool, std::size_t workload, std::int64_t pods) const {
  if (!any_) return pods;
  const Rules& rules = rules_[workload];
  const auto lacks = [&](std::size_t tally) { return !company_.pool_has_label(tally, pool); };
  const auto spreads_without = [&](const Spread& spread) {
    return !spread_.pool_has_label(spread.tally, pool);
  };
  if (rules.near_nobody || std::ranges::any_of(rules.near, lacks) ||
      std::ranges::any_of(rules.spreads, spreads_without)) {
    return 0;
  }
  const bool is_alone =
      contains(rivals_[workload], workload) || !std::ranges::all_of(rules.alone, lacks);
  return is_alone ? std::min<std::int64_t>(pods, 1) : pods;
}

}  // namespace slicewise::sim

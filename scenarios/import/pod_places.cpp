#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/scenarios/cluster_files.hpp"

#include "import_report.hpp"
#include "node_pool_choice.hpp"
#include "scenario_draft.hpp"

// Which pools of a draft pods may run on, by what they require of the labels of nodes.
namespace slicewise::scenarios {
namespace {

// What is known of such a label of its nodes, and of their GPU, by which products are judged.
NodeLabels labels_of_nodes(const DraftPool& pool, const ImportOptions& options,
                           const std::string& key) {
  NodeLabels labels;
  const auto known_as = label_by(pool.maker, key);
  const std::string name = known_as.value_or("");
  const auto known = std::ranges::find(options.instances, pool.instance_type, &InstanceGpus::name);
  const auto take = [&](const NodeLabels& all) {
    for (const std::string_view label : {std::string_view(kGpuNameLabel), std::string_view(name)}) {
      if (const auto found = all.find(label); found != all.end()) labels.insert(*found);
    }
  };
  if (known != options.instances.end() && !known->labels.empty()) {
    take(known->labels);
  } else {
    take(labels_of(instance_called(pool.instance_type, options.instances)));
  }
  const bool is_spot = pool.capacity_type == "spot";
  if (key == kCapacityTypeLabel && known_as) {
    labels[key] = pool.capacity_type.empty() ? "on-demand" : pool.capacity_type;
  }
  const bool is_block = pool.capacity_type == "capacity-block";
  if (key == kManagedCapacityLabel && known_as) {
    labels[key] = is_spot ? "SPOT" : is_block ? "CAPACITY_BLOCK" : "ON_DEMAND";
  }
  for (const auto& [label, value] : pool.labels) {
    if (label == key) labels[known_as.value_or(key)] = value;
  }
  return labels;
}

// The value of a label that nodes of the pool have in a scenario; nullopt: none.
std::optional<std::string> carried(const DraftPool& pool, const NodeLabels& labels,
                                   const std::string& key) {
  const auto known_as = label_by(pool.maker, key);
  const auto label = labels.find(known_as.value_or(key));
  if (label != labels.end()) return label->second;
  return names_group(key) && known_as ? std::optional(pool.name) : std::nullopt;
}

// Those that every cluster has are as the pool's own.
bool is_worth_keeping(const DraftPool& pool, const std::pair<std::string, std::string>& label) {
  return label.first == kInstanceTypeLabel ||
         std::ranges::find(pool.labels, label) != pool.labels.end();
}

bool is_required(const PodAffinityTerm& /*term*/) { return true; }
bool is_required(const TopologySpread& spread) { return spread.is_required(); }

void add_label(const std::pair<std::string, std::string>& label, DraftPool& pool) {
  const bool is_own = std::ranges::find(pool.labels, label) != pool.labels.end();
  if (!is_own) pool.labels.push_back(label);
}

class PodPlaces {
 public:
  PodPlaces(ScenarioDraft& draft, const ImportOptions& options, ImportReport& report)
      : draft_(draft), options_(options), report_(report) {}

  void keep() {
    const bool are_idle = std::ranges::any_of(draft_.pools, &DraftPool::offers_nothing);
    for (DraftWorkload& workload : draft_.workloads) {
      if (workload.stays_pending) {
        remark_on_pending("pods that stay Pending, as no node here offers what they ask for",
                          workload.resource);
      }
      const bool chooses = !workload.nodes.empty() || !workload.either.empty();
      if (chooses || are_idle) keep_on_pools_of(workload);
      keep_preferences_of(workload);
      keep_rules(workload, workload.pod_affinity);
      keep_rules(workload, workload.anti_affinity);
      keep_rules(workload, workload.preferences.spread);
      if (workload.architectures.empty()) take_images_of_nodes(workload);
    }
    write_labels_of_others();
    for (const DraftPool& pool : draft_.pools) {
      const bool has_others = std::ranges::any_of(draft_.pools, &DraftPool::is_in_files);
      if (!has_others || pool.is_in_files) continue;
      report_.guessed(fmt::format(
          "node pools that no file has, for pods that those of the files do not take: {}",
          pool.name));
    }
  }

 private:
  void keep_on_pools_of(DraftWorkload& workload) {
    const std::vector<NodeTerm> as_written = std::exchange(workload.node_affinity, {});
    std::vector<DraftPool*> offering;
    std::vector<DraftPool*> meant;
    for (DraftPool& pool : draft_.pools) {
      // In a scenario GPUs are there for whoever asks for them.
      const bool is_offered = offers(pool, workload, options_);
      if (!is_offered && !pool.offers_nothing) continue;
      offering.push_back(&pool);
      if (is_offered && may_run_on(workload, pool, options_)) meant.push_back(&pool);
    }
    if (draft_.has_all_nodes && meant.empty() && !offering.empty()) return keep_pending(workload);
    if (!workload.stays_pending) remark_on_unmet(workload, meant.empty());
    remark_on_unknown(workload);
    const bool is_free = meant.empty() || meant.size() == offering.size();
    std::erase_if(workload.node_selector, [&](const auto& label) {
      return !is_never_started({label.first, "In", {label.second}, {}}) &&
             std::ranges::none_of(draft_.pools, [&](const DraftPool& pool) {
               return is_free ? is_carried(pool, label) && is_worth_keeping(pool, label)
                              : is_carried(pool, label);
             });
    });
    const auto is_kept_off = [&](const DraftPool* pool) {
      return std::ranges::any_of(workload.node_selector,
                                 [&](const auto& label) { return !is_carried(*pool, label); });
    };
    const auto is_told = [&](const DraftPool* pool, bool kept_off) {
      return kept_off == (std::ranges::find(meant, pool) == meant.end());
    };
    const bool is_own =
        is_by_own_labels(as_written) && std::ranges::all_of(offering, [&](const DraftPool* pool) {
          return is_told(pool, is_kept_off(pool) || !meets_one(*pool, as_written));
        });
    if (is_own || is_never_started(as_written)) {
      workload.node_affinity = as_written;
      return;
    }
    const bool are_told_apart = std::ranges::all_of(
        offering, [&](const DraftPool* pool) { return is_told(pool, is_kept_off(pool)); });
    if (!is_free && !are_told_apart) select(meant, workload);
  }

  // Whether it says something of labels that pools themselves have.
  bool is_by_own_labels(const std::vector<NodeTerm>& terms) const {
    const auto is_own = [&](const NodeRequirement& one) {
      return std::ranges::any_of(draft_.pools, [&](const DraftPool& pool) {
        return std::ranges::any_of(pool.labels,
                                   [&](const auto& label) { return label.first == one.key; });
      });
    };
    return !terms.empty() && std::ranges::all_of(terms, [&](const NodeTerm& term) {
      return std::ranges::all_of(term.requirements, is_own);
    });
  }

  bool meets_one(const DraftPool& pool, const std::vector<NodeTerm>& terms) const {
    return std::ranges::any_of(terms, [&](const NodeTerm& term) {
      return std::ranges::all_of(term.requirements, [&](const NodeRequirement& one) {
        return allows(one, carried_by(pool, one.key));
      });
    });
  }

  // Of domains that nodes of the scenario are not known to be of, pods would wait for good.
  template <class Rule>
  void keep_rules(const DraftWorkload& workload, std::vector<Rule>& rules) {
    std::erase_if(rules, [&](const Rule& rule) {
      const std::string& key = rule.topology_key;
      if (key == kHostname || !is_required(rule)) return false;
      std::vector<std::pair<DraftPool*, std::string>> domains;
      for (DraftPool& pool : draft_.pools) {
        if (!offers(pool, workload, options_) || !may_run_on(workload, pool, options_)) continue;
        const auto domain = domain_of(pool, key);
        if (!domain) {
          report_.noted(fmt::format("what pods require of others by domains that nodes of a "
                                    "scenario do not have, left out: {}",
                                    key.substr(0, 60)),
                        rule.where);
          return true;
        }
        domains.emplace_back(&pool, *domain);
      }
      for (auto& [pool, domain] : domains) add_label({key, domain}, *pool);
      return false;
    });
  }

  // Of a NodePool or a group in one zone, too.
  std::optional<std::string> domain_of(const DraftPool& pool, const std::string& key) const {
    for (const NodeRequirement& one : pool.made_with) {
      if (one.key == key && one.op == "In" && one.values.size() == 1) return one.values.front();
    }
    return carried_by(pool, key);
  }

  // Pods that have no nodes but those of arm64 have images for them.
  void take_images_of_nodes(DraftWorkload& workload) {
    bool any = false;
    for (const DraftPool& pool : draft_.pools) {
      if (!offers(pool, workload, options_) || !may_run_on(workload, pool, options_)) continue;
      const InstanceGpus type = instance_called(pool.instance_type, options_.instances);
      if (architecture_of(type) == kArchitectures.front()) return;
      any = true;
    }
    if (!any) return;
    workload.architectures = {Architecture::Arm64};
    report_.guessed("images built for arm64, as all nodes here that their pods may have are");
  }

  void remark_on_pending(const std::string& why, const std::string& what) {
    report_.noted(fmt::format("{}: {}", why, what.substr(0, 60)));
  }

  // Of a cluster whose nodes are known: on none of them, be it by a label that none has.
  void keep_pending(DraftWorkload& workload) {
    const auto has_none = [&](const auto& label) {
      return std::ranges::none_of(draft_.pools,
                                  [&](const auto& pool) { return is_carried(pool, label); });
    };
    const auto unmet = std::ranges::find_if(
        workload.nodes, [&](const NodeRequirement& one) { return !is_met(one); });
    if (!workload.stays_pending) {
      remark_on_pending("pods that stay Pending, as no node here meets what they require of nodes",
                        unmet == workload.nodes.end() ? workload.name : unmet->key);
    }
    if (std::ranges::none_of(workload.node_selector, has_none)) select({}, workload);
  }

  std::optional<std::string> carried_by(const DraftPool& pool, const std::string& key) const {
    return carried(pool, labels_of_nodes(pool, options_, key), key);
  }

  bool is_carried(const DraftPool& pool, const std::pair<std::string, std::string>& label) const {
    return carried_by(pool, label.first) == label.second;
  }

  bool may_meet(const DraftPool& pool, const NodeRequirement& one) const {
    return may_fulfil(labels_of_nodes(pool, options_, one.key), pool.made_with, one, pool.maker);
  }

  void keep_preferences_of(DraftWorkload& workload) {
    std::vector<PreferredNodes>& all = workload.preferences.nodes;
    for (PreferredNodes& nodes : all) keep_preference(workload, nodes);
    std::erase_if(all, [](const PreferredNodes& nodes) { return nodes.requirements.empty(); });
  }

  // As it is written where the labels of simulated nodes say who meets it.
  void keep_preference(const DraftWorkload& workload, PreferredNodes& nodes) {
    std::vector<DraftPool*> meant;
    std::size_t suitable = 0;
    bool as_written = true;
    for (DraftPool& pool : draft_.pools) {
      if (!offers(pool, workload, options_) || !may_run_on(workload, pool, options_)) continue;
      ++suitable;
      const auto may = [&](const NodeRequirement& one) { return may_meet(pool, one); };
      const auto does = [&](const NodeRequirement& one) {
        return allows(one, carried_by(pool, one.key));
      };
      const bool is_meant = std::ranges::all_of(nodes.requirements, may);
      if (is_meant) meant.push_back(&pool);
      as_written = as_written && std::ranges::all_of(nodes.requirements, does) == is_meant;
    }
    if (as_written) return;
    if (meant.size() < suitable) {
      const auto [key, value] = mark_of(meant);
      nodes.requirements = {{key, "In", {value}, nodes.where}};
      return;
    }
    report_.noted(
        fmt::format("what pods prefer of labels that nodes of a scenario do not have, left out: {}",
                    nodes.requirements.front().key.substr(0, 60)),
        nodes.where);
    nodes.requirements.clear();
  }

  // Who makes the nodes in the scenario: nobody in particular where they neither come nor go.
  NodeMaker simulated_maker(const DraftPool& pool) const {
    const bool comes_and_goes = pool.most_nodes && draft_.provisioner;
    return comes_and_goes ? maker_of(draft_.provisioner->kind) : NodeMaker::Unknown;
  }

  // Labels that pods select or prefer, that their nodes have by whoever makes them and that those
  // of the scenario would not have.
  void write_labels_of_others() {
    for (const DraftWorkload& workload : draft_.workloads) {
      for (const auto& label : workload.node_selector) {
        write_label_of_others(label.first,
                              [&](const auto& value) { return value == label.second; });
      }
      for (const PreferredNodes& nodes : workload.preferences.nodes) {
        for (const NodeRequirement& one : nodes.requirements) {
          write_label_of_others(one.key, [](const auto& value) { return value.has_value(); });
        }
      }
    }
  }

  template <class Wanted>
  void write_label_of_others(const std::string& key, Wanted is_wanted) {
    for (DraftPool& pool : draft_.pools) {
      const bool is_made = label_by(simulated_maker(pool), key) == key && key != kEksctlGroupLabel;
      const std::optional<std::string> value = carried_by(pool, key);
      if (is_made || !is_wanted(value)) continue;
      add_label({key, *value}, pool);
    }
  }

  void select(const std::vector<DraftPool*>& meant, DraftWorkload& workload) {
    workload.node_selector = {mark_of(meant)};
  }

  // A label that these pools have, and no others: of one its name, of several one that they are
  // given.
  std::pair<std::string, std::string> mark_of(const std::vector<DraftPool*>& meant) {
    if (meant.size() == 1) {
      DraftPool& pool = *meant.front();
      // Several pools may be of one NodePool.
      const auto named = std::ranges::find(pool.labels, kNodePoolLabel,
                                           &std::pair<std::string, std::string>::first);
      const bool has_it = label_by(pool.maker, kNodePoolLabel).has_value() &&
                          (named == pool.labels.end() || named->second == pool.name);
      std::pair label(has_it ? std::string(kNodePoolLabel) : kPoolLabel, pool.name);
      if (!has_it) add_label(label, pool);
      return label;
    }
    const auto [known, is_new] =
        labels_.try_emplace(meant, fmt::format("slicewise.dev/nodes-{}", labels_.size() + 1));
    std::pair label(known->second, std::string("true"));
    if (!is_new || meant.empty()) return label;
    for (DraftPool* pool : meant) pool->labels.push_back(label);
    report_.noted(
        fmt::format("what pods require or prefer of nodes, and several node pools here meet: by a "
                    "label of theirs, {}",
                    label.first));
    return label;
  }

  // Such as zones and hosts, which nodes of a scenario do not have.
  void remark_on_unknown(const DraftWorkload& workload) {
    for (const NodeRequirement& one : workload.nodes) {
      const bool is_known = std::ranges::any_of(draft_.pools, [&](const DraftPool& pool) {
        const auto has_it = [&](const NodeRequirement& own) { return own.key == one.key; };
        const std::string key = label_by(pool.maker, one.key).value_or(one.key);
        return labels_of_nodes(pool, options_, one.key).contains(key) ||
               std::ranges::any_of(pool.made_with, has_it);
      });
      if (is_never_started(one)) continue;
      if (is_known || !is_set_by_others(one.key) || one.key == "kubernetes.io/os") continue;
      report_.noted(
          fmt::format(
              "what pods require of labels that nodes of a scenario do not have, left out: {}",
              one.key.substr(0, 60)),
          one.where);
    }
  }

  // Whether Karpenter starts none of the nodes for pods that require it: a run says so, too. Nodes
  // without the label meet NotIn and DoesNotExist.
  bool is_never_started(const NodeRequirement& one) const {
    const auto is_unknown = [&](const DraftPool& pool) {
      const bool is_made = pool.maker == NodeMaker::Karpenter || pool.maker == NodeMaker::AutoMode;
      return is_made && pool.most_nodes && pool.nodes == 0 && !carried_by(pool, one.key) &&
             std::ranges::find(pool.made_with, one.key, &NodeRequirement::key) ==
                 pool.made_with.end();
    };
    return one.op != "NotIn" && one.op != "DoesNotExist" && is_late_label(one.key) &&
           std::ranges::all_of(draft_.pools, is_unknown);
  }

  // Whichever of the terms it is.
  bool is_never_started(const std::vector<NodeTerm>& terms) const {
    return !terms.empty() && std::ranges::all_of(terms, [&](const NodeTerm& term) {
      return std::ranges::any_of(term.requirements,
                                 [&](const NodeRequirement& one) { return is_never_started(one); });
    });
  }

  bool is_met(const NodeRequirement& one) const {
    return std::ranges::any_of(draft_.pools,
                               [&](const DraftPool& pool) { return may_meet(pool, one); });
  }

  void remark_on_unmet(DraftWorkload& workload, bool are_unmet) {
    bool is_told = false;
    for (const NodeRequirement& one : workload.nodes) {
      if (is_met(one)) continue;
      is_told = true;
      const bool is_selector =
          one.op == "In" && one.values.size() == 1 &&
          std::ranges::find(workload.node_selector, std::pair(one.key, one.values.front())) !=
              workload.node_selector.end();
      report_.guessed(fmt::format("node {} that no node pool here {}, left out: {}",
                                  is_selector ? "selectors" : "affinity",
                                  is_selector ? "has" : "meets", one.key.substr(0, 60)),
                      one.where);
    }
    if (!are_unmet || is_told) return;
    workload.node_selector.clear();
    report_.guessed(fmt::format(
        "what pods require of nodes, and no node pool here meets together, left out: {}",
        workload.name));
  }

  ScenarioDraft& draft_;
  const ImportOptions& options_;
  ImportReport& report_;
  std::map<std::vector<DraftPool*>, std::string> labels_;  // of pools that pods are meant for
};

// Pods that select CPUs have images for them.
std::vector<Architecture> architectures_of_nodes(const DraftWorkload& workload) {
  bool is_told = false;
  const auto allow = [&](const std::vector<NodeRequirement>& all, std::string_view architecture) {
    return std::ranges::all_of(all, [&](const NodeRequirement& one) {
      if (one.key != kArchitectureLabel) return true;
      is_told = true;
      return allows(one, architecture);
    });
  };
  std::vector<Architecture> found;
  for (std::size_t n = 0; n < kArchitectures.size(); ++n) {
    const auto allows_it = [&](const auto& term) { return allow(term, kArchitectures.at(n)); };
    const bool is_among =
        workload.either.empty() || std::ranges::any_of(workload.either, allows_it);
    if (allows_it(workload.nodes) && is_among) found.push_back(static_cast<Architecture>(n));
  }
  return is_told ? found : std::vector<Architecture>{};
}

}  // namespace

void take_required_nodes(const PodFile& pod, DraftWorkload& workload) {
  for (const KeyValue& label : pod.node_selector) {
    workload.nodes.push_back({label.key, "In", {label.value}, label.where});
  }
  std::vector<std::vector<NodeRequirement>> terms = pod.affinity;
  std::erase_if(terms, [](const auto& term) { return term.empty(); });  // they match no node
  for (const auto& term : terms) workload.node_affinity.push_back({term, term.front().where});
  if (terms.size() == 1) {
    workload.nodes.insert(workload.nodes.end(), terms.front().begin(), terms.front().end());
  } else {
    workload.either = std::move(terms);
  }
  workload.architectures = architectures_of_nodes(workload);
}

bool may_run_on(const DraftWorkload& workload, const DraftPool& pool,
                const ImportOptions& options) {
  if (workload.nodes.empty() && workload.either.empty()) return true;
  const auto are_met = [&](const std::vector<NodeRequirement>& all) {
    return std::ranges::all_of(all, [&](const NodeRequirement& one) {
      return may_fulfil(labels_of_nodes(pool, options, one.key), pool.made_with, one, pool.maker);
    });
  };
  return are_met(workload.nodes) &&
         (workload.either.empty() || std::ranges::any_of(workload.either, are_met));
}

void keep_on_pools(ScenarioDraft& draft, const ImportOptions& options, ImportReport& report) {
  PodPlaces(draft, options, report).keep();
}

}  // namespace slicewise::scenarios

#include "simulations.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>

#include "../../result/merge.hpp"

namespace slicewise::sim {
namespace {

Simulated merged_replications(const World& world, std::span<const Replication> records) {
  Simulated simulated;
  simulated.pooled = merge(world, records);
  for (std::size_t r = 0; r < records.size(); ++r) {
    simulated.singles.push_back(merge(world, records.subspan(r, 1)));
  }
  return simulated;
}

}  // namespace

// Reports what was done over all calls; of how much nobody knows.
RunOptions Simulations::counted() const {
  RunOptions batch = options_;
  if (options_.progress) {
    batch.progress = [&](int done, int total) {
      options_.progress(replications_done_ + done, replications_done_ + total);
    };
  }
  return batch;
}

void Simulations::run(std::span<const World* const> worlds, const TakeRecords& take) {
  replications_done_ += run_worlds(worlds, counted(), take);
}

std::vector<std::optional<Simulated>> Simulations::run(std::span<const World> worlds) {
  std::vector<std::optional<Simulated>> results(worlds.size());
  std::vector<const World*> all;
  for (const World& world : worlds) all.push_back(&world);
  run(all, [&](std::size_t w, auto records) {
    std::vector<Replication> whole;
    for (std::optional<Replication>& record : records) {
      if (record) whole.push_back(std::move(*record));
    }
    if (whole.size() == records.size()) results[w] = merged_replications(worlds[w], whole);
  });
  worlds_done_ += static_cast<int>(
      std::ranges::count_if(results, [](const auto& result) { return result.has_value(); }));
  return results;
}

// What the journal knows counts as if it had been simulated: a plan that was resumed is the same.
std::vector<PlanAnswer> ProbeBatch::answer(std::span<const PlanProbe> probes) {
  if (!journal_) return runner_(probes, nullptr);
  std::vector<PlanAnswer> answers(probes.size());
  std::vector<PlanProbe> open;
  std::vector<std::size_t> places;
  for (std::size_t p = 0; p < probes.size(); ++p) {
    if (auto known = journal_->find(probes[p])) {
      answers[p] = std::move(*known);
      continue;
    }
    open.push_back(probes[p]);
    places.push_back(p);
  }
  if (open.empty()) return answers;
  std::vector<PlanAnswer> found = runner_(open, [&](std::size_t p, const PlanAnswer& answer) {
    if (!answer.interrupted()) journal_->keep(open[p], answer);
  });
  for (std::size_t f = 0; f < found.size(); ++f) answers[places[f]] = std::move(found[f]);
  return answers;
}

namespace {

bool may_be_chosen(const PlanProbe& probe, const PlanAnswer& answer) {
  const bool is_whole = !probe.glance && probe.input.empty() && probe.draw == 0;
  return is_whole && !answer.partial && answer.figures->stands();
}

}  // namespace

std::vector<PlanAnswer> ProbeBatch::ask(std::span<const PlanProbe> probes) {
  std::vector<std::string> lines;
  std::vector<PlanProbe> fresh;
  std::vector<std::string> fresh_lines;
  for (const PlanProbe& probe : probes) {
    lines.push_back(probe_line(probe));
    const auto [known, is_new] = known_.emplace(lines.back(), PlanAnswer{});
    if (!is_new) continue;
    if (auto no = failures_ ? failures_->find(probe) : std::nullopt) {
      known->second = std::move(*no);
      continue;
    }
    fresh.push_back(probe);
    fresh_lines.push_back(lines.back());
  }
  if (!fresh.empty() && !interrupted_) {
    std::vector<PlanAnswer> found = answer(fresh);
    for (std::size_t f = 0; f < found.size(); ++f) {
      if (found[f].figures) {
        ++simulations_;
        replications_ += found[f].figures->replications;
        if (may_be_chosen(fresh[f], found[f])) {
          intervals_ += static_cast<std::int64_t>(found[f].figures->objectives.size());
        }
      }
      interrupted_ = interrupted_ || found[f].interrupted();
      if (failures_) failures_->note(fresh[f], found[f]);
      known_[fresh_lines[f]] = std::move(found[f]);
    }
  }
  std::vector<PlanAnswer> answers;
  answers.reserve(lines.size());
  for (const std::string& line : lines) answers.push_back(known_[line]);
  return answers;
}

PlanAnswer ProbeBatch::ask_one(const PlanProbe& probe) {
  const std::vector<PlanProbe> one{probe};
  return ask(one).front();
}

ProbeRunner probe_threads(const Scenario& base, const Catalogue& catalogue, const RunOptions& run) {
  RunOptions quiet = run;  // probes are counted, not the replications of each
  quiet.progress = nullptr;
  return [run, quiet, answer = probe_answerer(base, catalogue, run.interrupted), done = 0,
          asked = 0](std::span<const PlanProbe> probes, const ProbeAnswered& answered) mutable {
    std::vector<PlanAnswer> answers(probes.size());
    asked += static_cast<int>(probes.size());
    std::mutex answered_lock;
    run_in_parallel(probes.size(), quiet, [&](std::size_t p) {
      answers[p] = answer(probes[p], run.threads);
      const std::lock_guard guard(answered_lock);
      if (answered) answered(p, answers[p]);
      if (run.progress) run.progress(++done, asked);
    });
    return answers;
  };
}

}  // namespace slicewise::sim

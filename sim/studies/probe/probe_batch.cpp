#include "probe_batch.hpp"

#include <mutex>
#include <utility>

#include "../../run/replications.hpp"

namespace slicewise::sim {

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

std::vector<PlanAnswer> ProbeBatch::ask(std::span<const PlanProbe> probes) {
  std::vector<std::string> lines;
  std::vector<PlanProbe> fresh;
  std::vector<std::string> fresh_lines;
  for (const PlanProbe& probe : probes) {
    lines.push_back(probe_line(probe));
    if (!known_.emplace(lines.back(), PlanAnswer{}).second) continue;
    fresh.push_back(probe);
    fresh_lines.push_back(lines.back());
  }
  if (!fresh.empty() && !interrupted_) {
    std::vector<PlanAnswer> found = answer(fresh);
    for (std::size_t f = 0; f < found.size(); ++f) {
      if (found[f].figures) {
        ++simulations_;
        replications_ += fresh[f].replications;
      }
      interrupted_ = interrupted_ || found[f].interrupted();
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

ProbeRunner probe_threads(const scenarios::Scenario& base, const models::Catalogue& catalogue,
                          const RunOptions& run) {
  RunOptions quiet = run;  // probes are counted, not the replications of each
  quiet.progress = nullptr;
  return [&base, &catalogue, run, quiet, done = 0, asked = 0](
             std::span<const PlanProbe> probes, const ProbeAnswered& answered) mutable {
    std::vector<PlanAnswer> answers(probes.size());
    asked += static_cast<int>(probes.size());
    std::mutex answered_lock;
    run_in_parallel(probes.size(), quiet, [&](std::size_t p) {
      answers[p] = answer_probe(base, probes[p], catalogue, quiet);
      const std::lock_guard guard(answered_lock);
      if (answered) answered(p, answers[p]);
      if (run.progress) run.progress(++done, asked);
    });
    return answers;
  };
}

}  // namespace slicewise::sim

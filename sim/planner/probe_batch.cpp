#include "probe_batch.hpp"

#include <mutex>
#include <utility>

#include "../replications.hpp"

namespace slicewise::sim {

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
    std::vector<PlanAnswer> found = runner_(fresh);
    for (std::size_t f = 0; f < found.size(); ++f) {
      if (found[f].figures) {
        ++simulations_;
        replications_ += fresh[f].replications;
      }
      interrupted_ = interrupted_ || (!found[f].figures && found[f].refused.empty());
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
  return [&base, &catalogue, run, done = 0](std::span<const PlanProbe> probes) mutable {
    std::vector<PlanAnswer> answers(probes.size());
    std::mutex progress_lock;
    run_in_parallel(probes.size(), run, [&](std::size_t p) {
      answers[p] = answer_probe(base, probes[p], catalogue, run);
      if (!run.progress) return;
      const std::lock_guard guard(progress_lock);
      run.progress(++done, 0);
    });
    return answers;
  };
}

}  // namespace slicewise::sim

#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/sim/ranks.hpp"

#include "byte_archives.hpp"
#include "record_bytes.hpp"
#include "replications.hpp"

namespace slicewise::sim {

// Thrown by a task whose input is refused.
struct RefusedTask {
  Diagnostics why;
};

// What was interrupted and says how far it came: no journal keeps it.
template <class Result>
bool is_unfinished(const Result& result) {
  if constexpr (requires { result.interrupted; }) {
    return result.interrupted;
  } else {
    return false;
  }
}

// `work`, of which the journal, if there is one, may know what it found before.
template <class Result>
std::function<std::optional<Result>(std::size_t)> journaled(
    TaskJournal* journal, const std::function<std::optional<Result>(std::size_t)>& work) {
  if (journal == nullptr) return work;
  return [journal, step = journal->steps++, work](std::size_t t) -> std::optional<Result> {
    std::optional<Result> result;
    if (const auto known = journal->find(step, t)) {
      ByteReader reader(*known);
      reader(result);
      return result;
    }
    result = work(t);
    if (!result || is_unfinished(*result)) return result;
    ByteWriter writer;
    writer(result);
    journal->keep(step, t, writer.take());
    return result;
  };
}

// The results of task(0) .. task(count - 1), as run_in_parallel() makes them; absent where they
// were interrupted. Where ranks make the study together each does every size-th of them and hears
// of the others'. Throws what the first of all that fail throws, on each rank.
template <class Result>
std::vector<std::optional<Result>> results_of(
    std::size_t count, const RunOptions& options,
    const std::function<std::optional<Result>(std::size_t)>& task) {
  const auto work = journaled<Result>(options.journal, task);
  std::vector<std::optional<Result>> results(count);
  const Ranks* const ranks = current_ranks();
  const std::size_t size = ranks == nullptr ? 1 : ranks->size;
  if (size == 1) {
    run_in_parallel(count, options, [&](std::size_t t) { results[t] = work(t); });
    return results;
  }
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::size_t failed = kNone;  // of what this rank did
  const std::size_t mine = count / size + (ranks->rank < count % size ? 1 : 0);
  const auto task_of = [&](std::size_t rank, std::size_t n) { return rank + n * size; };
  std::vector<std::size_t> failures(mine, kNone);
  run_in_parallel(mine, options, [&](std::size_t n) {
    const std::size_t t = task_of(ranks->rank, n);
    try {
      results[t] = work(t);
    } catch (...) {
      failures[n] = t;  // everyone meets it once it is known which is the first
    }
  });
  for (const std::size_t t : failures) failed = std::min(failed, t);
  ByteWriter writer;
  std::size_t tasks = count;
  writer(tasks, failed);
  for (std::size_t n = 0; n < mine; ++n) writer(results[task_of(ranks->rank, n)]);
  const std::vector<std::string> said = ranks->exchange(writer.take());
  for (std::size_t rank = 0; rank < size; ++rank) {
    ByteReader reader(said.at(rank));
    std::size_t first_failure = kNone;
    reader(tasks, first_failure);
    if (tasks != count)
      throw std::runtime_error("the ranks are not at the same point: they read other files");
    failed = std::min(failed, first_failure);
    if (rank == ranks->rank) continue;
    for (std::size_t t = rank; t < count; t += size) reader(results[t]);
  }
  if (failed != kNone) static_cast<void>(work(failed));
  return results;
}

}  // namespace slicewise::sim

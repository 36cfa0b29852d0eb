#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "slicewise/sim/ranks.hpp"
#include "slicewise/sim/run.hpp"

#include "replications.hpp"

namespace slicewise::sim {

bool is_interrupted(const RunOptions& options) {
  return options.interrupted != nullptr && options.interrupted->load();
}

void run_in_parallel(std::size_t count, const RunOptions& options,
                     const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex progress_lock;
  int done = 0;
  // Of the first task that failed: threads only take others up to it.
  std::mutex failure_lock;
  std::exception_ptr failure;
  std::atomic<std::size_t> end{count};
  const auto try_work = [&](std::size_t n) {
    try {
      work(n);
    } catch (...) {
      const std::lock_guard guard(failure_lock);
      if (n < end) {
        failure = std::current_exception();
        end = n;
      }
    }
  };
  const auto take_one = [&] {
    const std::size_t n = next++;
    if (n >= end || is_interrupted(options)) return false;
    try_work(n);
    if (is_interrupted(options)) return false;
    if (!options.progress) return true;
    const std::lock_guard guard(progress_lock);
    options.progress(++done, static_cast<int>(count));
    return true;
  };
  // A helper leaves when the threads are needed where more than one call shares them, and is hired
  // again once they are free.
  std::atomic<int> own{1};
  std::atomic<int>& busy = options.busy == nullptr ? own : *options.busy;
  const auto help = [&] {
    while (busy <= options.threads && take_one()) continue;
    --busy;
  };
  {
    std::vector<std::jthread> helpers;
    const auto hire = [&] {
      const std::size_t last = end;
      std::size_t left = last - std::min<std::size_t>(next, last);
      for (int n = busy; n < options.threads && left > 1;) {
        if (!busy.compare_exchange_weak(n, n + 1)) continue;
        helpers.emplace_back(help);
        --left;
      }
    };
    for (bool more = true; more;) {
      hire();
      more = take_one();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

bool looks_ahead(const RunOptions& options) {
  return current_ranks() == nullptr && options.journal == nullptr;
}

std::size_t side_by_side(const RunOptions& options) {
  if (!looks_ahead(options)) return 1;
  const int busy = options.busy == nullptr ? 1 : options.busy->load();
  return static_cast<std::size_t>(std::max(1, options.threads - busy + 1));
}

}  // namespace slicewise::sim

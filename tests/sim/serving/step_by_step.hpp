#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "slicewise/sim/serving/continuous_batching.hpp"

#include "token_cache.hpp"

namespace slicewise::sim {

// Continuous batching one step at a time, on a GPU of its own: what ContinuousBatching must equal.
class StepByStep {
 public:
  struct Outcome {
    std::uint32_t ticket = 0;
    TimePoint started;
    TimePoint first_token;
    TimePoint done;
    friend bool operator==(const Outcome&, const Outcome&) = default;
  };

  StepByStep(const models::LlmStep& law, const BatchingLimits& limits,
             const scenarios::PromptBlocks* blocks = nullptr)
      : law_(law), limits_(limits) {
    if (blocks != nullptr) prefixes_.emplace(*blocks);
  }

  // REQUIRES: arrivals in order of time.
  std::vector<Outcome> run(const std::vector<LlmRequest>& arrivals) {
    std::size_t next = 0;
    while (next < arrivals.size() || !waiting_.empty() || !running_.empty()) {
      if (waiting_.empty() && running_.empty()) now_ = std::max(now_, arrivals[next].arrived);
      for (; next < arrivals.size() && arrivals[next].arrived <= now_; ++next) {
        waiting_.push_back({arrivals[next], kNever, kNever, 0, 0, 0, false});
      }
      step();
    }
    return outcomes_;
  }

  std::int64_t preemptions = 0;
  std::int64_t steps = 0;
  std::int64_t found = 0;
  std::int64_t loads = 0;        // of adapters
  std::int64_t kept_tokens = 0;  // found by those that were thrown out

 private:
  struct Sequence {
    LlmRequest request;
    TimePoint started;
    TimePoint first_token;
    std::int64_t answered;
    std::int64_t cached;    // keys and values that are there
    std::int64_t reserved;  // places of the pool
    bool prefilled;
    std::int64_t chunk = 0;
    std::int64_t had = 0;  // of one thrown out: what was there
  };

  std::int64_t reserved() const {
    std::int64_t sum = prefixes_ ? prefixes_->used() : 0;
    for (const Sequence& sequence : running_) sum += sequence.reserved - shared(sequence);
    return sum;
  }
  std::int64_t shared(const Sequence& sequence) const {
    return prefixes_ ? prefixes_->tokens(sequence.request.prompt) : 0;
  }
  std::int64_t places(const Sequence& sequence) const {
    return prompt(sequence) - (prefixes_ ? prefixes_->used(sequence.request.prompt) : 0);
  }
  static std::int64_t prompt(const Sequence& sequence) {
    return sequence.request.input_tokens + sequence.answered;
  }

  void step() {
    ++steps;
    const std::int64_t preempted_before = preemptions;
    std::int64_t budget = limits_.max_batched_tokens;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (!running_[i].prefilled) continue;
      std::int64_t decoders = 0;
      for (const Sequence& other : running_) decoders += other.prefilled ? 1 : 0;
      if (reserved() + decoders > limits_.cache_tokens) {
        throw_out();
        i = static_cast<std::size_t>(-1);
      }
    }
    for (Sequence& sequence : running_) {
      sequence.chunk = 0;
      if (!sequence.prefilled) continue;
      sequence.chunk = 1;
      ++sequence.reserved;
      --budget;
    }
    for (Sequence& sequence : running_) {
      if (!sequence.prefilled) take_chunk(sequence, budget);
    }
    shrink();
    const auto most =
        static_cast<std::size_t>(std::min(limits_.max_sequences, limits_.max_batched_tokens));
    while (preemptions == preempted_before && budget > 0 && running_.size() < most) {
      const auto first = std::find_if(waiting_.begin(), waiting_.end(),
                                      [&](const Sequence& s) { return takes(s.request.adapter); });
      if (first == waiting_.end() || reserved() + places(*first) > limits_.cache_tokens) break;
      Sequence next = *first;
      waiting_.erase(first);
      load(next.request.adapter);
      const bool is_new = next.started == kNever;
      next.started = std::min(next.started, now_);
      next.reserved = prompt(next);
      next.cached = reuse(next);
      if (is_new) {
        found += next.cached;
        next.cached = std::max<std::int64_t>(
            next.cached, std::min<std::int64_t>(next.request.brought, prompt(next) - 1));
      }
      take_chunk(next, budget);
      running_.push_back(next);
      shrink();
    }
    execute();
  }

  // Adapters of those that run.
  std::set<std::uint32_t> adapters() const {
    std::set<std::uint32_t> all;
    for (const Sequence& sequence : running_) all.insert(sequence.request.adapter);
    all.erase(0);
    return all;
  }
  bool takes(std::uint32_t adapter) const {
    const std::set<std::uint32_t> all = adapters();
    return adapter == 0 || all.contains(adapter) ||
           all.size() < static_cast<std::size_t>(limits_.adapters.places);
  }
  void load(std::uint32_t adapter) {
    if (adapter == 0 || std::find(there_.begin(), there_.end(), adapter) != there_.end()) return;
    if (there_.size() == static_cast<std::size_t>(limits_.adapters.places)) {
      const std::set<std::uint32_t> used = adapters();
      there_.erase(std::find_if(there_.begin(), there_.end(),
                                [&](std::uint32_t other) { return !used.contains(other); }));
    }
    there_.push_back(adapter);
    ++loads_;
  }
  double adapter_seconds() {
    const auto used = static_cast<double>(adapters().size());
    const double loads_s = static_cast<double>(loads_) * limits_.adapters.load_s;
    loads += loads_;
    loads_ = 0;
    return used == 0 ? loads_s : loads_s + limits_.adapters.step_s + used * limits_.adapters.read_s;
  }
  // The most recent last.
  void touch(std::uint32_t adapter) {
    if (std::erase(there_, adapter) > 0) there_.push_back(adapter);
  }

  std::int64_t reuse(const Sequence& next) {
    const std::int64_t most = prompt(next) - 1;
    if (!prefixes_) {
      return std::min(
          std::max(static_cast<std::int64_t>(limits_.prefix_reuse * next.request.input_tokens),
                   kept(next)),
          most);
    }
    const std::int64_t there = std::min(prefixes_->found(next.request.prompt), most);
    prefixes_->use(next.request.prompt);
    return there / limits_.block_size * limits_.block_size;
  }

  // Without blocks: each token that has left by itself, in the order in which they go.
  void leave(const Sequence& sequence) {
    if (prefixes_) return prefixes_->leave(sequence.request.prompt, sequence.cached);
    for (auto& [ticket, place] : left_) {
      if (ticket == sequence.request.ticket) place = -1;  // of a former time
    }
    for (std::int64_t place = sequence.reserved; place-- > 0;) {
      left_.emplace_back(sequence.request.ticket, place);
    }
  }
  void shrink() {
    const std::int64_t places = limits_.cache_tokens - reserved();
    if (prefixes_) prefixes_->shrink(places);
    while (static_cast<std::int64_t>(left_.size()) > places) left_.pop_front();
  }
  std::int64_t kept(const Sequence& next) {
    if (!limits_.prefix_caching || next.had == 0) return 0;
    std::int64_t there = 0;
    const auto token = [&] { return std::pair(next.request.ticket, there); };
    while (there < next.had && std::ranges::find(left_, token()) != left_.end()) {
      ++there;
    }
    there -= there % limits_.block_size;
    kept_tokens += there;
    std::erase_if(left_, [&](const auto& one) {
      return one.first == next.request.ticket && 0 <= one.second && one.second < there;
    });
    return there;
  }

  void throw_out() {
    Sequence last = running_.back();
    running_.pop_back();
    leave(last);
    last.reserved = 0;
    last.had = last.cached;
    last.cached = 0;
    last.chunk = 0;
    last.prefilled = false;
    waiting_.push_front(last);
    ++preemptions;
  }

  static void take_chunk(Sequence& sequence, std::int64_t& budget) {
    sequence.chunk = std::min(prompt(sequence) - sequence.cached, budget);
    budget -= sequence.chunk;
  }

  void execute() {
    constexpr double kTicksPerSecond = 4096e9;
    std::int64_t tokens = 0;
    std::int64_t cached = 0;
    double pairs = 0;
    for (const Sequence& sequence : running_) {
      tokens += sequence.chunk;
      const bool prefills = !sequence.prefilled && sequence.chunk > 0;
      if (prefills) pairs += models::pairs_beyond(sequence.cached, sequence.chunk);
      if (sequence.chunk > 0) cached += sequence.cached;
    }
    const double seconds = models::step_seconds(law_, static_cast<double>(tokens), 0) +
                           (adapter_seconds() + law_.pair_s * pairs);
    for (const Sequence& sequence : running_) touch(sequence.request.adapter);
    const std::int64_t before = ticks_ / 4096;
    ticks_ += std::llround(seconds * kTicksPerSecond) +
              cached * std::llround(law_.kv_read_s * kTicksPerSecond);
    now_ = now_ + Duration{ticks_ / 4096 - before};
    std::vector<Sequence> stay;
    for (Sequence& sequence : running_) {
      const bool ends_prompt =
          !sequence.prefilled && sequence.cached + sequence.chunk == prompt(sequence);
      sequence.cached += sequence.chunk;
      if (sequence.prefilled || ends_prompt) ++sequence.answered;
      if (ends_prompt) {
        sequence.prefilled = true;
        sequence.first_token = std::min(sequence.first_token, now_);
      }
      if (sequence.prefilled && sequence.answered == sequence.request.output_tokens) {
        outcomes_.push_back(
            {sequence.request.ticket, sequence.started, sequence.first_token, now_});
        leave(sequence);
      } else {
        stay.push_back(sequence);
      }
    }
    running_ = stay;
  }

  models::LlmStep law_;
  BatchingLimits limits_;
  TimePoint now_;
  std::int64_t ticks_ = 0;
  std::deque<Sequence> waiting_;
  std::vector<Sequence> running_;
  std::vector<Outcome> outcomes_;
  std::optional<TokenCache> prefixes_;
  std::deque<std::pair<std::uint32_t, std::int64_t>> left_;  // ticket and place
  std::vector<std::uint32_t> there_;                         // adapters in a place
  std::int64_t loads_ = 0;
};

}  // namespace slicewise::sim

#include "slicewise/sim/serving/continuous_batching.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace slicewise::sim {
namespace {

BatchingLimits within_budget(BatchingLimits limits) {
  limits.max_sequences = std::min(limits.max_sequences, limits.max_batched_tokens);
  return limits;
}

}  // namespace

ContinuousBatching::ContinuousBatching(const models::LlmStep& law, const BatchingLimits& limits,
                                       std::shared_ptr<const scenarios::PromptBlocks> blocks)
    : limits_(within_budget(limits)),
      pair_s_(law.pair_s),
      clock_(law),
      pool_(limits.cache_tokens, limits.prefix_reuse, limits.block_size, std::move(blocks)) {
  assert(limits_.max_sequences > 0 && limits_.cache_tokens > 0);
  running_.reserve(static_cast<std::size_t>(limits_.max_sequences));
  preempted_.reserve(static_cast<std::size_t>(limits_.max_sequences));
  left_.reserve(static_cast<std::size_t>(limits_.max_sequences));
  if (limits.adapters.places > 0) slots_.emplace(limits.adapters);
}

// The last token of an answer is never cached.
bool ContinuousBatching::fits(const LlmRequest& request) const {
  return std::int64_t{request.input_tokens} + request.output_tokens - 1 <= limits_.cache_tokens;
}

void ContinuousBatching::push(const LlmRequest& request) {
  assert(fits(request) && request.input_tokens > 0 && request.output_tokens > 0);
  waiting_.push(request);
  if (slots_) slots_->wait(request.adapter);
}

Duration ContinuousBatching::begin(TimePoint now) {
  assert(!idle() && !working());
  const bool threw_out = make_room();
  const std::int64_t decodes = decoding();
  pool_.grow(decodes);
  pool_.make_room();
  const std::int64_t prefilled = prefill(now, limits_.max_batched_tokens - decodes, !threw_out);
  pool_.grow(-decodes);
  plan(decodes, prefilled);
  return piece_.work;
}

std::int64_t ContinuousBatching::decoding() const {
  return std::ranges::count_if(running_,
                               [](const Sequence& sequence) { return sequence.decodes(); });
}

// A place for the next token of each sequence that decodes.
bool ContinuousBatching::make_room() {
  bool threw_out = false;
  for (; pool_.free() < decoding(); threw_out = true) preempt_last();
  return threw_out;
}

void ContinuousBatching::preempt_last() {
  Sequence& last = running_.back();
  pool_.leave(last.prompt, last.cached, last.shared, last.request.prompt);
  last.prompt = last.request.input_tokens + last.answered;
  last.chunk = 0;
  last.left_at = pool_.left();
  if (slots_) slots_->leave(last.request.adapter);
  preempted_.push_back(last);
  running_.pop_back();
  ++counts_.preemptions;
}

// Those that were thrown out go first. Who waits for an adapter's place is passed.
std::optional<ContinuousBatching::Next> ContinuousBatching::next() const {
  if (running_.size() >= static_cast<std::size_t>(limits_.max_sequences)) return std::nullopt;
  const auto takes = [this](const LlmRequest& request) {
    return !slots_ || slots_->takes(request.adapter);
  };
  Next which{false, preempted_.size()};
  while (which.place > 0 && !takes(preempted_[which.place - 1].request)) --which.place;
  which.is_new = which.place == 0;
  if (which.is_new) {
    if (waiting_.empty() || (slots_ && !slots_->takes_one_that_waits())) return std::nullopt;
    while (!takes(waiting_[which.place])) ++which.place;
  } else {
    --which.place;
  }
  const LlmRequest& request =
      which.is_new ? waiting_[which.place] : preempted_[which.place].request;
  const std::int64_t tokens = which.is_new ? request.input_tokens : preempted_[which.place].prompt;
  if (pool_.places_of(tokens, request.prompt) > pool_.free()) return std::nullopt;
  return which;
}

// Hands out the budget to prompts; returns how much of it was taken.
std::int64_t ContinuousBatching::prefill(TimePoint now, std::int64_t budget, bool admits) {
  std::int64_t left = budget - continue_prompt(budget);
  while (admits && left > 0) {
    const std::optional<Next> which = next();
    if (!which) break;
    admit(*which, now);
    left -= continue_prompt(left);
  }
  return budget - left;
}

// Only the prompt that came last can be unfinished.
std::int64_t ContinuousBatching::continue_prompt(std::int64_t budget) {
  if (running_.empty() || running_.back().decodes()) return 0;
  Sequence& last = running_.back();
  last.chunk = static_cast<std::int32_t>(std::min<std::int64_t>(last.prompt - last.cached, budget));
  return last.chunk;
}

void ContinuousBatching::admit(const Next& which, TimePoint now) {
  Sequence& next = running_.emplace_back();
  std::int32_t kept = 0;
  if (which.is_new) {
    next.request = waiting_[which.place];
    next.prompt = next.request.input_tokens;
    next.started = now;
    waiting_.erase(which.place);
  } else {
    const auto thrown_out = preempted_.begin() + static_cast<std::ptrdiff_t>(which.place);
    next = *thrown_out;
    preempted_.erase(thrown_out);
    if (limits_.prefix_caching) kept = pool_.kept(next.left_at, next.cached);
    // Who left before it has as much less behind it.
    for (Sequence& before : std::span(preempted_).first(which.place)) before.left_at += kept;
  }
  const LlmRequest& request = next.request;
  if (slots_) {
    if (which.is_new) slots_->stop_waiting(request.adapter);
    slots_->enter(request.adapter);
  }
  const KeyValuePool::Taken taken =
      pool_.take(next.prompt, request.input_tokens, request.prompt, kept);
  next.cached = taken.found;
  next.shared = taken.shared;
  if (!which.is_new) return;
  counts_.prompt_tokens += next.prompt;
  counts_.found_tokens += next.cached;
  next.cached = std::max(next.cached, std::min(request.brought, next.prompt - 1));
}

void ContinuousBatching::plan(std::int64_t decodes, std::int64_t prefilled) {
  std::int64_t cached = 0;
  std::int64_t sequences = 0;
  double pairs = 0;
  std::int64_t steps = prefilled > 0 ? 1 : std::min(StepClock::kMostSteps, pool_.free() / decodes);
  for (const Sequence& sequence : running_) {
    if (!sequence.decodes() && sequence.chunk == 0) continue;
    ++sequences;
    cached += sequence.cached;
    if (sequence.chunk > 0) pairs += models::pairs_beyond(sequence.cached, sequence.chunk);
    if (!sequence.decodes()) continue;
    steps = std::min<std::int64_t>(steps, sequence.request.output_tokens - sequence.answered);
  }
  const std::int64_t tokens = decodes + prefilled;
  // An adapter comes with a prompt, whose step is a piece of its own.
  const AdapterSlots::StepTime adapters = slots_ ? slots_->next_step() : AdapterSlots::StepTime{};
  if (slots_) counts_.adapter_loads = slots_->loads();
  const double attention_s = pair_s_ * pairs;
  const double beside_s = adapters.load_s + adapters.read_s + attention_s;
  steps = clock_.plan(tokens, cached, decodes, steps, beside_s);
  const double grown = static_cast<double>(decodes) * static_cast<double>(steps - 1) / 2;
  piece_ = {
      steps,    sequences,  tokens, clock_.work_of(steps), static_cast<double>(cached) + grown,
      adapters, attention_s};
}

Duration ContinuousBatching::cut(Duration done) {
  assert(working() && Duration{} <= done && done < piece_.work);
  if (piece_.tokens >= limits_.max_batched_tokens || !next()) return piece_.work;
  std::int64_t least = 1;  // the end of the step under way is among least..most
  std::int64_t most = piece_.steps;
  while (least < most) {
    const std::int64_t middle = (least + most) / 2;
    if (clock_.work_of(middle) > done) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  piece_.steps = least;
  piece_.work = clock_.work_of(least);
  return piece_.work;
}

std::span<const LlmAnswer> ContinuousBatching::end(TimePoint now) {
  assert(working());
  left_.clear();
  const std::int64_t spent = clock_.spend(piece_.steps);
  const double per_token = static_cast<double>(spent) / static_cast<double>(piece_.tokens);
  for (Sequence& sequence : running_) progress(sequence, now, per_token);
  pool_.note_peak();
  std::erase_if(running_, [this](const Sequence& sequence) {
    if (sequence.answered < sequence.request.output_tokens) return false;
    pool_.leave(sequence.prompt, sequence.cached, sequence.shared, sequence.request.prompt);
    if (slots_) slots_->leave(sequence.request.adapter);
    left_.push_back({sequence.request, sequence.started, sequence.first_token,
                     Duration{std::llround(sequence.work_ticks /
                                           static_cast<double>(StepClock::kTicksPerNs))}});
    return true;
  });
  piece_ = {};
  return left_;
}

// `ticks_per_token`: of all steps of the piece, for one token in each.
void ContinuousBatching::progress(Sequence& sequence, TimePoint now, double ticks_per_token) {
  if (sequence.decodes()) {
    const auto steps = static_cast<std::int32_t>(piece_.steps);
    sequence.answered += steps;
    sequence.cached += steps;
    pool_.grow(steps);
    sequence.work_ticks += ticks_per_token;
    return;
  }
  sequence.cached += sequence.chunk;
  sequence.work_ticks += ticks_per_token * sequence.chunk;
  sequence.chunk = 0;
  if (!sequence.decodes()) return;
  ++sequence.answered;
  if (sequence.first_token == kNever) sequence.first_token = now;
}

}  // namespace slicewise::sim

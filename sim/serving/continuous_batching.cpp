#include "slicewise/sim/serving/continuous_batching.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace slicewise::sim {
namespace {

constexpr std::int64_t kTicksPerNs = 4096;

// Keep the length of a piece inside 64 bits, whatever the law: no step is longer than six days, and
// those of more than a minute are pieces of their own.
constexpr std::int64_t kMostSteps = 4096;
constexpr std::int64_t kMostTicks = std::int64_t{1} << 61;
constexpr std::int64_t kLongTicks = std::int64_t{1} << 48;
constexpr std::int64_t kFastGrowth = std::int64_t{1} << 37;

std::int64_t to_ticks(double seconds) {
  constexpr double kNsPerSecond = 1e9;
  const double ticks = seconds * kNsPerSecond * static_cast<double>(kTicksPerNs);
  return std::llround(std::min(ticks, static_cast<double>(kMostTicks)));
}

std::int64_t times(std::int64_t count, std::int64_t ticks) {
  return static_cast<std::int64_t>(std::min<Int128>(Int128{count} * ticks, kMostTicks));
}

BatchingLimits within_budget(BatchingLimits limits) {
  limits.max_sequences = std::min(limits.max_sequences, limits.max_batched_tokens);
  return limits;
}

}  // namespace

ContinuousBatching::ContinuousBatching(const models::LlmStep& law, const BatchingLimits& limits,
                                       std::shared_ptr<const scenarios::PromptBlocks> blocks)
    : law_(law), limits_(within_budget(limits)), read_ticks_(to_ticks(law.kv_read_s)) {
  if (blocks != nullptr) prefixes_.emplace(std::move(blocks));
  assert(limits_.max_sequences > 0 && limits_.cache_tokens > 0);
  running_.reserve(static_cast<std::size_t>(limits_.max_sequences));
  preempted_.reserve(static_cast<std::size_t>(limits_.max_sequences));
  left_.reserve(static_cast<std::size_t>(limits_.max_sequences));
}

// The last token of an answer is never cached.
bool ContinuousBatching::fits(const LlmRequest& request) const {
  return std::int64_t{request.input_tokens} + request.output_tokens - 1 <= limits_.cache_tokens;
}

void ContinuousBatching::push(const LlmRequest& request) {
  assert(fits(request) && request.input_tokens > 0 && request.output_tokens > 0);
  waiting_.push_back(request);
}

Duration ContinuousBatching::begin(TimePoint now) {
  assert(!idle() && !working());
  const bool threw_out = make_room();
  const std::int64_t decodes = decoding();
  held_ += decodes;
  if (prefixes_) prefixes_->shrink(free_places());
  const std::int64_t prefilled = prefill(now, limits_.max_batched_tokens - decodes, !threw_out);
  held_ -= decodes;
  plan(decodes, prefilled);
  return piece_.work;
}

std::int64_t ContinuousBatching::decoding() const {
  return std::count_if(running_.begin(), running_.end(),
                       [](const Sequence& sequence) { return sequence.decodes(); });
}

// A place for the next token of each sequence that decodes.
bool ContinuousBatching::make_room() {
  bool threw_out = false;
  for (; free_places() < decoding(); threw_out = true) preempt_last();
  return threw_out;
}

void ContinuousBatching::preempt_last() {
  Sequence& last = running_.back();
  let_go(last);
  last.prompt = last.request.input_tokens + last.answered;
  last.cached = 0;
  last.chunk = 0;
  preempted_.push_back(last);
  running_.pop_back();
  ++preemptions_;
}

// That the next sequence needs, beside those which others use as well.
std::int64_t ContinuousBatching::next_places() const {
  const bool is_new = preempted_.empty();
  const LlmRequest& next = is_new ? waiting_.front() : preempted_.back().request;
  const std::int64_t places = is_new ? next.input_tokens : preempted_.back().prompt;
  return prefixes_ ? places - prefixes_->in_use(next.prompt) : places;
}

bool ContinuousBatching::room_for_next() const {
  return waiting() > 0 && running_.size() < static_cast<std::size_t>(limits_.max_sequences) &&
         next_places() <= free_places();
}

// Hands out the budget to prompts; returns how much of it was taken.
std::int64_t ContinuousBatching::prefill(TimePoint now, std::int64_t budget, bool admits) {
  std::int64_t left = budget - continue_prompt(budget);
  while (admits && left > 0 && room_for_next()) {
    admit(now);
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

void ContinuousBatching::admit(TimePoint now) {
  Sequence& next = running_.emplace_back();
  if (!preempted_.empty()) {
    next = preempted_.back();
    preempted_.pop_back();
    return hold(next);
  }
  next.request = waiting_.front();
  next.prompt = next.request.input_tokens;
  next.started = now;
  waiting_.pop_front();
  hold(next);
  prompt_tokens_ += next.prompt;
  found_tokens_ += next.cached;
  next.cached = std::max(next.cached, std::min(next.request.brought, next.prompt - 1));
}

// Takes the places of the prompt, and finds what is there of it.
void ContinuousBatching::hold(Sequence& next) {
  held_ += next.prompt;
  if (!prefixes_) {
    const auto reused = static_cast<std::int32_t>(limits_.prefix_reuse *
                                                  static_cast<double>(next.request.input_tokens));
    next.cached = std::min(reused, next.prompt - 1);
    return;
  }
  const PrefixCache::Block last = next.request.prompt;
  // The last token is computed in any case: the answer follows from it.
  const std::int64_t found = std::min<std::int64_t>(prefixes_->found(last), next.prompt - 1);
  next.cached = static_cast<std::int32_t>(found - found % limits_.block_size);
  next.shared = static_cast<std::int32_t>(prefixes_->tokens(last));
  held_ += prefixes_->use(last) - next.shared;
  prefixes_->shrink(free_places());
}

// Its places are free for others; with a prefix cache, what is in them stays until they need them.
void ContinuousBatching::let_go(const Sequence& sequence) {
  held_ -= std::max(sequence.prompt, sequence.cached);
  if (!prefixes_) return;
  held_ += sequence.shared - prefixes_->leave(sequence.request.prompt, sequence.cached);
}

void ContinuousBatching::plan(std::int64_t decodes, std::int64_t prefilled) {
  std::int64_t cached = 0;
  std::int64_t sequences = 0;
  std::int64_t steps = prefilled > 0 ? 1 : std::min(kMostSteps, free_places() / decodes);
  for (const Sequence& sequence : running_) {
    if (!sequence.decodes() && sequence.chunk == 0) continue;
    ++sequences;
    cached += sequence.cached;
    if (!sequence.decodes()) continue;
    steps = std::min<std::int64_t>(steps, sequence.request.output_tokens - sequence.answered);
  }
  const std::int64_t tokens = decodes + prefilled;
  const double tokens_s = models::step_seconds(law_, static_cast<double>(tokens), 0);
  first_ticks_ = std::max(kTicksPerNs, to_ticks(tokens_s)) + times(cached, read_ticks_);
  growth_ticks_ = times(decodes, read_ticks_);
  if (first_ticks_ > kLongTicks || growth_ticks_ > kFastGrowth) steps = 1;
  piece_ = {steps, sequences, tokens, work_of(steps)};
}

std::int64_t ContinuousBatching::ticks(std::int64_t steps) const {
  return steps * first_ticks_ + growth_ticks_ * (steps * (steps - 1) / 2);
}

Duration ContinuousBatching::work_of(std::int64_t steps) const {
  return {(carried_ticks_ + ticks(steps)) / kTicksPerNs};
}

Duration ContinuousBatching::cut(Duration done) {
  assert(working() && Duration{} <= done && done < piece_.work);
  if (piece_.tokens >= limits_.max_batched_tokens || !room_for_next()) return piece_.work;
  std::int64_t least = 1;  // the end of the step under way is among least..most
  std::int64_t most = piece_.steps;
  while (least < most) {
    const std::int64_t middle = (least + most) / 2;
    if (work_of(middle) > done) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  piece_.steps = least;
  piece_.work = work_of(least);
  return piece_.work;
}

std::span<const LlmAnswer> ContinuousBatching::end(TimePoint now) {
  assert(working());
  left_.clear();
  const std::int64_t spent = ticks(piece_.steps);
  const double per_token = static_cast<double>(spent) / static_cast<double>(piece_.tokens);
  for (Sequence& sequence : running_) progress(sequence, now, per_token);
  peak_ = std::max(peak_, held_);
  std::erase_if(running_, [this](const Sequence& sequence) {
    if (sequence.answered < sequence.request.output_tokens) return false;
    let_go(sequence);
    left_.push_back(
        {sequence.request, sequence.started, sequence.first_token,
         Duration{std::llround(sequence.work_ticks / static_cast<double>(kTicksPerNs))}});
    return true;
  });
  carried_ticks_ = (carried_ticks_ + spent) % kTicksPerNs;
  piece_ = {};
  return left_;
}

// `ticks_per_token`: of all steps of the piece, for one token in each.
void ContinuousBatching::progress(Sequence& sequence, TimePoint now, double ticks_per_token) {
  if (sequence.decodes()) {
    const auto steps = static_cast<std::int32_t>(piece_.steps);
    sequence.answered += steps;
    sequence.cached += steps;
    held_ += steps;
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

void ContinuousBatching::forget() {
  running_.clear();
  preempted_.clear();
  piece_ = {};
  held_ = 0;
  if (prefixes_) prefixes_->clear();
}

}  // namespace slicewise::sim

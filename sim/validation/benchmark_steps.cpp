#include "benchmark_steps.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "slicewise/sim/serving/continuous_batching.hpp"
#include "slicewise/units.hpp"

namespace slicewise::sim::profile_fit {
namespace {

// Steps alike, that follow on each other.
struct PieceOfSteps {
  TimePoint end;
  double steps = 0;
  double tokens = 0;       // of each
  double cached = 0;       // of all of them
  double first_token = 0;  // requests that wait for their first token, less those of the one before
  double per_token = 0;    // the same of later tokens, each request by its share of a token
};

std::vector<PieceOfSteps> steps_of_benchmark(const models::ServedRequests& asked, int most_tokens) {
  constexpr std::int64_t kRoomForAll = std::int64_t{1} << 40;
  // The clock counts: a nanosecond for each step, and one for each token that it reads.
  const models::LlmStep counting{.weights_s = 1e-9, .kv_read_s = 1e-9};
  const int at_once = std::min(asked.at_once, static_cast<int>(asked.inputs.size()));
  ContinuousBatching server(counting, {.max_sequences = at_once,
                                       .max_batched_tokens = std::max(most_tokens, at_once),
                                       .cache_tokens = kRoomForAll});
  TimePoint now;
  std::size_t sent = 0;
  const auto send = [&](std::size_t count) {
    for (; count > 0 && sent < asked.inputs.size(); --count, ++sent) {
      server.push({.arrived = now,
                   .input_tokens = asked.inputs[sent],
                   .output_tokens = asked.outputs[sent]});
    }
  };
  std::vector<PieceOfSteps> pieces(1);
  // The first that begins at `time` or later.
  const auto from = [&pieces](TimePoint time) -> PieceOfSteps& {
    const auto ended = std::ranges::lower_bound(pieces, time, {}, &PieceOfSteps::end);
    return *(ended->end == time ? ended + 1 : ended);
  };
  send(static_cast<std::size_t>(at_once));
  while (!server.idle()) {
    const Duration work = server.begin(now);
    now = now + work;
    PieceOfSteps& piece = pieces.back();
    piece.end = now;
    piece.steps = static_cast<double>(server.piece().steps);
    piece.tokens = static_cast<double>(server.piece().tokens);
    piece.cached = static_cast<double>(work.ns) - piece.steps;
    pieces.push_back({.end = kNever});  // the next
    const auto answered = server.end(now);
    for (const LlmAnswer& answer : answered) {
      PieceOfSteps& later = from(answer.first_token);
      from(answer.request.arrived).first_token += 1;
      later.first_token -= 1;
      const int tokens = answer.request.output_tokens - 1;
      if (tokens == 0) continue;
      later.per_token += 1.0 / tokens;
      pieces.back().per_token -= 1.0 / tokens;
    }
    send(answered.size());
  }
  pieces.pop_back();
  return pieces;
}

}  // namespace

BenchmarkSteps::BenchmarkSteps(const models::ServedRequests& asked, int most_tokens) {
  const auto requests = static_cast<double>(asked.inputs.size());
  const auto with_later = static_cast<double>(
      std::ranges::count_if(asked.outputs, [](std::int32_t tokens) { return tokens > 1; }));
  std::map<double, Waits> by_tokens;
  Waits waiting;  // requests, during a piece
  for (const PieceOfSteps& piece : steps_of_benchmark(asked, most_tokens)) {
    waiting.first_token += piece.first_token;
    waiting.per_token += piece.per_token;
    const Waits means{waiting.first_token / requests,
                      waiting.per_token / std::max(1.0, with_later)};
    Waits& alike = by_tokens[piece.tokens];
    alike.first_token += piece.steps * means.first_token;
    alike.per_token += piece.steps * means.per_token;
    cached_.first_token += piece.cached * means.first_token;
    cached_.per_token += piece.cached * means.per_token;
  }
  for (const auto& [tokens, count] : by_tokens) steps_.push_back({tokens, count});
}

Seen BenchmarkSteps::under(const models::LlmStep& law) const {
  Seen seen{cached_.first_token * law.kv_read_s, cached_.per_token * law.kv_read_s};
  for (const Steps& alike : steps_) {
    const double seconds = models::step_seconds(law, alike.tokens, 0);
    seen.first_token += alike.count.first_token * seconds;
    seen.per_token += alike.count.per_token * seconds;
  }
  return seen;
}

}  // namespace slicewise::sim::profile_fit

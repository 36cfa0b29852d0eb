#pragma once

#include <vector>

#include "slicewise/models/llm_step.hpp"
#include "slicewise/models/measurements.hpp"

namespace slicewise::sim::profile_fit {

// Seconds, means over the requests of a benchmark.
struct Seen {
  double first_token = 0;
  double per_token = 0;  // after the first
};

// What the requests of a benchmark wait for: as many are let in at once, a new one whenever one is
// answered, by the scheduler that scenarios run. Nobody comes by the clock, so which steps there
// are hangs on lengths alone: the scheduler runs once, and any law then says how long they take.
class BenchmarkSteps {
 public:
  // `most_tokens`: of a step, max_num_batched_tokens.
  BenchmarkSteps(const models::ServedRequests& asked, int most_tokens);

  Seen under(const models::LlmStep& law) const;

 private:
  // Means over the requests.
  struct Waits {
    double first_token = 0;
    double per_token = 0;
  };
  struct Steps {
    double tokens = 0;
    Waits count;
  };

  std::vector<Steps> steps_;  // by their tokens
  Waits cached_;              // tokens of the cache that they read
};

}  // namespace slicewise::sim::profile_fit

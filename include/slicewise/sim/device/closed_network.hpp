#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "slicewise/units.hpp"

namespace slicewise::sim {

// One batch process in a closed loop: host phase Z, then GPU phase D, for ever.
struct LoopingClient {
  double host_seconds = 0;  // Z >= 0
  double gpu_seconds = 0;   // D > 0
};

struct ClosedSolution {
  std::vector<double> cycles_per_second;  // by client
  double busy_share = 0;                  // of GPU time, kernels run
  double switch_share = 0;                // of GPU time, contexts are switched
};

// The steady state of clients that share one GPU by round robin with short turns: a machine
// repairman with processor sharing whose total rate is 1 with one active client and 1/(1 + o) with
// two or more, o = c/q. Product form (BCMP), exact for any distribution of Z and D with those
// means: the weight of a set S of clients at the GPU is |S|! / (phi(1)...phi(|S|)) prod D_i
// prod_{j not in S} Z_j. Elementary symmetric polynomials give it in O(n^2) per client, O(n^3) in
// all. Deterministic; no libm. Keeps its working memory: allocates only when n grows.
class ClosedNetworkSolver {
 public:
  // REQUIRES: overhead >= 0; at least one client. The answer is valid until the next call.
  const ClosedSolution& solve(std::span<const LoopingClient> clients, double overhead);

 private:
  double factor(const LoopingClient& client) const {
    return client.host_seconds + scale_ * client.gpu_seconds;
  }
  void set_weights(std::size_t clients, double overhead);
  void multiply_out(std::span<const LoopingClient> clients, std::size_t left_out);
  double weight_from(std::size_t at_gpu) const;

  double scale_ = 1;
  std::vector<double> weights_;       // by number of clients at the GPU
  std::vector<double> coefficients_;  // of the product multiplied out last
  ClosedSolution solution_;
};

// The same, once.
inline ClosedSolution solve_closed_network(std::span<const LoopingClient> clients,
                                           double overhead) {
  return ClosedNetworkSolver().solve(clients, overhead);
}

}  // namespace slicewise::sim

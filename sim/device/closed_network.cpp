#include "slicewise/sim/device/closed_network.hpp"

#include <cassert>

namespace slicewise::sim {

// Everything below is in units that keep numbers near 1: each factor Z_j + D_j x is divided by
// Z_j + s D_j and x = s, s = n (1 + o), so that coefficients sum to 1 and weights stay <= 1.
void ClosedNetworkSolver::set_weights(std::size_t clients, double overhead) {
  scale_ = static_cast<double>(clients) * (1 + overhead);
  // k! / (phi(1) ... phi(k)) / s^k
  weights_.assign(clients + 1, 1.0);
  for (std::size_t at_gpu = 1; at_gpu <= clients; ++at_gpu) {
    const double slowdown = at_gpu == 1 ? 1 : 1 + overhead;
    weights_[at_gpu] = weights_[at_gpu - 1] * static_cast<double>(at_gpu) * slowdown / scale_;
  }
}

// Coefficients of x^k in the product over all clients but `left_out` (none when past the end).
// Multiplied out anew: dividing a factor out of the full product would subtract.
void ClosedNetworkSolver::multiply_out(std::span<const LoopingClient> clients,
                                       std::size_t left_out) {
  coefficients_.assign(clients.size() + 1, 0.0);
  coefficients_[0] = 1;
  std::size_t degree = 0;
  for (std::size_t c = 0; c < clients.size(); ++c) {
    if (c == left_out) continue;
    const double at_host = clients[c].host_seconds / factor(clients[c]);
    const double at_gpu = scale_ * clients[c].gpu_seconds / factor(clients[c]);
    ++degree;
    for (std::size_t power = degree; power > 0; --power) {
      coefficients_[power] = coefficients_[power] * at_host + coefficients_[power - 1] * at_gpu;
    }
    coefficients_[0] *= at_host;
  }
}

// Weight of all states with at least `at_gpu` clients at the GPU.
double ClosedNetworkSolver::weight_from(std::size_t at_gpu) const {
  double sum = 0;
  for (; at_gpu < weights_.size(); ++at_gpu) sum += weights_[at_gpu] * coefficients_[at_gpu];
  return sum;
}

const ClosedSolution& ClosedNetworkSolver::solve(std::span<const LoopingClient> clients,
                                                 double overhead) {
  assert(!clients.empty() && overhead >= 0);
  set_weights(clients.size(), overhead);
  multiply_out(clients, clients.size());
  const double total = weight_from(0);
  const double shared = weight_from(2) / total;

  solution_.switch_share = shared * overhead / (1 + overhead);
  solution_.busy_share = 0;
  solution_.cycles_per_second.clear();
  for (std::size_t c = 0; c < clients.size(); ++c) {
    multiply_out(clients, c);
    const double rate = weight_from(0) / total / factor(clients[c]);
    solution_.cycles_per_second.push_back(rate);
    solution_.busy_share += rate * clients[c].gpu_seconds;
  }
  return solution_;
}

}  // namespace slicewise::sim

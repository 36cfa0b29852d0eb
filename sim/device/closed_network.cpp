#include "slicewise/sim/device/closed_network.hpp"

#include <cassert>
#include <cstddef>

namespace slicewise::sim {
namespace {

// Everything below is in units that keep numbers near 1: each factor Z_j + D_j x is divided by
// Z_j + s D_j and x = s, s = n (1 + o), so that coefficients sum to 1 and weights stay <= 1.
class NormalisationConstant {
 public:
  NormalisationConstant(std::span<const LoopingClient> clients, double overhead)
      : clients_(clients),
        scale_(static_cast<double>(clients.size()) * (1 + overhead)),
        weights_(clients.size() + 1),
        coefficients_(clients.size() + 1) {
    // k! / (phi(1) ... phi(k)) / s^k
    weights_[0] = 1;
    for (std::size_t at_gpu = 1; at_gpu < weights_.size(); ++at_gpu) {
      const double slowdown = at_gpu == 1 ? 1 : 1 + overhead;
      weights_[at_gpu] = weights_[at_gpu - 1] * static_cast<double>(at_gpu) * slowdown / scale_;
    }
  }

  double factor(std::size_t client) const {
    return clients_[client].host_seconds + scale_ * clients_[client].gpu_seconds;
  }

  // Coefficients of x^k in the product over all clients but `left_out` (none when past the end).
  // Multiplied out anew: dividing a factor out of the full product would subtract.
  void multiply_out(std::size_t left_out) {
    coefficients_.assign(clients_.size() + 1, 0.0);
    coefficients_[0] = 1;
    std::size_t degree = 0;
    for (std::size_t client = 0; client < clients_.size(); ++client) {
      if (client == left_out) continue;
      const double at_host = clients_[client].host_seconds / factor(client);
      const double at_gpu = scale_ * clients_[client].gpu_seconds / factor(client);
      ++degree;
      for (std::size_t power = degree; power > 0; --power) {
        coefficients_[power] = coefficients_[power] * at_host + coefficients_[power - 1] * at_gpu;
      }
      coefficients_[0] *= at_host;
    }
  }

  // Weight of all states with at least `at_gpu` clients at the GPU.
  double weight_from(std::size_t at_gpu) const {
    double sum = 0;
    for (; at_gpu < weights_.size(); ++at_gpu) sum += weights_[at_gpu] * coefficients_[at_gpu];
    return sum;
  }

 private:
  std::span<const LoopingClient> clients_;
  double scale_;
  std::vector<double> weights_;       // by number of clients at the GPU
  std::vector<double> coefficients_;  // of the product multiplied out last
};

}  // namespace

ClosedSolution solve_closed_network(std::span<const LoopingClient> clients, double overhead) {
  assert(!clients.empty() && overhead >= 0);
  NormalisationConstant constant(clients, overhead);
  constant.multiply_out(clients.size());
  const double total = constant.weight_from(0);
  const double shared = constant.weight_from(2) / total;

  ClosedSolution solution;
  solution.switch_share = shared * overhead / (1 + overhead);
  for (std::size_t client = 0; client < clients.size(); ++client) {
    constant.multiply_out(client);
    const double rate = constant.weight_from(0) / total / constant.factor(client);
    solution.cycles_per_second.push_back(rate);
    solution.busy_share += rate * clients[client].gpu_seconds;
  }
  return solution;
}

}  // namespace slicewise::sim

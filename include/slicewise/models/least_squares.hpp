#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

// Least squares of small problems by Eigen's decompositions. Same input, same bytes on every
// machine: no vector instructions, and no product is cut into blocks by the size of a cache.
namespace slicewise::models {

// A row per observation, a column per parameter, row by row.
struct Design {
  std::size_t columns = 0;
  std::vector<double> values;

  std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  std::span<const double> row(std::size_t r) const {
    return std::span(values).subspan(r * columns, columns);
  }
};

// What is left of every observation where the parameters are `at`.
using Residuals = std::function<void(std::span<const double> at, std::span<double> residuals)>;

struct Bound {
  double least = 0;
  double most = 0;
};

struct LeastSquares {
  std::vector<double> at;
  double cost = 0;  // sum of squared residuals
};

// How the residuals change with each parameter: central differences, within the bounds.
Design jacobian(const Residuals& residuals, std::size_t observations, std::span<const double> at,
                std::span<const Bound> bounds);

// The valley of the sum of squares that `start` lies in, by Levenberg and Marquardt; parameters
// that a bound holds are left out of a step. REQUIRES: start lies within the bounds.
LeastSquares levenberg_marquardt(const Residuals& residuals, std::size_t observations,
                                 std::vector<double> start, std::span<const Bound> bounds);

// x >= 0 with the least |design x - targets|^2, by Lawson and Hanson. REQUIRES: a target per row.
std::vector<double> non_negative_least_squares(const Design& design,
                                               std::span<const double> targets);

// The row and the column whose products are nearest to a square table, by its singular values.
struct RankOne {
  std::vector<double> row;
  std::vector<double> column;
};
RankOne rank_one(const Design& table);

// What observations say of parameters: the singular values of how they change with them. Directions
// along which no observation changes are not determined.
class Determination {
 public:
  explicit Determination(const Design& jacobian);

  std::size_t rank() const { return directions_.rows(); }
  // Whether observations fix a figure that changes so with the parameters.
  bool determines(std::span<const double> gradient) const;
  // Its variance where that of an observation is 1, as far as observations fix it.
  double variance(std::span<const double> gradient) const;

 private:
  Design directions_;             // right singular vectors, a row each
  std::vector<double> singular_;  // one per row, > 0
};

// The inverse of a symmetric positive definite matrix, row by row.
std::vector<double> inverse_of(const Design& matrix);

}  // namespace slicewise::models

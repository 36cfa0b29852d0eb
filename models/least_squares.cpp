#include "slicewise/models/least_squares.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#define EIGEN_DONT_VECTORIZE
#include <Eigen/Dense>

#include "slicewise/lookup.hpp"

namespace slicewise::models {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Index index(std::size_t i) { return static_cast<Index>(i); }

MatrixXd matrix_of(const Design& design) {
  MatrixXd out(index(design.rows()), index(design.columns));
  for (std::size_t r = 0; r < design.rows(); ++r) {
    for (std::size_t c = 0; c < design.columns; ++c) out(index(r), index(c)) = design.row(r)[c];
  }
  return out;
}

double squares_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

// J'J and J'r, one sum after the other: Eigen would cut large products into blocks by the size of
// the cache that it finds.
struct NormalEquations {
  MatrixXd information;
  VectorXd slope;

  NormalEquations(const Design& design, std::span<const double> residuals)
      : information(MatrixXd::Zero(index(design.columns), index(design.columns))),
        slope(VectorXd::Zero(index(design.columns))) {
    for (std::size_t r = 0; r < design.rows(); ++r) {
      const std::span<const double> row = design.row(r);
      for (std::size_t i = 0; i < design.columns; ++i) {
        if (row[i] == 0) continue;
        slope(index(i)) += row[i] * residuals[r];
        for (std::size_t j = 0; j <= i; ++j) information(index(i), index(j)) += row[i] * row[j];
      }
    }
    information.triangularView<Eigen::StrictlyUpper>() = information.transpose();
  }
};

// Parameters that a bound keeps from going down the slope.
std::vector<bool> held_by(std::span<const Bound> bounds, const std::vector<double>& at,
                          const VectorXd& slope) {
  std::vector<bool> held(at.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    held[i] = (at[i] <= bounds[i].least && slope(index(i)) > 0) ||
              (at[i] >= bounds[i].most && slope(index(i)) < 0);
  }
  return held;
}

// The step of Marquardt: damped where a parameter curves much, 0 where a bound holds it.
VectorXd damped_step(const NormalEquations& here, const std::vector<bool>& held, double damping) {
  constexpr double kLeastCurvature = 1e-9;  // of the largest: flat directions are not divided by 0
  MatrixXd damped = here.information;
  VectorXd downhill = -here.slope;
  const double floor = std::max(kLeastCurvature * here.information.diagonal().maxCoeff(), 1e-300);
  for (Index i = 0; i < damped.rows(); ++i) {
    damped(i, i) += damping * std::max(here.information(i, i), floor);
    if (!held[static_cast<std::size_t>(i)]) continue;
    damped.row(i).setZero();
    damped.col(i).setZero();
    damped(i, i) = 1;
    downhill(i) = 0;
  }
  return damped.ldlt().solve(downhill);
}

}  // namespace

Design jacobian(const Residuals& residuals, std::size_t observations, std::span<const double> at,
                std::span<const Bound> bounds) {
  constexpr double kStep = 1e-5;
  Design design{at.size(), std::vector<double>(observations * at.size())};
  std::vector<double> moved(at.begin(), at.end());
  std::vector<double> up(observations);
  std::vector<double> down(observations);
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double above = std::min(at[i] + kStep, bounds[i].most);
    const double below = std::max(at[i] - kStep, bounds[i].least);
    if (above <= below) continue;
    moved[i] = above;
    residuals(moved, up);
    moved[i] = below;
    residuals(moved, down);
    moved[i] = at[i];
    for (std::size_t r = 0; r < observations; ++r) {
      design.values[r * at.size() + i] = (up[r] - down[r]) / (above - below);
    }
  }
  return design;
}

LeastSquares levenberg_marquardt(const Residuals& residuals, std::size_t observations,
                                 std::vector<double> start, std::span<const Bound> bounds) {
  constexpr int kMostSteps = 100;
  constexpr double kFirstDamping = 1e-3;
  constexpr double kLeastDamping = 1e-12;
  constexpr double kMostDamping = 1e8;
  constexpr double kNoGain = 1e-10;  // of the cost: the bottom
  constexpr double kNothingLeft = 1e-24;
  LeastSquares best{std::move(start), 0};
  std::vector<double> left(observations);
  residuals(best.at, left);
  best.cost = squares_of(left);
  double damping = kFirstDamping;
  for (int step = 0; step < kMostSteps && best.cost > kNothingLeft; ++step) {
    const NormalEquations here(jacobian(residuals, observations, best.at, bounds), left);
    const std::vector<bool> held = held_by(bounds, best.at, here.slope);
    const double before = best.cost;
    for (; damping <= kMostDamping && best.cost == before; damping *= 4) {
      const VectorXd change = damped_step(here, held, damping);
      std::vector<double> at = best.at;
      for (std::size_t i = 0; i < at.size(); ++i) {
        at[i] = std::clamp(at[i] + change(index(i)), bounds[i].least, bounds[i].most);
      }
      std::vector<double> tried(observations);
      residuals(at, tried);
      const double cost = squares_of(tried);
      if (!(cost < before)) continue;
      best = {std::move(at), cost};
      left = std::move(tried);
    }
    if (best.cost > (1 - kNoGain) * before) break;
    damping = std::max(damping / 40, kLeastDamping);
  }
  return best;
}

std::vector<double> non_negative_least_squares(const Design& design,
                                               std::span<const double> targets) {
  const MatrixXd columns = matrix_of(design);
  VectorXd target(index(targets.size()));
  for (std::size_t r = 0; r < targets.size(); ++r) target(index(r)) = targets[r];
  const auto n = columns.cols();
  VectorXd x = VectorXd::Zero(n);
  std::vector<Index> free;
  const double least_gain =
      1e-12 * std::sqrt(squares_of(design.values) * squares_of(targets));  // of rounding
  for (Index round = 0; round < 3 * n; ++round) {
    const VectorXd gain = columns.transpose().lazyProduct(target - columns.lazyProduct(x));
    Index most = -1;
    for (Index i = 0; i < n; ++i) {
      if (contains(free, i) || gain(i) <= least_gain) continue;
      if (most < 0 || gain(i) > gain(most)) most = i;
    }
    if (most < 0) break;
    free.push_back(most);
    while (!free.empty()) {
      MatrixXd part(columns.rows(), index(free.size()));
      for (std::size_t c = 0; c < free.size(); ++c) part.col(index(c)) = columns.col(free[c]);
      const VectorXd best = part.colPivHouseholderQr().solve(target);
      if (best.minCoeff() > 0) {
        for (std::size_t c = 0; c < free.size(); ++c) x(free[c]) = best(index(c));
        break;
      }
      // As far towards it as nothing becomes negative; what became 0 is given up.
      double part_of_way = 1;
      for (std::size_t c = 0; c < free.size(); ++c) {
        const double here = x(free[c]);
        const double there = best(index(c));
        if (there <= 0) part_of_way = std::min(part_of_way, here / (here - there));
      }
      for (std::size_t c = 0; c < free.size(); ++c) {
        x(free[c]) += part_of_way * (best(index(c)) - x(free[c]));
        if (best(index(c)) <= 0 && x(free[c]) <= 1e-14 * std::abs(best(index(c)))) x(free[c]) = 0;
      }
      std::erase_if(free, [&](Index i) { return x(i) <= 0; });
    }
  }
  return {x.data(), x.data() + n};
}

RankOne rank_one(const Design& table) {
  const Eigen::JacobiSVD<MatrixXd> svd(matrix_of(table), Eigen::ComputeThinU | Eigen::ComputeThinV);
  const double scale = std::sqrt(svd.singularValues()(0));
  const VectorXd row = scale * svd.matrixU().col(0);
  const VectorXd column = scale * svd.matrixV().col(0);
  return {{row.data(), row.data() + row.size()}, {column.data(), column.data() + column.size()}};
}

Determination::Determination(const Design& jacobian) : directions_{jacobian.columns, {}} {
  constexpr double kNothing = 1e-6;  // of the largest: differences are no more exact
  if (jacobian.rows() == 0) return;
  const Eigen::JacobiSVD<MatrixXd> svd(matrix_of(jacobian), Eigen::ComputeThinV);
  for (Index i = 0; i < svd.singularValues().size(); ++i) {
    const double value = svd.singularValues()(i);
    if (value <= kNothing * svd.singularValues()(0)) break;
    singular_.push_back(value);
    for (Index c = 0; c < svd.matrixV().rows(); ++c) {
      directions_.values.push_back(svd.matrixV()(c, i));
    }
  }
}

bool Determination::determines(std::span<const double> gradient) const {
  constexpr double kOutside = 1e-4;
  std::vector<double> rest(gradient.begin(), gradient.end());
  for (std::size_t d = 0; d < rank(); ++d) {
    const std::span<const double> direction = directions_.row(d);
    double along = 0;
    for (std::size_t i = 0; i < rest.size(); ++i) along += direction[i] * gradient[i];
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= along * direction[i];
  }
  return squares_of(rest) <= kOutside * kOutside * squares_of(gradient);
}

double Determination::variance(std::span<const double> gradient) const {
  double sum = 0;
  for (std::size_t d = 0; d < rank(); ++d) {
    const std::span<const double> direction = directions_.row(d);
    double along = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) along += direction[i] * gradient[i];
    sum += along * along / (singular_[d] * singular_[d]);
  }
  return sum;
}

std::vector<double> inverse_of(const Design& matrix) {
  const auto n = matrix.columns;
  assert(matrix.rows() == n);
  const Eigen::LDLT<MatrixXd> factors = matrix_of(matrix).ldlt();
  std::vector<double> out;
  out.reserve(n * n);
  for (std::size_t column = 0; column < n; ++column) {
    const VectorXd solved = factors.solve(VectorXd::Unit(index(n), index(column)));
    out.insert(out.end(), solved.data(), solved.data() + n);
  }
  return out;
}

}  // namespace slicewise::models

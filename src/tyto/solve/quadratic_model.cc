#include "tyto/solve/quadratic_model.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <limits>
#include <utility>

#include "tyto/base/rounding.h"
#include "tyto/loss/multinomial.h"
#include "tyto/math/entries.h"
#include "tyto/math/linear_algebra.h"

namespace tyto {
namespace {

constexpr Index kNever = Index{1} << 40;
constexpr int kMostStuck = 3;  // rounds in which the gap of a model does not fall

}  // namespace

QuadraticModel::QuadraticModel(const SolverOptions& options)
    : options_(options), direct_options_(options), gram_options_(options), tuning_(options.tuning.proximal) {
  direct_options_.tuning.working_set.gram_at_first = kNever;
  direct_options_.tuning.working_set.gram_enters = kNever;
  gram_options_.tuning.working_set.gram_at_first = 0;
  gram_options_.tuning.working_set.gram_enters = 0;
  gram_options_.tuning.working_set.gram_stays = 0;
}

void QuadraticModel::attach(const Problem& part, std::vector<IndexSet> places, int threads) {
  part_ = &part;
  places_ = std::move(places);
  solver_.reset();
  work_.emplace(threads);
}

void QuadraticModel::curve(const LossPoint& at, Index support) {
  curved_at_ = at;
  curved_at_.curvature = at.curvature.cwiseMax(tuning_.least_curvature * at.curvature.maxCoeff());
  Taken taken;
  model_ = Problem{weighted_design(taken), {}, part_->penalty, part_->ridge};
  // A Gram matrix of all columns pays only where most are in the model.
  const bool gram_pays = above_share(support, tuning_.gram_share, part_->design.cols());
  const bool by_classes = gram_pays && std::ssize(places_) > 1;
  if (by_classes) model_.gram_cache = class_products(taken);
  solver_ = make_newton(by_classes ? gram_options_ : gram_pays ? options_ : direct_options_);
}

Vector QuadraticModel::minimise(const Vector& beta, const LossPoint& at, Vector ascent,
                                const SortedL1& penalty, double target) {
  model_.penalty = penalty;
  Iterate z = make_iterate(model_, beta, *work_);
  curved_at_.residual = at.residual;
  model_.loss = z.eta + part_->loss->working_residual(curved_at_);
  solver_->attach(model_, z, *work_);
  double last = std::numeric_limits<double>::infinity();
  int stuck = 0;
  for (int round = 0; round < tuning_.model_rounds; ++round) {
    const LossPoint there = loss_at(model_, z);
    if (round > 0) ascent = tyto::correlation(model_, z, there, *work_);
    const Certificate c =
        certify_roughly(model_, z, there, evaluate_dual_norm(model_, ascent, nonzero_entries(z.beta)));
    // Where f'' is 0 in some rows, the gap of the model is far below that of the problem: the first round
    // takes a step in any case.
    if (round == 0)
      target = std::max(std::min(target, tuning_.model_share * c.gap), rounding::kModelGap * c.primal);
    stuck = c.gap > tuning_.model_stuck * last ? stuck + 1 : 0;
    if (round > 0 && (c.gap <= target || stuck > kMostStuck)) break;
    last = c.gap;
    Goal goal;
    goal.gap = target;
    solver_->advance(model_, z, c, ascent, goal);
  }
  return std::move(z.beta);
}

Eigen::MatrixXd QuadraticModel::copied(const IndexSet& columns, Index begin, Index length) const {
  Eigen::MatrixXd result(length, std::ssize(columns));
  part_->design.pack(columns, begin, length, result.data());
  return result;
}

// The root of the curvature times the columns, less what lies along the weighted intercept and unpenalised
// columns.
Design QuadraticModel::weighted_design(Taken& taken) const {
  const Design& design = part_->design;
  if (design.is_sparse()) return design.reweighted(curved_at_.curvature, *work_);
  Eigen::MatrixXd weighted = copied(all_but({}, design.cols()), 0, design.rows());
  part_->loss->apply_root(curved_at_, weighted);
  if (part_->loss->basis().cols() > 0) {
    Eigen::MatrixXd basis = part_->loss->basis();
    part_->loss->apply_root(curved_at_, basis);
    taken.products = basis.transpose() * weighted;
    taken.solved = (basis.transpose() * basis).ldlt().solve(taken.products);
    weighted.noalias() -= basis * taken.solved;
  }
  return Design::dense(std::move(weighted));
}

// Their inner products, of several classes: a column has rows in its own class alone, so that those of
// classes c and e are sums over as many rows as the data has, and not as many times that as there are
// classes.
std::shared_ptr<GramCache> QuadraticModel::class_products(const Taken& taken) const {
  const auto classes = std::ssize(places_);
  const Index n = part_->design.rows() / classes;
  const Index p = part_->design.cols();
  Eigen::MatrixXd products(p, p);
  const auto own = [&](Index c) { return copied(places_[static_cast<std::size_t>(c)], c * n, n); };
  for (Index e = 0; e < classes; ++e) {
    const Eigen::MatrixXd right = own(e);
    for (Index c = 0; c <= e; ++c) {
      const Eigen::MatrixXd weighted = class_curvature(curved_at_, classes, c, e).asDiagonal() * right;
      Eigen::MatrixXd block(std::ssize(places_[static_cast<std::size_t>(c)]), right.cols());
      transpose_product(own(c), weighted, 0, block);
      const auto& rows = places_[static_cast<std::size_t>(c)];
      const auto& columns = places_[static_cast<std::size_t>(e)];
      products(rows, columns) = block;
      if (c < e) products(columns, rows) = block.transpose();
    }
  }
  if (taken.products.rows() > 0) products.noalias() -= taken.products.transpose() * taken.solved;
  return std::make_shared<GramCache>(p, all_but({}, p), std::move(products));
}

}  // namespace tyto

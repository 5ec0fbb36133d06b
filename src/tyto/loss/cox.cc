#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "tyto/loss/row_loss.h"
#include "tyto/loss/time_order.h"

namespace tyto {
namespace {

using Real = long double;  // sums over risk sets, which have as many terms as there are rows

// What a time group's risk set, all rows up to it in the order of time, says at a point. Sums are over
// v exp(eta - top), top the largest eta among them.
struct RiskSet {
  double top;
  Real rest;  // over rows of later times, and those of this time that are censored
  Real all;   // with the events
};
struct RiskSets {
  std::vector<RiskSet> of;  // each time group
  Vector size;              // exp(eta - top of its group), by place
  // What sums up to a group shrink by, in units of those up to the next one.
  double rescale(std::size_t group) const {
    const double fall = of[group].top - of[group + 1].top;
    return fall == 0 ? 1 : std::exp(fall);
  }
};

// Proportional hazards, the partial likelihood of Breslow: with d the weight of the events E of a time and
// R its risk set, the rows with that time or a later one,
//   f = sum over times of d (log sum_{k in R} v_k exp(eta_k) - log d) - sum_{k in E} v_k eta_k,
// which is d times the relative entropy of v_k / d, k in E, and the shares p_k = v_k exp(eta_k) / sum. It
// depends on the order of the times alone, and not on a constant in eta.
class Cox final : public BasisLoss {
 public:
  explicit Cox(LossData data) : BasisLoss(std::move(data), {kFarthest, kLongestStep}) {
    check();
    order_ = TimeOrder(data_.response, event_, weights());
    leave_out_constants();
    if (!std::isfinite(at(Vector::Zero(rows()), {}).value)) throw no_minimum();
  }

  std::string_view name() const override { return "cox"; }
  double row_value(double, std::span<const double>) const override {
    return 0;
  }  // no row has a loss of its own
  double observations(double) const override { return order_.died()[order_.size() - 1]; }

  // Constants that the design projects out change nothing: their coordinates are 0.
  LossPoint at(const Vector& fitted, const Vector& guess) const override {
    Vector start;
    if (guess.size() == directions_) start = guess(free_);
    LossPoint point = BasisLoss::at(fitted, start);
    Vector all = Vector::Zero(directions_);
    all(free_) = point.coordinates;
    point.coordinates = std::move(all);
    return point;
  }

  // Pinsker's inequality, with the norms below.
  double curvature_bound(const LossPoint&, double, double) const override { return 0.25; }
  bool has_column_norms() const override { return true; }
  double column_norm(std::span<const Index> rows, std::span<const double> values) const override {
    return order_.range_norm(rows, values);
  }

  bool mixes_rows() const override { return true; }
  void apply_root(const LossPoint& at, Eigen::MatrixXd& columns) const override;
  Vector working_residual(const LossPoint& at) const override;

 protected:
  double divergence(const LossPoint& at, double scale) const override;
  double dual_curvature(const LossPoint& at) const override;
  LossPoint evaluated(const Vector& fitted, Vector coordinates) const override;
  Vector times_curvature(const LossPoint& at, const Vector& change) const override;
  Vector start(const Vector&) const override { return Vector::Zero(data_.basis.cols()); }

 private:
  static constexpr double kFarthest = 700;  // exp overflows
  static constexpr double kLongestStep = 3;

  struct Event {
    double weight, eta, size;  // size: exp(eta - top)
  };

  void check();
  Vector weights() const {
    return Vector::NullaryExpr(rows(), [this](Index i) { return weight(i); });
  }
  void leave_out_constants();
  RiskSets risk_sets(const Vector& eta) const;
  // f(group, its risk set, what shares in the risk sets of earlier times come to: the sum over those times s
  // of d_s / sum_s, times the sum of this one), from the earliest time to the latest.
  template <class F>
  void for_each_risk_set(const RiskSets& sets, F f) const;
  // What an event's share p misses of its target v / d, over p: a sum of terms that do not cancel where
  // events are alone at their time.
  static double surplus(const TimeGroup& group, const RiskSet& set, double size) {
    const Real events = set.all - set.rest;
    return static_cast<double>((set.rest + (events - group.died * size)) / (group.died * size));
  }
  double divergence(const RiskSets& sets, const Vector& eta, double scale) const;
  static double event_divergence(const TimeGroup& group, const RiskSet& set, const Event& event,
                                 double scale);
  struct Prefix {
    Vector share;   // rho: of each place, of the sum up to it
    Vector other;   // 1 - rho, without cancellation
    Vector hazard;  // u: rho u is the expected number of events
  };
  Prefix prefix(const Vector& eta) const;

  TimeOrder order_;
  Vector event_;  // 1 or 0 for each row
  IndexSet free_;
  Index directions_ = 0;
};

void Cox::check() {
  const Index n = data_.response.size();
  event_ = data_.events;
  if (event_.size() == 0) event_.setOnes(n);
  if (event_.size() != n)
    throw InvalidArgument(fmt::format("event: want {} numbers, one for each row, got {}", n, event_.size()));
  bool any = false;
  for (Index i = 0; i < n; ++i) {
    if (!std::isfinite(data_.response[i]))
      throw InvalidArgument(
          fmt::format("response: row {}: want a finite time, got {}", i, data_.response[i]));
    if (event_[i] != 0 && event_[i] != 1)
      throw InvalidArgument(
          fmt::format("event: row {}: want 1 (event) or 0 (censored), got {}", i, event_[i]));
    any = any || (event_[i] == 1 && root(i) > 0);
  }
  if (!any) throw InvalidArgument("event: want at least one row with an event, got none");
}

void Cox::leave_out_constants() {
  directions_ = data_.basis.cols();
  for (Index k = 0; k < directions_; ++k) {
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    for (const Index row : order_.rows()) {
      least = std::min(least, data_.basis(row, k) / root(row));
      most = std::max(most, data_.basis(row, k) / root(row));
    }
    constexpr double kRounding = 1e-12;
    if (most - least > kRounding * std::max(std::abs(least), std::abs(most))) free_.push_back(k);
  }
  Eigen::MatrixXd kept(rows(), std::ssize(free_));
  for (Index k = 0; k < kept.cols(); ++k) kept.col(k) = data_.basis.col(free_[static_cast<std::size_t>(k)]);
  data_.basis = std::move(kept);
}

RiskSets Cox::risk_sets(const Vector& eta) const {
  RiskSets sets{{}, Vector(order_.size())};
  sets.of.reserve(order_.groups().size());
  double top = -std::numeric_limits<double>::infinity();
  Real sum = 0;
  for (const TimeGroup& group : order_.groups()) {
    double highest = top;
    for (std::size_t k = group.begin; k < group.end; ++k) highest = std::max(highest, eta[order_.row(k)]);
    if (highest > top) sum *= std::exp(top - highest);
    top = highest;
    RiskSet set{top, sum, sum};
    for (std::size_t k = group.begin; k < group.end; ++k) {
      const double size = std::exp(eta[order_.row(k)] - top);
      sets.size[static_cast<Index>(k)] = size;
      sum += weight(order_.row(k)) * size;
      if (k < group.events) set.rest = sum;
    }
    set.all = sum;
    sets.of.push_back(set);
  }
  return sets;
}

template <class F>
void Cox::for_each_risk_set(const RiskSets& sets, F f) const {
  Real earlier = 0;
  for (std::size_t g = order_.groups().size(); g-- > 0;) {
    f(order_.groups()[g], sets.of[g], earlier);
    if (g == 0) break;
    earlier =
        (earlier + order_.groups()[g].died) * (sets.of[g - 1].all * sets.rescale(g - 1) / sets.of[g].all);
  }
}

// mu_k, the expected number of events of a row, is p_k (d + earlier).
LossPoint Cox::evaluated(const Vector& fitted, Vector coordinates) const {
  const Index n = rows();
  LossPoint point{Vector::Zero(n), Vector::Zero(n), predictor(fitted, coordinates), std::move(coordinates)};
  if (!point.eta.allFinite()) {
    point.value = std::numeric_limits<double>::infinity();
    return point;
  }
  double squares = 0;
  double fitted_squares = 0;
  const RiskSets sets = risk_sets(point.eta);
  for_each_risk_set(sets, [&](const TimeGroup& group, const RiskSet& set, Real earlier) {
    const bool tied = group.end - group.events > 1;
    for (std::size_t k = group.begin; k < group.end; ++k) {
      const Index row = order_.row(k);
      const double eta = point.eta[row];
      const double size = sets.size[static_cast<Index>(k)];
      const auto share = static_cast<double>(size / set.all);  // of the risk set, for a weight of 1
      const auto others = static_cast<double>(earlier) * share;
      double residual = -(group.died * share + others);
      double magnitude = -residual;
      if (k >= group.events) {
        const Real events = set.all - set.rest;
        residual = static_cast<double>((set.rest + (events - group.died * size)) / set.all) - others;
        magnitude = static_cast<double>((set.rest + (tied ? events : 0)) / set.all) + others;
      }
      point.residual[row] = root(row) * residual;
      point.curvature[row] = group.died * share + others;
      const double error = root(row) * magnitude * (1 + std::abs(eta) + std::abs(set.top));
      squares += error * error;
      fitted_squares += weight(row) * eta * eta;
    }
  });
  point.residual_magnitude = std::sqrt(squares);
  point.fitted_magnitude = std::sqrt(fitted_squares);
  point.value = divergence(sets, point.eta, 0);
  point.value_magnitude = point.value;
  return point;
}

// d times the relative entropy of q_k = (1 - s) v_k / d + s p_k and p_k, for one event. Where p underflows,
// its logarithm does not.
double Cox::event_divergence(const TimeGroup& group, const RiskSet& set, const Event& event, double scale) {
  constexpr double kUnderflow = 1e-280;
  const double rest = 1 - scale;
  if (event.size > kUnderflow * static_cast<double>(set.all))
    return group.died * event.weight * static_cast<double>(event.size / set.all) *
           relative_entropy(rest * surplus(group, set, event.size));
  if (rest <= 0) return rest < 0 ? std::numeric_limits<double>::infinity() : 0;
  const double log_share =
      event.eta - set.top - static_cast<double>(std::log(set.all)) + std::log(group.died);
  return rest * event.weight * (std::log(rest) - log_share - 1);
}

double Cox::divergence(const LossPoint& at, double scale) const {
  return divergence(risk_sets(at.eta), at.eta, scale);
}

double Cox::divergence(const RiskSets& sets, const Vector& eta, double scale) const {
  const double of_others = relative_entropy(scale - 1);
  double sum = 0;
  for (std::size_t g = 0; g < order_.groups().size(); ++g) {
    const TimeGroup& group = order_.groups()[g];
    if (group.died == 0) continue;
    const RiskSet& set = sets.of[g];
    sum += group.died * static_cast<double>(set.rest / set.all) * of_others;
    for (std::size_t k = group.events; k < group.end; ++k) {
      const Index row = order_.row(k);
      sum += event_divergence(group, set, {weight(row), eta[row], sets.size[static_cast<Index>(k)]}, scale);
    }
  }
  return sum;
}

// The second derivative of the divergence by the scale, at 1.
double Cox::dual_curvature(const LossPoint& at) const {
  const RiskSets sets = risk_sets(at.eta);
  double sum = 0;
  for (std::size_t g = 0; g < order_.groups().size(); ++g) {
    const TimeGroup& group = order_.groups()[g];
    if (group.died == 0) continue;
    const RiskSet& set = sets.of[g];
    sum += group.died * static_cast<double>(set.rest / set.all);
    for (std::size_t k = group.events; k < group.end; ++k) {
      const double size = sets.size[static_cast<Index>(k)];
      const double t = surplus(group, set, size);
      sum += group.died * weight(order_.row(k)) * static_cast<double>(size / set.all) * t * t;
    }
  }
  return sum;
}

// H x = p (x (d + earlier) - the same sum over risk sets with their means of x), x the change of eta.
Vector Cox::times_curvature(const LossPoint& at, const Vector& change) const {
  const RiskSets sets = risk_sets(at.eta);
  std::vector<Real> means;
  Real sum = 0;
  for (std::size_t g = 0; g < order_.groups().size(); ++g) {
    if (g > 0) sum *= sets.rescale(g - 1);
    for (std::size_t k = order_.groups()[g].begin; k < order_.groups()[g].end; ++k)
      sum += root(order_.row(k)) * change[order_.row(k)] * sets.size[static_cast<Index>(k)];
    means.push_back(sum / sets.of[g].all);
  }
  Vector result = Vector::Zero(rows());
  Real hazard = 0;
  Real of_means = 0;
  for (std::size_t g = order_.groups().size(); g-- > 0;) {
    hazard += order_.groups()[g].died;
    of_means += order_.groups()[g].died * means[g];
    for (std::size_t k = order_.groups()[g].begin; k < order_.groups()[g].end; ++k) {
      const Index row = order_.row(k);
      const Real share = sets.size[static_cast<Index>(k)] / sets.of[g].all;
      result[row] = static_cast<double>(share * (change[row] * hazard - root(row) * of_means));
    }
    if (g == 0) break;
    const Real fall = sets.of[g - 1].all * sets.rescale(g - 1) / sets.of[g].all;
    hazard *= fall;
    of_means *= fall;
  }
  return result;
}

// rho_l = e_l / (e_1 + ... + e_l) in the order of time, and u_l = d_l + (1 - rho_(l+1)) u_(l+1), where d_l is
// the weight of the events of a time that ends at place l (14.9).
Cox::Prefix Cox::prefix(const Vector& eta) const {
  const Index n = order_.size();
  Prefix result{Vector(n), Vector(n), Vector(n)};
  double top = -std::numeric_limits<double>::infinity();
  Real sum = 0;
  for (Index l = 0; l < n; ++l) {
    const Index row = order_.row(static_cast<std::size_t>(l));
    if (eta[row] > top) {
      sum *= std::exp(top - eta[row]);
      top = eta[row];
    }
    const Real own = weight(row) * std::exp(eta[row] - top);
    const Real all = sum + own;
    result.share[l] = static_cast<double>(own / all);
    result.other[l] = static_cast<double>(sum / all);
    sum = all;
  }
  Real hazard = 0;
  for (std::size_t g = order_.groups().size(); g-- > 0;) {
    hazard += order_.groups()[g].died;
    for (std::size_t k = order_.groups()[g].end; k-- > order_.groups()[g].begin;) {
      const auto l = static_cast<Index>(k);
      result.hazard[l] = static_cast<double>(hazard);
      hazard *= result.other[l];
    }
  }
  return result;
}

// Row l of the root: sqrt(rho (1 - rho) u) times x_l less the mean of x over the places before, which has
// weights e_k (14.9). Rows of weight 0 are 0, and stay so.
void Cox::apply_root(const LossPoint& at, Eigen::MatrixXd& columns) const {
  const Prefix of = prefix(at.eta);
  const Vector roots = (of.share.array() * of.other.array() * of.hazard.array()).sqrt();
  for (Index j = 0; j < columns.cols(); ++j) {
    double mean = 0;
    for (Index l = 0; l < order_.size(); ++l) {
      const Index row = order_.row(static_cast<std::size_t>(l));
      const double difference = columns(row, j) / root(row) - mean;
      columns(row, j) = roots[l] * difference;
      mean += of.share[l] * difference;
    }
  }
}

// u with R'u = r: of place l, r_l and rho_l times the sum of r behind it, over the root.
Vector Cox::working_residual(const LossPoint& at) const {
  const Prefix of = prefix(at.eta);
  const Vector squares = of.share.array() * of.other.array() * of.hazard.array();
  Vector result = Vector::Zero(rows());
  constexpr double kNoise = 1e-14;  // of its terms: a smaller sum is what rounding left
  Real behind = 0;
  for (Index l = order_.size(); l-- > 0;) {
    const Index row = order_.row(static_cast<std::size_t>(l));
    const double own = root(row) * at.residual[row];
    const Real ahead = own + of.share[l] * behind;
    const bool noise = std::abs(ahead) <= kNoise * (std::abs(own) + of.share[l] * std::abs(behind));
    if (squares[l] > 0 && !noise) result[row] = static_cast<double>(ahead) / std::sqrt(squares[l]);
    behind += own;
  }
  return result;
}

}  // namespace

std::shared_ptr<const Loss> make_cox(LossData data) { return std::make_shared<const Cox>(std::move(data)); }

}  // namespace tyto

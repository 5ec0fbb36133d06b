#include "tyto/data/simulate.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "tyto/base/error.h"

namespace tyto {
namespace {

// std::normal_distribution differs from library to library; this does not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}

  double uniform() { return static_cast<double>((bits_() >> 11) + 1) * 0x1p-53; }  // in (0, 1]
  double normal() {                                                                // Box and Muller 1958
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2 * std::log(uniform())), angle = 2 * std::numbers::pi * uniform();
    has_spare_ = true;
    spare_ = radius * std::sin(angle);
    return radius * std::cos(angle);
  }
  Vector normals(Index count) {
    Vector v(count);
    for (double& x : v) x = normal();
    return v;
  }

 private:
  std::mt19937_64 bits_;
  double spare_ = 0;
  bool has_spare_ = false;
};

template <class T>
void want(bool holds, const char* field, const char* wish, T got) {
  if (!holds) throw InvalidArgument(fmt::format("{}: want {}, got {}", field, wish, got));
}

void validate(const SimulateOptions& o) {
  want(o.rows >= 1, "rows", ">= 1", o.rows);
  want(o.cols >= 1, "cols", ">= 1", o.cols);
  want(o.rows <= std::numeric_limits<std::int32_t>::max(), "rows", "< 2^31", o.rows);
  want(o.groups >= 0, "groups", ">= 0", o.groups);
  want(o.group_size >= 1, "group-size", ">= 1", o.group_size);
  if (o.groups > o.cols / o.group_size)
    throw InvalidArgument(fmt::format("groups: want groups * group-size <= cols, got {} * {} > {}", o.groups,
                                      o.group_size, o.cols));
  want(o.correlation >= 0 && o.correlation <= 1, "correlation", "0 to 1", o.correlation);
  want(o.rho > -1 && o.rho < 1, "rho", "-1 < rho < 1", o.rho);
  want(o.snr > 0, "snr", "> 0", o.snr);
  want(o.density > 0 && o.density <= 1, "density", "0 < density <= 1", o.density);
}

// The columns of X one after the other.
class SimulatedColumns {
 public:
  explicit SimulatedColumns(const SimulateOptions& options)
      : options_(options), random_(options.seed), shared_(options.rows), column_(options.rows) {}

  const Vector& next() {
    const Index in_groups = options_.groups * options_.group_size;
    const bool in_group = number_ < in_groups;
    const bool first = in_group ? number_ % options_.group_size == 0 : number_ == in_groups;
    if (in_group && first) shared_ = random_.normals(options_.rows);
    const double carried = in_group ? options_.correlation : options_.rho * options_.rho;
    const double from_shared = in_group ? std::sqrt(carried) : first ? 0 : options_.rho;
    const double own = !in_group && first ? 1 : std::sqrt(1 - carried);
    if (from_shared == 0)
      column_ = random_.normals(options_.rows);
    else
      column_ = from_shared * shared_ + own * random_.normals(options_.rows);
    if (!in_group) shared_ = column_;
    ++number_;
    return column_;
  }
  bool present() { return options_.density >= 1 || random_.uniform() <= options_.density; }
  Random& random() { return random_; }

 private:
  const SimulateOptions& options_;
  Random random_;
  Index number_ = 0;
  Vector shared_, column_;  // shared: the group's latent variable, or the column before
};

Design dense_design(SimulatedColumns& columns, const SimulateOptions& options) {
  Eigen::MatrixXd x(options.rows, options.cols);
  for (Index j = 0; j < options.cols; ++j) x.col(j) = columns.next();
  return Design::dense(std::move(x));
}

Design sparse_design(SimulatedColumns& columns, const SimulateOptions& options) {
  using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t>;
  Matrix x(options.rows, options.cols);
  for (Index j = 0; j < options.cols; ++j) {
    x.startVec(j);
    const Vector& column = columns.next();
    for (Index i = 0; i < options.rows; ++i)
      if (columns.present()) x.insertBack(i, j) = column[i];
  }
  x.finalize();
  if (x.nonZeros() > std::numeric_limits<std::int32_t>::max()) return Design::sparse(x);
  return Design::sparse(Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>(x));
}

void name_columns(const SimulateOptions& options, std::vector<std::string>& names) {
  for (Index g = 0; g < options.groups; ++g)
    for (Index k = 0; k < options.group_size; ++k) names.push_back(fmt::format("g{}_{}", g + 1, k + 1));
  while (std::ssize(names) < options.cols) names.push_back(fmt::format("x{}", names.size() + 1));
}

}  // namespace

Simulated simulate(const SimulateOptions& options) {
  validate(options);
  Simulated out;
  SimulatedColumns columns(options);
  out.data.design = options.density < 1 ? sparse_design(columns, options) : dense_design(columns, options);
  name_columns(options, out.data.names);
  out.data.response_name = std::string("y");

  out.truth = Vector::Zero(options.cols);
  for (Index g = 0; g < options.groups; ++g) {
    const double size = 2 - static_cast<double>(g) / static_cast<double>(options.groups);
    out.truth.segment(g * options.group_size, options.group_size).setConstant(g % 2 == 0 ? size : -size);
  }
  Vector& y = out.data.response;
  y = Vector::Zero(options.rows);
  out.data.design.multiply(out.truth, y);
  const double variance = (y.array() - y.mean()).square().mean();
  const double noise = variance > 0 ? std::sqrt(variance / options.snr) : 1.0;
  y += noise * columns.random().normals(options.rows);
  return out;
}

}  // namespace tyto

#include "cli/reproduce/sets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <random>

#include "tyto/base/error.h"
#include "tyto/data/atomic_file.h"

namespace tyto::cli {
namespace {

SimulateOptions cardiac(Index groups, double correlation, double rho, std::uint64_t seed,
                        Index signals = 200) {
  return {.rows = 3360,
          .cols = 1600,
          .groups = groups,
          .group_size = signals / groups,
          .correlation = correlation,
          .rho = rho,
          .snr = 3,
          .seed = seed};
}

PaperSet stand_in(std::string_view name, std::string_view title, const SimulateOptions& options,
                  std::string_view paper_rmse, std::string_view note) {
  return {
      .name = name, .title = title, .tau = 3, .stand_in = options, .paper_rmse = paper_rmse, .note = note};
}

const std::vector<PaperSet>& table() {
  static const std::vector<PaperSet> sets{
      {.name = "duke",
       .title = "Duke Breast Cancer",
       .tau = 2,
       .standardized = false,
       .files = {"duke/data.svm"},
       .paper_rmse = "0.6523"},
      {.name = "colon-cancer",
       .title = "Colon Cancer",
       .tau = 3,
       .standardized = false,
       .files = {"colon-cancer/data.svm"},
       .paper_rmse = "0.9453"},
      stand_in("cardiac-left", "Cardiac Left (simulated stand-in)", cardiac(10, 0.95, 0.9, 1), "0.4756",
               "hospital data that is not public: simulated, 10 groups of 20 columns with correlation 0.95, "
               "the other columns 0.9 with their neighbours"),
      stand_in("cardiac-right", "Cardiac Right (simulated stand-in)", cardiac(20, 0.9, 0.95, 2), "0.5276",
               "hospital data that is not public: simulated, 20 groups of 10 columns with correlation 0.9, "
               "the other columns 0.95 with their neighbours"),
      stand_in("cardiac-dense", "Cardiac, many signals (simulated)", cardiac(40, 0.95, 0.95, 3, 800), "",
               "how much the stand-ins decide: 800 columns carry the signal, in 40 groups of 20 with "
               "correlation 0.95, the other columns 0.95 with their neighbours"),
      {.name = "ujiindoorloc",
       .title = "IndoorLoc Longitude",
       .tau = 2,
       .files = {"ujiindoorloc/trainingData.csv", "ujiindoorloc/validationData.csv"},
       .target = "LONGITUDE",
       .paper_rmse = "0.5531"},
      {.name = "slice",
       .title = "Slice Localization",
       .tau = 2,
       .files = {"slice/slice_localization_data.csv"},
       .target = "reference",
       .drop = "patientId",
       .paper_rmse = "0.6162"},
      {.name = "slice-part",
       .title = "Slice Localization (first 682 rows)",
       .tau = 2,
       .files = {"slice-part/data.csv"},
       .target = "reference",
       .paper_rmse = "0.6162",
       .note = "682 of the 53,500 rows, so p is more than half of n: not the paper's n >> p",
       .part_of = "slice"},
      {.name = "blogfeedback",
       .title = "BlogFeedback (beside Slice)",
       .tau = 2,
       .files = {"blogfeedback/blogData_train.csv"},
       .note = "not in the paper: n >> p, as the full slice set has it"},
  };
  return sets;
}

// FNV-1a.
std::uint64_t hash(std::string_view bytes, std::uint64_t value) {
  for (const char c : bytes) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return value;
}

Design take_rows(const Design& design, const IndexSet& rows) {
  IndexSet place(static_cast<std::size_t>(design.rows()), -1);
  for (std::size_t k = 0; k < rows.size(); ++k)
    place[static_cast<std::size_t>(rows[k])] = static_cast<Index>(k);
  const auto count = static_cast<Index>(rows.size());
  if (!design.is_sparse()) {
    Eigen::MatrixXd x = Eigen::MatrixXd::Zero(count, design.cols());
    for (Index j = 0; j < design.cols(); ++j)
      design.for_each_entry(j, [&](Index i, double value) {
        if (const Index at = place[static_cast<std::size_t>(i)]; at >= 0) x(at, j) = value;
      });
    return Design::dense(std::move(x));
  }
  Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t> x(count, design.cols());
  for (Index j = 0; j < design.cols(); ++j) {
    x.startVec(j);
    design.for_each_entry(j, [&](Index i, double value) {
      if (const Index at = place[static_cast<std::size_t>(i)]; at >= 0) x.insertBack(at, j) = value;
    });
  }
  x.finalize();
  return Design::sparse(x);
}

Dataset take(const Dataset& data, IndexSet rows) {
  std::ranges::sort(rows);
  Dataset part;
  part.design = take_rows(data.design, rows);
  part.response.resize(static_cast<Index>(rows.size()));
  for (Index k = 0; k < part.response.size(); ++k)
    part.response[k] = data.response[rows[static_cast<std::size_t>(k)]];
  return part;
}

}  // namespace

std::span<const PaperSet> paper_sets() { return table(); }

const PaperSet& find_paper_set(std::string_view name) {
  std::string names;
  for (const PaperSet& set : table()) {
    if (set.name == name) return set;
    names += (names.empty() ? "" : ", ") + std::string(set.name);
  }
  throw InvalidArgument("sets: want some of " + names + ", got '" + std::string(name) + "'");
}

std::vector<std::string> find_files(const PaperSet& set, const std::string& folder) {
  std::vector<std::string> found;
  for (const std::string_view name : set.files) {
    const std::string path = (std::filesystem::path(folder) / name).string();
    for (const char* ending : {"", ".xz", ".gz", ".bz2", ".zst"})
      if (std::filesystem::is_regular_file(path + ending)) {
        found.push_back(path + ending);
        break;
      }
  }
  return found.size() == set.files.size() ? found : std::vector<std::string>{};
}

std::uint64_t fingerprint(const std::vector<std::string>& files) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const std::string& file : files)
    value = hash(read_whole(file), hash(std::filesystem::path(file).filename().string(), value));
  return value;
}

Dataset load(const PaperSet& set, const std::vector<std::string>& files, Index shrink) {
  Dataset data;
  if (set.simulated()) {
    SimulateOptions options = *set.stand_in;
    options.rows /= shrink;
    options.cols /= shrink;
    options.groups /= shrink;
    data = simulate(options).data;
  } else {
    ReadOptions options;
    if (!set.target.empty()) options.target = std::string(set.target);
    if (!set.drop.empty()) options.drop = {std::string(set.drop)};
    data = read(files, options);
  }
  if (data.response.size() < 5) throw DataError(std::string(set.name) + ": want five rows or more");
  if (set.standardized) {
    Vector& y = data.response;
    y.array() -= y.mean();
    const double deviation = std::sqrt(y.squaredNorm() / static_cast<double>(y.size()));
    if (deviation > 0) y /= deviation;
  }
  return data;
}

Split split_rows(const Dataset& data, std::uint64_t seed) {
  IndexSet order(static_cast<std::size_t>(data.response.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::mt19937_64 random(seed);
  for (std::size_t k = 0; k + 1 < order.size(); ++k)
    std::swap(order[k], order[k + random() % (order.size() - k)]);
  const auto cut = order.begin() + static_cast<std::ptrdiff_t>(order.size() - order.size() / 5);
  return {take(data, IndexSet(order.begin(), cut)), take(data, IndexSet(cut, order.end()))};
}

}  // namespace tyto::cli

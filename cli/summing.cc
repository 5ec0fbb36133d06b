#include "cli/summing.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "cli/progress.h"
#include "tyto/base/error.h"
#include "tyto/base/names.h"
#include "tyto/base/pass_tuning.h"
#include "tyto/base/stopwatch.h"
#include "tyto/base/tuning.h"
#include "tyto/data/atomic_file.h"
#include "tyto/data/blocks.h"
#include "tyto/data/text.h"
#include "tyto/moments/packing.h"
#include "tyto/select/by_gradients.h"

namespace tyto::cli {
namespace {

constexpr double kMegabyte = 1 << 20;

bool is_moments_file(const std::string& name) { return name.ends_with(".moments"); }

void want_files(const std::vector<std::string>& files) {
  for (const std::string& name : files) {
    std::error_code ignored;
    const bool there = std::filesystem::exists(name, ignored);
    if (name == "-" || (there && !std::filesystem::is_regular_file(name, ignored)))
      throw InvalidArgument("data: want files, which can be read twice, where rows are streamed, got " +
                            in_quotes(name));
  }
}

void check_memory(const SummingArgs& args, double needed) {
  if (args.memory.empty()) return;
  const auto limit = static_cast<double>(parse_memory(args.memory));
  if (needed > limit)
    throw InvalidArgument(fmt::format("memory: want at least {:.0f}M for so many columns{}, got {}",
                                      std::ceil(needed / kMegabyte), args.folds > 1 ? " and folds" : "",
                                      args.memory));
}

// Of blocks that are read, and of the copies that are made to sum them.
double block_bytes(const Dataset& block, int threads) {
  const auto columns = static_cast<double>(block.design.cols() + 1);
  const double chunk = columns * static_cast<double>(chunk_rows(block.design.cols() + 1)) * sizeof(double);
  return columns * static_cast<double>(block.design.rows()) * sizeof(double) + 2 * threads * chunk;
}

// One pass over files. add(block, number of its first row).
template <class Add>
void for_each_block(const DataArgs& data, Add add, bool gradients = false) {
  std::uint64_t first = 0;
  const auto rows = [&](Index columns, bool sparse) {
    if (sparse && gradients) return PassTuning().sparse_chunk_rows;
    return Tuning::Moments().chunks_at_once * chunk_rows(columns);
  };
  read_blocks(data.files, data.options(), {rows, [&](Dataset&& block) {
                                             add(block, first);
                                             first += static_cast<std::uint64_t>(block.design.rows());
                                           }});
}

EvidenceSums sum_evidence(const DataArgs& data, const EvidenceQuery& query, int threads) {
  EvidenceSum sum;
  for_each_block(data, [&](const Dataset& block, std::uint64_t) { sum.add(block, query, threads); });
  return sum.total();
}

void refuse_unfit(const RegressionArgs& args) {
  if (!args.report.empty()) throw InvalidArgument("report: want none where rows are summed, got a file");
}

// What the data said of itself, for models.
void describe(const Dataset& about, Dataset& data) {
  data.weights_name = about.weights_name;
  data.offset_name = about.offset_name;
  data.response_by_name = about.response_by_name;
  data.one_hot = about.one_hot;
}

}  // namespace

SummedData sum_moments(const DataArgs& data, const SummingArgs& args) {
  want_files(data.files);
  if (!args.memory.empty()) parse_memory(args.memory);
  SummedData result;
  MomentSum sum;
  for_each_block(data, [&](const Dataset& block, std::uint64_t first) {
    sum.add(block, {.first = first, .folds = args.folds, .seed = args.seed}, args.threads);
    check_memory(
        args, static_cast<double>(sum.bytes()) * (1 + 1.0 / args.threads) + block_bytes(block, args.threads));
    result.dropped += std::ssize(block.dropped_rows);
    if (first > 0) return;
    result.about = block;
    result.about.design = {};
    result.about.response = {};
  });
  result.moments = sum.total();
  if (result.moments.empty())
    throw DataError(data.files[0] + ": expected a row without missing values, got none");
  return result;
}

SummedData read_moments(const std::vector<std::string>& files) {
  SummedData result;
  PairwiseSum<MomentSet> sum;
  for (const std::string& file : files) {
    const std::string bytes = read_whole(file);
    MomentSet one = unpack_moments(bytes, printable(file));
    if (one.empty()) throw DataError(printable(file) + ": expected moments of some rows, got none");
    if (&file != &files.front() && one.features() != sum.total().features())
      throw DataError(fmt::format("{}: expected {} features as in {}, got {}", printable(file),
                                  sum.total().features(), printable(files[0]), one.features()));
    sum.add(std::move(one));
  }
  result.moments = sum.total();
  return result;
}

bool works_on_sums(const RegressionArgs& args) {
  if (is_moments_file(args.data.files.front())) return true;
  return !args.data.memory.empty() && !args.data.by_columns();
}

namespace {

// What a pass keeps at once: partial sums of pairs, of which there are few at a time.
constexpr double kPartialSums = 8;

void check_memory(const RegressionArgs& args, const GradientQuery& query) {
  const auto size = static_cast<double>(query.working.size());
  const auto gradients = static_cast<double>(2 * query.models() * query.features);
  const double numbers = gradients + static_cast<double>(query.curved.size()) * size * size;
  check_memory({args.data.memory}, kPartialSums * numbers * sizeof(double));
}

// Fits of other losses, and of wide data.
std::pair<Dataset, Estimate> by_gradients(const RegressionArgs& args, Task task, std::string& note) {
  const Stopwatch watch;
  const int threads = args.options.fit.threads;
  Dataset about;
  ColumnSum columns;
  Index dropped = 0;
  for_each_block(
      args.data,
      [&](const Dataset& block, std::uint64_t first) {
        if (!block.labels.empty())
          throw InvalidArgument("response: want numbers where rows are read in passes, got words");
        columns.add(block, threads);
        dropped += std::ssize(block.dropped_rows);
        if (first > 0) return;
        about = block;
        about.design = {};
        about.response = {};
      },
      true);
  if (!args.quiet) print_warnings(about.warnings);
  if (dropped > 0 && !args.quiet) say(fmt::format("{} rows were left out for missing values", dropped));
  EstimateByGradients found(columns.total(), args.options, task);
  describe(about, found.data);
  while (const auto query = found.ask()) {
    check_memory(args, *query);
    GradientSum sum;
    for_each_block(
        args.data, [&](const Dataset& block, std::uint64_t) { sum.add(block, *query, threads); }, true);
    found.tell(sum.total());
  }
  found.took(watch.seconds(), watch.cpu_seconds());
  note = fmt::format("certificates are from the data, which was read {} times\n", found.passes());
  return {std::move(found.data), std::move(found.estimate)};
}

// The width of the files: that of their first block.
Index columns_of(const DataArgs& data) {
  struct Enough {};
  Index columns = 0;
  try {
    for_each_block(data, [&](const Dataset& block, std::uint64_t) {
      columns = block.design.cols();
      throw Enough();
    });
  } catch (const Enough&) {
  }
  return columns;
}

SummedEstimate estimate_summed(const RegressionArgs& args, Task task, std::string& note) {
  const Stopwatch watch;
  const EstimateOptions& options = args.options;
  SummingArgs summing{args.data.memory, 1, options.fit.stochastic.seed, options.fit.threads};
  if (task == kCvTask) summing.folds = options.cv.folds;
  const bool packed = is_moments_file(args.data.files.front());
  const SummedData summed = packed ? read_moments(args.data.files) : sum_moments(args.data, summing);
  if (!args.quiet) print_warnings(summed.about.warnings);
  if (summed.dropped > 0 && !args.quiet)
    say(fmt::format("{} of {} rows were left out for missing values", summed.dropped,
                    summed.dropped + summed.moments.fingerprint.rows));
  SummedEstimate found(summed.moments, options, task);
  describe(summed.about, found.data);
  if (packed) {
    note = "certificates are of the moments: the data itself was not read\n";
    for (Model& model : found.models()) model.from_moments = true;
    return found;
  }
  while (const auto query = found.ask()) found.tell(sum_evidence(args.data, *query, options.fit.threads));
  found.took(watch.seconds(), watch.cpu_seconds());
  note = fmt::format("certificates are from the data, which was read {} times{}\n", found.passes(),
                     task == kCvTask ? "; those of the folds are of their moments" : "");
  return found;
}

}  // namespace

std::pair<Dataset, Estimate> estimate_streamed(const RegressionArgs& args, Task task, std::string& note) {
  refuse_unfit(args);
  want_files(args.data.files);
  const bool packed = is_moments_file(args.data.files.front());
  const bool other_loss = args.options.regression.loss != "gaussian";
  if (!packed && (other_loss || columns_of(args.data) > PassTuning().most_columns))
    return by_gradients(args, task, note);
  SummedEstimate found = estimate_summed(args, task, note);
  return {std::move(found.data), std::move(found.estimate)};
}

std::pair<Dataset, CvEstimate> cross_validate_streamed(const RegressionArgs& args, std::string& note) {
  refuse_unfit(args);
  SummedEstimate found = estimate_summed(args, kCvTask, note);
  return {std::move(found.data), std::move(found.cv)};
}

}  // namespace tyto::cli

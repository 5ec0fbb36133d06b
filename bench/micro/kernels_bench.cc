// The figures that the kernels are held to, each beside the plain loop it is compared with.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "tyto/base/parallel.h"
#include "tyto/design/design.h"
#include "tyto/math/kernels.h"
#include "tyto/math/sorted_l1.h"
#include "tyto/math/weights.h"

namespace tyto {
namespace {

Vector normal(Index n) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> gauss;
  return Vector::NullaryExpr(n, [&](Index) { return gauss(random); });
}

const Design& large_design() {  // 1 GB
  static const Design design = Design::dense(Eigen::MatrixXd(Eigen::MatrixXd::Constant(20000, 6250, 0.5)));
  return design;
}

void rate(benchmark::State& state, double bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(static_cast<double>(state.iterations()) * bytes));
}

// A plain parallel read: the bits of as much memory, added as integers.
void BM_ReadMemory(benchmark::State& state) {
  constexpr Index kWords = 125'000'000, kTasks = 1000, kPart = kWords / kTasks;
  static const std::vector<std::uint64_t> memory(kWords, 1);
  std::vector<std::uint64_t> partial(kTasks);
  for (auto _ : state) {
    parallel_for(kTasks, hardware_threads(), [&](Index task) {
      const auto begin = memory.begin() + task * kPart;
      partial[static_cast<std::size_t>(task)] = std::accumulate(begin, begin + kPart, std::uint64_t{0});
    });
    benchmark::DoNotOptimize(partial.data());
  }
  rate(state, 8.0 * kWords);
}
BENCHMARK(BM_ReadMemory)->UseRealTime()->Unit(benchmark::kMillisecond);

void BM_TransposeMultiply(benchmark::State& state) {
  const Design& design = large_design();
  const Vector v = normal(design.rows());
  const Work work(hardware_threads());
  Vector out;
  for (auto _ : state) {
    design.transpose_multiply(v, out, work);
    benchmark::DoNotOptimize(out.data());
  }
  rate(state, 8.0 * static_cast<double>(design.rows() * design.cols()));
}
BENCHMARK(BM_TransposeMultiply)->UseRealTime()->Unit(benchmark::kMillisecond);

void BM_SumMagnitudes(benchmark::State& state) {
  const Vector v = normal(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(kernels::magnitudes(v.data(), v.size()).sum);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_SumMagnitudes)->Arg(1000000)->Unit(benchmark::kMicrosecond);

// Oscar weights, scaled so that 1% of the entries survive. The input is copied outside the clock.
void BM_Prox(benchmark::State& state) {
  const Vector v = normal(state.range(0));
  const SortedL1 norm(make_weights("oscar", {1, state.range(0), 0.1}));
  const double step = 1.3;
  Vector b;
  for (auto _ : state) {
    state.PauseTiming();
    b = v;
    state.ResumeTiming();
    norm.prox(b, step);
    benchmark::DoNotOptimize(b.data());
  }
  state.counters["survive"] = static_cast<double>((b.array() != 0).count()) / static_cast<double>(b.size());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Prox)->Arg(1000000)->Unit(benchmark::kMicrosecond);

void BM_DualNorm(benchmark::State& state) {
  const Vector v = normal(state.range(0));
  const SortedL1 norm(make_weights("oscar", {1, state.range(0), 0.1}));
  for (auto _ : state) benchmark::DoNotOptimize(norm.dual_norm(v));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_DualNorm)->Arg(1000000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tyto

BENCHMARK_MAIN();

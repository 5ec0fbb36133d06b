// Laws: what is read from a file has the same bits as what is in memory, whatever the memory it is read into
// and however many read at once; a file that is not what it was is an error.
#include "tyto/columns/column_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "tests/support/column_files.h"
#include "tyto/base/checksum.h"
#include "tyto/base/error.h"
#include "tyto/columns/frame_cache.h"

namespace tyto {
namespace {

using Stored = std::shared_ptr<const Columns>;

constexpr StoredType kTypes[] = {StoredType::kDouble, StoredType::kFloat, StoredType::kInt8,
                                 StoredType::kUint8,  StoredType::kInt16, StoredType::kGenotype};

std::vector<Index> all_of(Index count) {
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

// All columns; few; in no order; some more than once.
std::vector<std::vector<Index>> lists(Index cols) {
  std::vector<Index> reversed = all_of(cols);
  std::ranges::reverse(reversed);
  std::vector<Index> scattered;
  for (Index k = 0; k < cols; ++k) scattered.push_back(k * 7919 % cols);
  scattered.push_back(scattered.front());
  return {all_of(cols), {0}, {cols - 1, 0, cols - 1}, reversed, scattered, {}};
}

// Everything that can be asked, in one vector.
std::vector<double> answers(const Columns& x, std::span<const Index> list) {
  const Index n = x.rows(), count = std::ssize(list);
  std::vector<double> all;
  const auto add = [&](const auto& numbers) {
    all.insert(all.end(), numbers.data(), numbers.data() + numbers.size());
  };
  const Vector v = Vector::LinSpaced(n, -1, 2);
  Vector out = Vector::Zero(count);
  x.correlate(list, v.data(), out.data());
  add(out);
  Eigen::MatrixXd several(n, 3), products(count, 3);
  for (Index c = 0; c < 3; ++c) several.col(c) = v.array().pow(static_cast<double>(c + 1));
  x.correlate_all(list, several, products);
  add(products);
  const Vector factors = Vector::LinSpaced(count, 0.5, 3);
  Vector eta = v;
  x.combine(list, factors.data(), {n / 3, n - n / 3}, eta.data());
  add(eta);
  const Vector weights = v.cwiseAbs();
  std::vector<Moments> moments(list.size());
  x.moments(list, {weights, weights.sum(), (weights.array() > 0).count()}, true, moments.data());
  for (const Moments& m : moments) all.insert(all.end(), {m.mean, m.deviation, m.squares});
  std::vector<EntryMap> maps;
  for (Index k = 0; k < count; ++k) maps.push_back({static_cast<double>(k), 0.5});
  Eigen::MatrixXd block(n - n / 2, count);
  x.copy_block(list, {n / 2, n - n / 2}, maps, weights.data(), block.data());
  add(block);
  for (const Index j : list) x.for_each_entry(j, [&](Index, double value) { all.push_back(value); });
  return all;
}

std::vector<double> answers_of_copies(const Columns& x, std::span<const Index> list) {
  std::vector<double> all = answers(*x.copy_columns(list), all_of(std::ssize(list)));
  const std::vector<Index> rows{0, x.rows() / 2, x.rows() - 1};
  const std::vector<double> some = answers(*x.copy_rows(list, rows), all_of(std::ssize(list)));
  all.insert(all.end(), some.begin(), some.end());
  return all;
}

// Where two answers differ first; -1: nowhere.
Index first_difference(const std::vector<double>& a, const std::vector<double>& b) {
  const auto found = std::ranges::mismatch(a, b);
  return found.in1 == a.end() && found.in2 == b.end() ? -1 : found.in1 - a.begin();
}

// Too little for all columns, by far and hardly, and enough.
std::vector<Index> budgets(const ColumnFile& file) {
  const Index least = least_memory(file);
  return {least, least + file.cols * file.stride / 2, 4 * (least + file.cols * file.stride)};
}

class EveryType : public testing::TestWithParam<StoredType> {};

TEST_P(EveryType, HasTheSameBitsAsInMemoryWhateverTheMemory) {
  const StoredExample example(GetParam(), 301, 150, 3);
  const Stored truth = example.in_memory();
  std::vector<Stored> others{map_columns(example.file)};
  for (const Index memory : budgets(example.file)) others.push_back(read_columns(example.file, memory));
  for (const Stored& other : others)
    for (const auto& list : lists(example.file.cols)) {
      const std::vector<double> wanted = answers(*truth, list);
      EXPECT_EQ(first_difference(answers(*other, list), wanted), -1);
      const auto expected = other->expect(list);
      EXPECT_EQ(first_difference(answers(*other, list), wanted), -1);
      EXPECT_EQ(first_difference(answers_of_copies(*other, list), answers_of_copies(*truth, list)), -1);
    }
}

TEST_P(EveryType, LongColumnsAreReadInPieces) {
  const StoredExample example(GetParam(), 300'001, 5, 1);
  const Stored truth = example.in_memory();
  const auto list = all_of(5);
  const Stored x = read_columns(example.file, least_memory(example.file));
  EXPECT_EQ(first_difference(answers(*x, list), answers(*truth, list)), -1);
}

INSTANTIATE_TEST_SUITE_P(ColumnFile, EveryType, testing::ValuesIn(kTypes),
                         [](const auto& of) { return std::string(row_of(of.param).name); });

// Threads that want different columns in different orders, some with plans, some of which end early.
TEST(ColumnFile, SeveralThreadsShareLittleMemory) {
  const StoredExample example(StoredType::kInt16, 700, 400);
  const Stored truth = example.in_memory();
  for (const Index memory : budgets(example.file)) {
    const Stored shared = read_columns(example.file, memory);
    const auto lists_of_all = lists(example.file.cols);
    std::vector<std::thread> threads;
    std::vector<int> wrong(6);
    for (std::size_t t = 0; t < wrong.size(); ++t)
      threads.emplace_back([&, t] {
        for (std::size_t round = 0; round < 4; ++round) {
          const auto& list = lists_of_all[(t + round) % lists_of_all.size()];
          const auto expected = round % 2 == 0 ? shared->expect(list) : nullptr;
          const auto given_up = t % 2 == 0 ? shared->expect(lists_of_all[0]) : nullptr;
          const std::vector<Index> half(list.begin(), list.begin() + std::ssize(list) / 2);
          wrong[t] += answers(*shared, half) != answers(*truth, half);
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(wrong.size()));
  }
}

std::string fault_of(const Columns& x, std::span<const Index> list) {
  try {
    const auto expected = x.expect(list);
    answers(x, list);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(ColumnFile, AFileThatIsCutIsAnErrorWhereverReadersAre) {
  const StoredExample example(StoredType::kFloat, 2000, 500);
  const auto list = all_of(500);
  for (const bool planned : {false, true}) {
    example.folder.write("columns",
                         {reinterpret_cast<const char*>(example.bytes.data()), example.bytes.size()});
    const Stored x = read_columns(example.file, least_memory(example.file));
    const auto expected = planned ? x->expect(list) : nullptr;
    Vector v = Vector::Ones(2000), out(500);
    x->correlate(std::span(list).first(100), v.data(), out.data());
    std::filesystem::resize_file(example.file.path, example.bytes.size() / 2);
    const std::string fault = fault_of(*x, list);
    EXPECT_NE(fault.find("columns: the file has become shorter"), std::string::npos) << fault;
    EXPECT_NE(fault_of(*x, list), "");  // and stays one
  }
  EXPECT_THROW(read_columns(example.file, least_memory(example.file)), DataError);
  EXPECT_THROW(map_columns(example.file), DataError);
}

TEST(ColumnFile, AFileThatChangesIsAnError) {
  const StoredExample example(StoredType::kInt8, 1000, 300);
  const auto list = all_of(300);
  const Stored x = read_columns(example.file, least_memory(example.file));
  EXPECT_EQ(fault_of(*x, list), "");
  std::filesystem::last_write_time(
      example.file.path, std::filesystem::last_write_time(example.file.path) + std::chrono::seconds(1));
  EXPECT_NE(fault_of(*x, list).find("the file has changed"), std::string::npos);
}

TEST(ColumnFile, DamagedColumnsAreFoundByTheirChecksums) {
  StoredExample example(StoredType::kUint8, 999, 40);
  const auto bytes = static_cast<std::size_t>(column_bytes(example.file.type, example.file.rows));
  for (Index j = 0; j < 40; ++j)
    example.file.checksums.push_back(
        checksum({example.bytes.data() + example.file.offset + j * example.file.stride, bytes}));
  const auto list = all_of(40);
  EXPECT_EQ(fault_of(*read_columns(example.file, least_memory(example.file)), list), "");
  EXPECT_EQ(fault_of(*map_columns(example.file), list), "");
  std::fstream file(example.file.path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(example.file.offset) + 17 * example.file.stride + 998);
  file.put(101);
  file.close();
  const Stored x = read_columns(example.file, least_memory(example.file));
  EXPECT_NE(fault_of(*x, list).find("column 17: the file is damaged"), std::string::npos);
  EXPECT_THROW(map_columns(example.file), DataError);
}

TEST(ColumnFile, TooLittleMemoryIsRefusedWithWhatWouldDo) {
  const StoredExample example(StoredType::kDouble, 5000, 100);
  const Index least = least_memory(example.file);
  EXPECT_THROW(read_columns(example.file, least - 1), InvalidArgument);
  EXPECT_EQ(answers(*read_columns(example.file, least), all_of(100)),
            answers(*example.in_memory(), all_of(100)));
  try {
    open_columns(example.file, 1);
    FAIL();
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    const Index megabytes = std::stol(text.substr(text.find("at least ") + 9));
    EXPECT_TRUE(open_columns(example.file, megabytes << 20)->is_slow());
  }
}

// The file is four times what fits: what the first pass kept is not read again, and what short lists want
// stays whatever else is read.
TEST(ColumnFile, PassesDoNotDriveOutWhatShortListsWant) {
  const StoredExample example(StoredType::kDouble, 512, 2000);
  const auto list = all_of(2000);
  const Index whole = 2000 * example.file.stride;
  const Stored x = read_columns(example.file, least_memory(example.file) + whole / 4);
  Vector v = Vector::Ones(512), out(2000);
  const auto read_by = [&](std::span<const Index> columns) {
    const auto before = x->bytes_read();
    const auto expected = x->expect(columns);
    x->correlate(columns, v.data(), out.data());
    return static_cast<Index>(x->bytes_read() - before);
  };
  EXPECT_LE(read_by(list), whole + whole / 10);
  EXPECT_LE(read_by(list), whole * 9 / 10);
  const std::vector<Index> few{1700, 1710, 1720, 1990};
  EXPECT_GT(read_by(few), 0);
  read_by(list);
  read_by(list);
  EXPECT_EQ(read_by(few), 0);
}

TEST(FrameCache, GivesAwayWhatNobodyAskedForLongest) {
  FrameCache cache(100, 8, 4);
  for (Index j = 0; j < 4; ++j) cache.unpin(cache.take(j, true));  // kept
  for (Index j = 10; j < 30; ++j) cache.unpin(cache.take(j, false));
  for (Index j = 0; j < 4; ++j) EXPECT_NE(cache.find(j), FrameCache::kNone);
  for (Index j = 26; j < 30; ++j) EXPECT_NE(cache.find(j), FrameCache::kNone);
  cache.keep(cache.find(0));
  cache.unpin(cache.take(50, true));  // instead of 1
  EXPECT_EQ(cache.find(1), FrameCache::kNone);
  EXPECT_NE(cache.find(0), FrameCache::kNone);
  cache.keep(cache.find(29));  // from the ring, instead of 2
  cache.unpin(cache.take(60, false));
  cache.unpin(cache.take(61, false));
  EXPECT_EQ(cache.find(2), FrameCache::kNone);
  EXPECT_NE(cache.find(29), FrameCache::kNone);
}

TEST(FrameCache, PinnedFramesAreGivenToNobody) {
  FrameCache cache(100, 3, 2);
  for (Index j = 0; j < 3; ++j) EXPECT_NE(cache.take(j, true), FrameCache::kNone);
  EXPECT_EQ(cache.take(3, true), FrameCache::kNone);
  EXPECT_EQ(cache.take(3, false), FrameCache::kNone);
  cache.unpin(cache.find(1));
  EXPECT_NE(cache.take(3, true), FrameCache::kNone);
  EXPECT_EQ(cache.find(1), FrameCache::kNone);
}

}  // namespace
}  // namespace tyto

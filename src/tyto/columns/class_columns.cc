#include "tyto/columns/class_columns.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tyto {
namespace {

class ClassColumns final : public Columns {
 public:
  ClassColumns(std::shared_ptr<const Columns> base, Index classes)
      : Columns(base->rows() * classes, base->cols() * classes, base->is_sparse()),
        base_(std::move(base)),
        classes_(classes) {}

  std::string storage() const override { return base_->storage(); }
  Index entries() const override { return base_->entries() * classes_; }
  Index entries(std::span<const Index> columns) const override {
    Index sum = 0;
    for (; !columns.empty(); columns = rest(columns)) {
      const Chunk chunk(*this, columns);
      sum += base_->entries(chunk.columns());
    }
    return sum;
  }

  bool is_slow() const override { return base_->is_slow(); }
  std::uint64_t bytes_read() const override { return base_->bytes_read(); }
  std::shared_ptr<const void> expect(std::span<const Index> columns) const override {
    std::vector<Index> own;  // each once, where its classes stand side by side
    for (const Index number : columns)
      if (own.empty() || own.back() != number / classes_) own.push_back(number / classes_);
    return base_->expect(own);
  }

  // Of each chunk the columns of one class together; they stay in the cache for the next class.
  void correlate(std::span<const Index> columns, const double* v, double* out) const override {
    for (; !columns.empty(); columns = rest(columns)) {
      const std::size_t count = std::min(columns.size(), kChunk);
      for (Index c = 0; c < classes_; ++c) {
        std::array<Index, kChunk> own;
        std::array<std::size_t, kChunk> place;
        std::array<double, kChunk> sums;
        std::size_t found = 0;
        for (std::size_t k = 0; k < count; ++k) {
          if (columns[k] % classes_ != c) continue;
          own[found] = columns[k] / classes_;
          place[found++] = k;
        }
        if (found == 0) continue;
        base_->correlate({own.data(), found}, v + c * base_->rows(), sums.data());
        for (std::size_t k = 0; k < found; ++k) out[place[k]] = sums[k];
      }
      out += count;
    }
  }

  void combine(std::span<const Index> columns, const double* factors, RowRange rows,
               double* eta) const override {
    for (const Index number : columns) {
      const Index first = first_row(number);
      const Index j = number / classes_;
      if (const RowRange own = own_rows(number, rows); own.length > 0)
        base_->combine({&j, 1}, factors, own, eta + first);
      ++factors;
    }
  }

  void moments(std::span<const Index> columns, const RowWeights& rows, bool center,
               Moments* out) const override {
    for (; !columns.empty(); columns = rest(columns)) {
      const Chunk chunk(*this, columns);
      base_->moments(chunk.columns(), rows, center, out);
      out += chunk.columns().size();
    }
  }

  void copy_block(std::span<const Index> columns, RowRange rows, std::span<const EntryMap> maps,
                  const double* roots, double* out) const override {
    std::fill_n(out, rows.length * std::ssize(columns), 0.0);
    auto map = maps.begin();
    for (const Index number : columns) {
      const Index j = number / classes_;
      if (const RowRange own = own_rows(number, rows); own.length > 0)
        base_->copy_block({&j, 1}, own, {&*map, 1}, roots,
                          out + (first_row(number) + own.begin - rows.begin));
      ++map;
      out += rows.length;
    }
  }

  Index read_entries(Index column, Index first, EntryChunk& chunk) const override {
    const Index count = base_->read_entries(column / classes_, first, chunk);
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) chunk.row[k] += first_row(column);
    return count;
  }

 private:
  static constexpr std::size_t kChunk = 64;

  // The columns of the base that the first few of a list stand for.
  class Chunk {
   public:
    Chunk(const ClassColumns& of, std::span<const Index> list) : count_(std::min(list.size(), kChunk)) {
      for (std::size_t k = 0; k < count_; ++k) own_[k] = list[k] / of.classes_;
    }
    std::span<const Index> columns() const { return {own_.data(), count_}; }

   private:
    std::array<Index, kChunk> own_;
    std::size_t count_;
  };
  static std::span<const Index> rest(std::span<const Index> list) {
    return list.subspan(std::min(list.size(), kChunk));
  }

  Index first_row(Index number) const { return number % classes_ * base_->rows(); }
  // Which of these rows belong to the column's class, counted from the first of that class.
  RowRange own_rows(Index number, RowRange rows) const {
    const Index first = first_row(number);
    const Index begin = std::max(rows.begin, first);
    const Index end = std::min(rows.begin + rows.length, first + base_->rows());
    return {begin - first, std::max<Index>(0, end - begin)};
  }

  std::shared_ptr<const Columns> base_;
  Index classes_;
};

}  // namespace

std::shared_ptr<const Columns> class_columns(std::shared_ptr<const Columns> base, Index classes) {
  return std::make_shared<const ClassColumns>(std::move(base), classes);
}

}  // namespace tyto

#include "tests/support/column_files.h"

#include <cstring>
#include <random>
#include <string_view>

namespace tyto {
namespace {

template <class Number>
void fill(std::byte* to, Index count, std::mt19937_64& random) {
  std::uniform_int_distribution<int> some(0, 100);
  for (Index i = 0; i < count; ++i) {
    const auto number = static_cast<Number>(some(random));
    std::memcpy(to + i * static_cast<Index>(sizeof number), &number, sizeof number);
  }
}

void fill(StoredType type, std::byte* to, Index rows, std::mt19937_64& random) {
  switch (type) {
    case StoredType::kDouble:
      return fill<double>(to, rows, random);
    case StoredType::kFloat:
      return fill<float>(to, rows, random);
    case StoredType::kInt8:
      return fill<std::int8_t>(to, rows, random);
    case StoredType::kUint8:
      return fill<std::uint8_t>(to, rows, random);
    case StoredType::kInt16:
      return fill<std::int16_t>(to, rows, random);
    case StoredType::kGenotype:
      return fill<std::uint8_t>(to, column_bytes(type, rows), random);
  }
}

}  // namespace

StoredExample::StoredExample(StoredType type, Index rows, Index cols, Index gap) {
  constexpr Index kOffset = 192;
  const Index column = (column_bytes(type, rows) + 7) / 8 * 8;
  file = {folder.path("columns"), type, rows, cols, kOffset, column + 8 * gap};
  bytes.resize(static_cast<std::size_t>(kOffset + cols * file.stride + 8), std::byte{255});
  std::mt19937_64 random(static_cast<std::uint64_t>(rows * 1000 + cols));
  std::uniform_real_distribution<double> mean(0, 2);
  for (Index j = 0; j < cols; ++j) {
    fill(type, bytes.data() + kOffset + j * file.stride, rows, random);
    if (type == StoredType::kGenotype) file.filling.push_back(mean(random));
  }
  folder.write("columns", std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

std::shared_ptr<const Columns> StoredExample::in_memory() const {
  return stored_columns(
      {file.type, bytes.data() + file.offset, file.rows, file.cols, file.stride, file.filling}, nullptr);
}

}  // namespace tyto

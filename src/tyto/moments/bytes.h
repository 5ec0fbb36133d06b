#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tyto/base/error.h"
#include "tyto/moments/moments.h"

// How packing.h writes numbers and reads them back.
namespace tyto::bytes {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are in memory");

inline constexpr std::size_t kWord = 8;

// FNV-1a over words of 8 bytes, and then over what is left.
inline std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0x100000001b3U;
    hash ^= hash >> 29;
  };
  while (bytes.size() >= kWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), kWord);
    add(word);
    bytes.remove_prefix(kWord);
  }
  for (const char c : bytes) add(static_cast<unsigned char>(c));
  return hash;
}

class Writer {
 public:
  explicit Writer(std::string_view kind) : bytes_(kind) {}

  void put(std::uint64_t word) { append(&word, kWord); }
  void put(Index number) { put(static_cast<std::uint64_t>(number)); }
  void put(double number) { append(&number, kWord); }
  void put(const std::string& text) {
    put(std::uint64_t{text.size()});
    append(text.data(), text.size());
  }
  void put(const Vector& v) {
    put(v.size());
    append(v.data(), static_cast<std::size_t>(v.size()) * kWord);
  }
  void put(const Matrix& m) {
    put(m.rows());
    put(m.cols());
    append(m.data(), static_cast<std::size_t>(m.size()) * kWord);
  }
  void put(const IndexSet& numbers) {
    put(std::uint64_t{numbers.size()});
    for (const Index number : numbers) put(number);
  }
  void put(const std::vector<std::string>& texts) {
    put(std::uint64_t{texts.size()});
    for (const std::string& one : texts) put(one);
  }
  void put(const RowFingerprint& print) {
    put(print.rows);
    put(print.sum);
  }
  // Each number as the sum of two doubles.
  void put(const Means& means) {
    const Vector high = means.cast<double>();
    put(high);
    put(Vector((means - high.cast<long double>()).cast<double>()));
  }
  // The lower triangle.
  void put_symmetric(const Matrix& m) {
    put(m.cols());
    for (Index j = 0; j < m.cols(); ++j)
      append(m.col(j).data() + j, static_cast<std::size_t>(m.rows() - j) * kWord);
  }
  std::string finish() && {
    put(checksum(bytes_));
    return std::move(bytes_);
  }

 private:
  void append(const void* data, std::size_t size) { bytes_.append(static_cast<const char*>(data), size); }

  std::string bytes_;
};

class Reader {
 public:
  Reader(std::string_view bytes, std::string_view kind, const std::string& name) : rest_(bytes), name_(name) {
    if (!bytes.starts_with(kind)) fail("expected Tyto's moments of this version, got something else");
    if (bytes.size() < kind.size() + kWord) fail_cut();
    std::uint64_t stated = 0;
    std::memcpy(&stated, bytes.data() + bytes.size() - kWord, kWord);
    rest_.remove_suffix(kWord);
    if (stated != checksum(rest_))
      fail("expected the checksum of its bytes, got another: cut off or damaged");
    rest_.remove_prefix(kind.size());
  }

  [[noreturn]] void fail(const std::string& message) const { throw DataError(name_ + ": " + message); }

  std::uint64_t word() {
    std::uint64_t result = 0;
    take(&result, kWord);
    return result;
  }
  double number() { return std::bit_cast<double>(word()); }
  // A number of things that take `size` bytes each, at least.
  Index count(std::size_t size = kWord) {
    const std::uint64_t result = word();
    if (result > rest_.size() / size) fail_cut();
    return static_cast<Index>(result);
  }
  Index size() {  // of a dimension, or a number of rows
    const std::uint64_t result = word();
    if (result >> 53 != 0) fail_cut();
    return static_cast<Index>(result);
  }
  std::string text() {
    std::string result(static_cast<std::size_t>(count(1)), '\0');
    take(result.data(), result.size());
    return result;
  }
  Vector vector() {
    Vector result(count());
    take(result.data(), static_cast<std::size_t>(result.size()) * kWord);
    return result;
  }
  Matrix matrix() {
    const Index rows = size();
    const Index cols = size();
    if (rows > 0 && cols > static_cast<Index>(rest_.size() / kWord) / rows) fail_cut();
    Matrix result(rows, cols);
    take(result.data(), static_cast<std::size_t>(result.size()) * kWord);
    return result;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> result(static_cast<std::size_t>(count()));
    for (std::string& one : result) one = text();
    return result;
  }
  IndexSet numbers() {
    IndexSet result(static_cast<std::size_t>(count()));
    for (Index& one : result) one = size();
    return result;
  }
  RowFingerprint fingerprint() {
    const Index rows = size();
    return {rows, word()};
  }
  Means means() {
    const Vector high = vector();
    const Vector low = vector();
    if (low.size() != high.size()) fail_cut();
    return high.cast<long double>() + low.cast<long double>();
  }
  Matrix symmetric() {
    const Index n = count();
    if (n > 0 && n > static_cast<Index>(rest_.size() / kWord) * 2 / n) fail_cut();
    Matrix result(n, n);
    for (Index j = 0; j < n; ++j) {
      take(result.col(j).data() + j, static_cast<std::size_t>(n - j) * kWord);
      for (Index i = j + 1; i < n; ++i) result(j, i) = result(i, j);
    }
    return result;
  }
  void end() const {
    if (!rest_.empty()) fail("expected the end, got more bytes");
  }

 private:
  [[noreturn]] void fail_cut() const { fail("expected more bytes, got the end: cut off or damaged"); }
  void take(void* to, std::size_t size) {
    if (size > rest_.size()) fail_cut();
    if (size > 0) std::memcpy(to, rest_.data(), size);
    rest_.remove_prefix(size);
  }

  std::string_view rest_;
  const std::string& name_;
};

}  // namespace tyto::bytes

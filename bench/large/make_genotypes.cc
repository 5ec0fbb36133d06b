// Simulated genotypes 0, 1 and 2 in blocks of 50 columns in linkage, as PLINK's .bed, .bim and .fam, and as
// .npy matrices in Fortran order: the same bytes on every machine, a column at a time, in memory of a few
// columns.
//
//   tyto_make_genotypes ROWS COLUMNS SEED PREFIX [bed] [i1] [f4] [f8] [missing=PERCENT]
//
// writes PREFIX.bed, .bim and .fam (with the response), PREFIX.i1.npy, PREFIX.f4.npy and PREFIX.f8.npy, as
// asked for (nothing said: bed), and PREFIX.y.npy. A chromosome has the allele of the column before with
// probability 0.95, or draws it anew, by a frequency of 0.05 to 0.5 that is the block's; a person has two of
// them. Half the variance of the response comes from 100 columns.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Words = std::vector<std::uint64_t>;

constexpr std::size_t kBlock = 50, kCausal = 100;

// SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double nearly_normal() {  // without functions that differ between machines
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += uniform();
    return sum;
  }
  // 64 bits, each 1 with probability `parts` / 256.
  std::uint64_t bits(unsigned parts) {
    std::uint64_t result = 0;
    for (unsigned left = parts | 256; left != 1; left >>= 1)
      result = left & 1 ? result | next() : result & next();
    return result;
  }

 private:
  std::uint64_t state_;
};

// Bit k of the lower half becomes bit 2k.
std::uint64_t spread(std::uint64_t x) {
  x &= 0xffffffff;
  x = (x | x << 16) & 0x0000ffff0000ffff;
  x = (x | x << 8) & 0x00ff00ff00ff00ff;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
  x = (x | x << 2) & 0x3333333333333333;
  return (x | x << 1) & 0x5555555555555555;
}

// The columns, one after the other, as the codes of a .bed file.
class Genotypes {
 public:
  Genotypes(std::size_t rows, std::uint64_t seed, unsigned missing)
      : rows_(rows),
        seed_(seed),
        missing_(missing),
        one_((rows + 63) / 64),
        two_(one_.size()),
        codes_(2 * one_.size()) {}

  const Words& next() {
    constexpr unsigned kAnew = 13;  // of 256: 0.05
    const std::size_t block = column_ / kBlock;
    const bool first = column_++ % kBlock == 0;
    if (first) {
      random_ = Random(seed_ + 0x632be59bd9b4e019 * (block + 1));
      frequency_ = 13 + static_cast<unsigned>(random_.next() % 116);
    }
    for (std::size_t k = 0; k < one_.size(); ++k) {
      for (std::uint64_t* allele : {&one_[k], &two_[k]}) {
        const std::uint64_t drawn = random_.bits(frequency_);
        const std::uint64_t anew = first ? ~std::uint64_t{0} : random_.bits(kAnew);
        *allele = (*allele & ~anew) | (drawn & anew);
      }
      const std::uint64_t gone = missing_ > 0 ? random_.bits(missing_) : 0;
      // 2 copies: 00, 1: 10, 0: 11, missing: 01.
      const std::uint64_t low = ~(one_[k] | two_[k]) | gone;
      const std::uint64_t high = ~(one_[k] & two_[k]) & ~gone;
      codes_[2 * k] = spread(low) | spread(high) << 1;
      codes_[2 * k + 1] = spread(low >> 32) | spread(high >> 32) << 1;
    }
    clear_padding();
    return codes_;
  }

  // 2, missing (-1), 1 and 0, by row.
  void values(std::vector<std::int8_t>& out) const {
    constexpr std::array<std::int8_t, 4> kValue{2, -1, 1, 0};
    for (std::size_t i = 0; i < rows_; ++i) out[i] = kValue[codes_[i / 32] >> (2 * (i % 32)) & 3];
  }

 private:
  void clear_padding() {
    for (std::size_t i = rows_; i < 32 * codes_.size(); ++i)
      codes_[i / 32] &= ~(std::uint64_t{3} << (2 * (i % 32)));
  }

  std::size_t rows_;
  std::uint64_t seed_;
  unsigned missing_;  // of 256
  Words one_, two_;   // an allele of each person: a bit each
  Words codes_;
  std::size_t column_ = 0;
  unsigned frequency_ = 0;
  Random random_{0};
};

class File {
 public:
  explicit File(const std::string& name) : name_(name), out_(std::fopen(name.c_str(), "wb")) {
    if (!out_) throw std::runtime_error(name + ": cannot be written");
    std::setvbuf(out_.get(), nullptr, _IOFBF, 1 << 20);
  }
  void write(const void* data, std::size_t bytes) {
    if (std::fwrite(data, 1, bytes, out_.get()) != bytes) throw std::runtime_error(name_ + ": disk full?");
  }
  void write(std::string_view text) { write(text.data(), text.size()); }
  void close() {
    if (std::fclose(out_.release()) != 0) throw std::runtime_error(name_ + ": disk full?");
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string name_;
  std::unique_ptr<std::FILE, Close> out_;
};

// An .npy file of so many numbers, by columns.
File npy(const std::string& name, const std::string& type, const std::string& shape) {
  std::string text = "{'descr': '" + type + "', 'fortran_order': True, 'shape': (" + shape + "), }";
  text.append((64 - (10 + text.size() + 1) % 64) % 64, ' ').push_back('\n');
  File file(name);
  file.write(std::string_view("\x93NUMPY\x01\x00", 8));
  const std::array<char, 2> length{static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
  file.write(length.data(), 2);
  file.write(text);
  return file;
}

struct Wanted {
  std::size_t rows, cols;
  std::uint64_t seed;
  std::string prefix;
  bool bed = false, i1 = false, f4 = false, f8 = false;
  unsigned missing = 0;
};

// What some columns add to the response, standardised.
class Response {
 public:
  Response(const Wanted& of) : random_(of.seed ^ 0x1234567), y_(of.rows, 0.0) {
    for (std::size_t k = 0; k < std::min(kCausal, of.cols); ++k) columns_.push_back(random_.next() % of.cols);
  }
  void add(std::size_t column, const std::vector<std::int8_t>& values) {
    for (const std::size_t causal : columns_) {
      if (causal != column) continue;
      const double effect = random_.nearly_normal();
      const auto [mean, deviation] = moments(values);
      for (std::size_t i = 0; deviation > 0 && i < y_.size(); ++i)
        if (values[i] >= 0) y_[i] += effect * (values[i] - mean) / deviation;
    }
  }
  bool needs(std::size_t column) const {
    return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
  }
  const std::vector<double>& finish() {  // as much noise as there is signal
    double squares = 0;
    for (const double value : y_) squares += value * value;
    const double size = std::sqrt(squares / static_cast<double>(y_.size()));
    for (double& value : y_) value += size * random_.nearly_normal();
    return y_;
  }

 private:
  struct Moments {
    double mean, deviation;
  };
  static Moments moments(const std::vector<std::int8_t>& values) {
    double count = 0, sum = 0, squares = 0;
    for (const std::int8_t value : values) {
      if (value < 0) continue;
      count += 1;
      sum += value;
      squares += value * value;
    }
    const double mean = count > 0 ? sum / count : 0;
    return {mean, count > 0 ? std::sqrt(squares / count - mean * mean) : 0};
  }

  Random random_;
  std::vector<std::size_t> columns_;
  std::vector<double> y_;
};

template <class Scalar>
void write_as(File& file, const std::vector<std::int8_t>& values, std::vector<Scalar>& room) {
  room.assign(values.begin(), values.end());
  file.write(room.data(), room.size() * sizeof(Scalar));
}

void write_matrices(const Wanted& wanted, Response& response) {
  Genotypes genotypes(wanted.rows, wanted.seed, wanted.missing);
  std::vector<std::int8_t> values(wanted.rows);
  std::vector<float> floats;
  std::vector<double> doubles;
  const std::string shape = std::to_string(wanted.rows) + ", " + std::to_string(wanted.cols);
  std::vector<File> bed, i1, f4, f8;  // none or one of each
  if (wanted.bed) {
    bed.emplace_back(wanted.prefix + ".bed");
    bed[0].write(std::string_view("\x6c\x1b\x01", 3));
  }
  if (wanted.i1) i1.push_back(npy(wanted.prefix + ".i1.npy", "|i1", shape));
  if (wanted.f4) f4.push_back(npy(wanted.prefix + ".f4.npy", "<f4", shape));
  if (wanted.f8) f8.push_back(npy(wanted.prefix + ".f8.npy", "<f8", shape));
  for (std::size_t j = 0; j < wanted.cols; ++j) {
    const Words& codes = genotypes.next();
    for (File& file : bed) file.write(codes.data(), (wanted.rows + 3) / 4);
    if (i1.empty() && f4.empty() && f8.empty() && !response.needs(j)) continue;
    genotypes.values(values);
    response.add(j, values);
    for (File& file : i1) file.write(values.data(), values.size());
    for (File& file : f4) write_as(file, values, floats);
    for (File& file : f8) write_as(file, values, doubles);
  }
  for (std::vector<File>* files : {&bed, &i1, &f4, &f8})
    for (File& file : *files) file.close();
}

void write_tables(const Wanted& wanted, const std::vector<double>& y) {
  File response = npy(wanted.prefix + ".y.npy", "<f8", std::to_string(wanted.rows) + ",");
  response.write(y.data(), y.size() * sizeof(double));
  response.close();
  if (!wanted.bed) return;
  File fam(wanted.prefix + ".fam"), bim(wanted.prefix + ".bim");
  for (std::size_t i = 0; i < wanted.rows; ++i) fam.write(fmt::format("f{0} i{0} 0 0 0 {1:.17g}\n", i, y[i]));
  for (std::size_t j = 0; j < wanted.cols; ++j)
    bim.write(fmt::format("1\trs{}\t0\t{}\tA\tG\n", j, 100 * (j + 1)));
  fam.close();
  bim.close();
}

Wanted wanted(int count, char** words) {
  if (count < 5)
    throw std::runtime_error(
        "usage: tyto_make_genotypes ROWS COLUMNS SEED PREFIX [bed] [i1] [f4] [f8] [missing=PERCENT]");
  Wanted result{std::stoul(words[1]), std::stoul(words[2]), std::stoull(words[3]), words[4]};
  if (result.rows == 0 || result.cols == 0) throw std::runtime_error("want rows and columns");
  for (int k = 5; k < count; ++k) {
    const std::string word = words[k];
    if (word == "bed")
      result.bed = true;
    else if (word == "i1")
      result.i1 = true;
    else if (word == "f4")
      result.f4 = true;
    else if (word == "f8")
      result.f8 = true;
    else if (word.starts_with("missing="))
      result.missing = static_cast<unsigned>(std::stod(word.substr(8)) * 2.56);
    else
      throw std::runtime_error("want bed, i1, f4, f8 or missing=PERCENT, got " + word);
  }
  result.bed |= !result.i1 && !result.f4 && !result.f8;
  if (result.missing > 0 && (result.i1 || result.f4 || result.f8))
    throw std::runtime_error("missing: only in bed");
  return result;
}

}  // namespace

int main(int count, char** words) try {
  const Wanted all = wanted(count, words);
  Response response(all);
  write_matrices(all, response);
  write_tables(all, response.finish());
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}

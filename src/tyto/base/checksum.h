#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tyto {

// Tells bytes apart that a disk or a program has damaged; no defence against forgery. Four sums over every
// fourth word, each multiplied and turned at every step, so that they are made side by side.
inline std::uint64_t checksum(std::span<const std::byte> bytes) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;
  std::array<std::uint64_t, 4> sums{1, 2, 3, bytes.size()};
  std::size_t k = 0;
  std::array<std::uint64_t, 4> words{};
  const auto add = [&] {
    for (std::size_t lane = 0; lane < 4; ++lane)
      sums[lane] = std::rotl((sums[lane] ^ words[lane]) * kFactor, 29);
  };
  for (; k + sizeof words <= bytes.size(); k += sizeof words) {
    std::memcpy(words.data(), bytes.data() + k, sizeof words);
    add();
  }
  words = {};
  if (k < bytes.size()) std::memcpy(words.data(), bytes.data() + k, bytes.size() - k);
  add();
  std::uint64_t result = 0;
  for (const std::uint64_t sum : sums) {
    result = (result ^ sum) * kFactor;
    result ^= result >> 32;
  }
  return result;
}

}  // namespace tyto

#include "tyto/base/nearest.h"

#include <algorithm>
#include <cstddef>

#include "tyto/base/names.h"

namespace tyto {
namespace {

constexpr std::size_t kLongest = 64;  // of words that are compared

std::string folded(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_' || c == ' ') c = '-';
  }
  return out;
}

// The optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + other});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

// How many letters may be wrong.
std::size_t allowance(std::size_t length) {
  if (length < 3) return length / 2;
  if (length < 6) return 1;
  return length < 10 ? 2 : 3;
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  if (word.empty() || word.size() > kLongest) return {};
  const std::string wanted = folded(word);
  const std::string* found = nullptr;
  std::size_t least = allowance(wanted.size()) + 1;
  for (const std::string& candidate : known) {
    if (candidate.size() > wanted.size() + least || candidate.size() + least < wanted.size()) continue;
    const std::size_t d = distance(wanted, folded(candidate));
    const bool other = d > 0 && wanted.size() < 3 && candidate.size() <= wanted.size();  // x1 and x2
    if (d >= least || other) continue;
    least = d;
    found = &candidate;
  }
  if (found != nullptr) return *found;
  constexpr std::size_t kShortestBeginning = 2;
  const auto begins = [&](const std::string& candidate) { return folded(candidate).starts_with(wanted); };
  if (wanted.size() < kShortestBeginning || std::ranges::count_if(known, begins) != 1) return {};
  return *std::ranges::find_if(known, begins);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const auto found = nearest(word, known);
  return found ? "; did you mean '" + *found + "'?" : "";
}

std::string unknown_word(std::string_view what, std::string_view word,
                         const std::vector<std::string>& known) {
  return std::string(what) + " '" + std::string(word) + "'; known: " + joined(known) +
         did_you_mean(word, known);
}

}  // namespace tyto

// The parser of doubles for standard libraries without std::from_chars, beside the one that this library has.
// The file is compiled once more, under another namespace.
#define TYTO_OWN_PARSE_DOUBLE
#define tyto tyto_without_from_chars
#include "../../../src/tyto/data/text.cc"
#undef tyto

#include <gtest/gtest.h>

#include <bit>
#include <random>

namespace {

void expect_same(const std::string& text) {
  SCOPED_TRACE(text);
  const char* begin = text.data();
  const char* end = begin + text.size();
  double ours = -7;
  double theirs = -7;
  const char* stop = tyto_without_from_chars::parse_any_number(begin, end, ours);
  const bool plus = text.starts_with("+") && !text.starts_with("+-");
  const auto [there, error] = std::from_chars(begin + plus, end, theirs);
  if (error == std::errc::invalid_argument || text.starts_with("+-")) {
    EXPECT_EQ(stop, begin);
    return;
  }
  EXPECT_EQ(stop - begin, there - begin);
  if (error == std::errc())
    EXPECT_TRUE(std::bit_cast<std::uint64_t>(ours) == std::bit_cast<std::uint64_t>(theirs) ||
                (std::isnan(ours) && std::isnan(theirs)))
        << ours << " " << theirs;
  else
    EXPECT_TRUE(ours == 0 || std::isinf(ours)) << ours;
}

TEST(OwnParseDouble, TakesWhatTheLibraryTakes) {
  for (const char* text : {"1",
                           "-1.5",
                           "+2",
                           "+-2",
                           ".5",
                           "5.",
                           ".",
                           "-",
                           "",
                           "1e5",
                           "1e+5",
                           "1e-5",
                           "1e",
                           "1e+",
                           "1.5e3x",
                           "0x10",
                           "inf",
                           "-inf",
                           "INFINITY",
                           "infinit",
                           "nan",
                           "-nan",
                           "NaN",
                           "abc",
                           "1e999",
                           "-1e999",
                           "1e-999",
                           "0e999",
                           "1,5",
                           " 1",
                           "123456789012345678901234567890",
                           "0.1000000000000000055511151231257827",
                           "4.9e-324",
                           "2.2250738585072011e-308"})
    expect_same(text);
}

TEST(OwnParseDouble, HasTheSameBits) {
  std::mt19937_64 random(11);
  for (int k = 0; k < 20000; ++k) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    expect_same(fmt::format("{}", value));
    expect_same(fmt::format("{:.20g}", value));
  }
}

}  // namespace

#include "tyto/data/text.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <random>

namespace tyto {
namespace {

TEST(Text, ParsesNumbersAsFromCharsDoes) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text;
    if (random() % 3 == 0) text += '-';
    for (auto digits = random() % 12; digits > 0; --digits) text += static_cast<char>('0' + random() % 10);
    if (random() % 2 == 0) text += '.';
    for (auto digits = random() % 12; digits > 0; --digits) text += static_cast<char>('0' + random() % 10);
    if (random() % 4 == 0) text.append(1, 'e').append(std::to_string(static_cast<int>(random() % 600) - 300));
    double expected = 0, value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), expected);
    if (error == std::errc::result_out_of_range) continue;
    const bool whole = error == std::errc() && stop == text.data() + text.size();
    ASSERT_EQ(is_number(text, value), whole) << text;
    if (whole) {
      ASSERT_EQ(value, expected) << text;
    }
  }
}

TEST(Text, ParsesTheOddNumbers) {
  double value = 0;
  EXPECT_TRUE(is_number("+1e5", value));
  EXPECT_EQ(value, 1e5);
  EXPECT_TRUE(is_number("1e-400", value));
  EXPECT_EQ(value, 0);
  EXPECT_TRUE(is_number("-1e400", value));
  EXPECT_EQ(value, -INFINITY);
  EXPECT_TRUE(is_number("nan", value));
  EXPECT_TRUE(std::isnan(value));
  for (const char* text : {"", "+", "-", ".", "+-1", "--1", "1e", "0x10", "1 ", " 1", "1,5", "1..2"})
    EXPECT_FALSE(is_number(text, value)) << text;
}

TEST(Text, QuotesInOneShortLine) {
  EXPECT_EQ(in_quotes("a\nb\x01\xff"), "'a\\x0ab\\x01\\xff'");
  EXPECT_EQ(in_quotes("Gr\xc3\xb6\xc3\x9f"
                      "e"),
            "'Gr\xc3\xb6\xc3\x9f"
            "e'");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "'" + std::string(37, 'x') + "...'");
  EXPECT_EQ(printable("\xc2\x9b\xe2\x80\xa8"),
            "\\xc2\\x9b\\xe2\\x80\\xa8");  // control sequence, line separator
}

}  // namespace
}  // namespace tyto

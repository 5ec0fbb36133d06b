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

TEST(Text, EscapesWhatATerminalActsOn) {
  EXPECT_EQ(printable("\x1b[2J\n\x7f\t"), "\\x1b[2J\\x0a\\x7f\\x09");
  EXPECT_EQ(printable_lines("a\x1b\nb\r\n"), "a\\x1b\nb\\x0d\n");
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\xe2\\x80\\xae"
            "b");  // from here on, right to left
  for (const char* hidden : {"\xe2\x80\x8b", "\xe2\x80\x8f", "\xe2\x81\xa6", "\xd8\x9c", "\xef\xbb\xbf"})
    EXPECT_EQ(printable(hidden).find(hidden), std::string::npos);
  for (const char* shown :
       {"\xe2\x80\x8d", "\xe2\x80\x94", "\xd7\xa9", "\xe2\x81\xb0"})  // Hebrew, dashes, ...
    EXPECT_EQ(printable(shown), shown);
  EXPECT_EQ(valid_utf8("a\xe2\x80\xae\x1b\xff"), "a\xe2\x80\xae\x1b\\xff");  // names are kept as they are
}

TEST(Text, FieldsThatASpreadsheetDoesNotRun) {
  EXPECT_EQ(csv_text("=1+1"), "'=1+1");
  EXPECT_EQ(csv_text("+a"), "'+a");
  EXPECT_EQ(csv_text("-a"), "'-a");
  EXPECT_EQ(csv_text("@a"), "'@a");
  EXPECT_EQ(csv_text("\ta"), "\"'\ta\"");
  EXPECT_EQ(csv_text("\ra"), "\"'\ra\"");
  EXPECT_EQ(csv_text("\xef\xbc\x9d"
                     "a"),
            "'\xef\xbc\x9d"
            "a");
  EXPECT_EQ(csv_text("=a\",b"), "\"'=a\"\",b\"");
  EXPECT_EQ(csv_text("a;=b"), "\"a;=b\"");
  EXPECT_EQ(csv_text("-nan"), "'-nan");
  for (const char* harmless : {"", "a", "-1.5", "+2", "a=b", "1-2", "my name"})
    EXPECT_EQ(csv_text(harmless), harmless);
}

}  // namespace
}  // namespace tyto

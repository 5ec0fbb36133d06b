#include "tyto/base/json.h"

#include <gtest/gtest.h>

#include <functional>

#include "tyto/base/error.h"

namespace tyto {
namespace {

std::string nested(int levels, const std::string& open, const std::string& close) {
  std::string text;
  for (int k = 0; k < levels; ++k) text += open;
  text += "1";
  for (int k = 0; k < levels; ++k) text += close;
  return text;
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Json, DepthHasALimitThatNamesItself) {
  for (const auto& [open, close] : {std::pair("[", "]"), {"{\"a\":", "}"}}) {
    EXPECT_FALSE(parse_json(nested(kJsonDepth, open, close), "x").is_discarded());
    for (const int levels : {kJsonDepth + 1, 200000})
      EXPECT_EQ(refusal([&] { parse_json(nested(levels, open, close), "m.json"); }),
                "m.json: expected JSON, got it nested deeper than 64 levels");
  }
  EXPECT_EQ(refusal([] { parse_json(std::string(100000, '['), "x"); }),
            "x: expected JSON, got it nested deeper than 64 levels");
}

TEST(Json, BracketsInStringsAreNoLevels) {
  const std::string many(1000, '[');
  EXPECT_EQ(parse_json("[\"" + many + "\\\"" + many + "\", 1]", "x")[1], 1);
  EXPECT_EQ(parse_json("[\"\\\\\", [" + nested(60, "[", "]") + "]]", "x")[0], "\\");
  EXPECT_TRUE(parse_json("not JSON", "x").is_discarded());
  EXPECT_TRUE(parse_json("", "x").is_discarded());
  EXPECT_TRUE(parse_json("\"open", "x").is_discarded());
  EXPECT_TRUE(parse_json("\"open\\", "x").is_discarded());
}

TEST(Json, FieldsAreWhatTheySay) {
  const Json json{{"half", 0.5},     {"two", 2},          {"true", true},
                  {"none", nullptr}, {"much", 1e300},     {"most", UINT64_MAX},
                  {"list", {1, 2}},  {"mixed", {1, 0.5}}, {"pairs", {{0, 0.5}, {3, 2}}}};
  EXPECT_EQ(number_at(json, "half"), 0.5);
  EXPECT_EQ(number_at(json, "two"), 2);
  EXPECT_EQ(number_at(json, "gone", 7), 7);
  EXPECT_EQ(whole_number_at(json, "two"), 2);
  EXPECT_EQ(whole_numbers_at(json, "list"), (std::vector<Index>{1, 2}));
  EXPECT_TRUE(whole_numbers_at(json, "gone").empty());
  EXPECT_EQ(numbers_at(json, "mixed"), (std::vector<double>{1, 0.5}));
  EXPECT_EQ(entries_at(json, "pairs"), (std::vector<std::pair<Index, double>>{{0, 0.5}, {3, 2}}));
  EXPECT_THROW(number_at(json, "gone"), nlohmann::json::exception);
  for (const char* field : {"true", "none", "list"})
    EXPECT_NE(refusal([&] { number_at(json, field); }).find(": expected a finite number, got "),
              std::string::npos);
  for (const char* field : {"true", "none", "half", "much", "most", "list"})
    EXPECT_NE(refusal([&] { whole_number_at(json, field); }).find(": expected a whole number, got "),
              std::string::npos);
  EXPECT_EQ(refusal([&] { whole_numbers_at(json, "mixed"); }), "mixed: expected whole numbers, got 0.5");
  EXPECT_EQ(refusal([&] { entries_at(json, "list"); }),
            "list: expected pairs of a column and a finite number, got 1");
}

}  // namespace
}  // namespace tyto

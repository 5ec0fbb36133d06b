#include "tyto/data/csv_survey.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "tyto/base/error.h"
#include "tyto/data/csv_records.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

constexpr std::size_t kMostWords = 1000;  // of one column: beyond, it is no column of categories
constexpr std::size_t kFewWords = 20;     // so many are taken for categories without being told

// Calls use(records, field, text) for each field of each row that is read.
void for_each_cell(const Sources& sources, const CsvLayout& layout,
                   const std::function<void(const Records&, Index, std::string_view)>& use) {
  for (const Source& source : sources) {
    Records records(source);
    std::string_view record;
    if (layout.has_header) records.next(record);
    while (records.next(record)) {
      if (is_comment(record, layout.delimiter, layout.fields())) continue;
      Index field = 0;
      for (Fields fields(record, layout.delimiter); !fields.done() && field < layout.fields(); ++field)
        if (const std::string_view text = fields.next();
            layout.role[static_cast<std::size_t>(field)] != CsvLayout::kSkipped)
          use(records, field, text);
    }
  }
}

// 2020-01-31, 31.01.2020, 1/31/20, with or without a time behind it.
bool is_date(std::string_view text) {
  std::size_t groups = 0, digits = 0;
  char mark = '\0';
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      if (digits++ == 0) ++groups;
      if (digits > 4) return false;
      continue;
    }
    if (groups == 3) return c == ' ' || c == 'T';
    if ((c != '-' && c != '/' && c != '.') || digits == 0 || (mark != '\0' && c != mark)) return false;
    mark = c;
    digits = 0;
  }
  return groups == 3 && digits > 0;
}

// What was found in one column.
struct Found {
  std::size_t numbers = 0, texts = 0, dates = 0, commas = 0;
  std::set<std::string> words;  // at most kMostWords + 1
  std::string first;            // the first text, and its line
  std::string file;
  Index line = 0;

  void add(const Records& records, std::string_view text, bool decimal_comma) {
    double value = 0;
    if (is_missing(text)) return;
    if (decimal_comma ? is_comma_number(text, value) : is_number(text, value) || is_truth(text, value)) {
      ++numbers;
      return;
    }
    if (texts++ == 0) {
      first = text;
      file = printable(records.name());
      line = records.line();
    }
    dates += is_date(text);
    commas += is_comma_number(text, value);
    if (words.size() <= kMostWords) words.insert(valid_utf8(text));
  }
  bool is_typing_error() const { return numbers > 0; }  // in a column of numbers
  bool is_date_column() const { return dates == texts; }
  bool is_words() const { return words.size() <= kFewWords && (texts < 4 || 2 * words.size() <= texts); }
  std::string in_words() const {
    if (is_typing_error())
      return fmt::format("{} in line {}{}", in_quotes(first), line,
                         texts > 1 ? fmt::format(" and {} more", texts - 1) : "");
    if (is_date_column()) return "dates such as " + in_quotes(first);
    if (!is_words()) return "identifiers or free text such as " + in_quotes(first);
    constexpr std::size_t kShown = 3;
    std::vector<std::string> shown;
    for (const std::string& word : words)
      if (shown.size() < kShown) shown.push_back(printable(word).substr(0, 20));
    return fmt::format("{}: {}{}", count_of(std::ssize(words), "word"), fmt::join(shown, ", "),
                       words.size() > kShown ? ", ..." : "");
  }
};

// " --drop a,b", in quotes where a shell would take it apart.
std::string argument(const char* option, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  const std::string list = printable(fmt::format("{}", fmt::join(names, ",")));
  const bool plain = list.find_first_of(" '\"$&|;<>()*?[]#~`!\\") == std::string::npos;
  const std::string quote = plain ? "" : "'";
  return fmt::format(" {} {}{}{}", option, quote, list, quote);
}

// The options that would help.
std::string advice(const CsvLayout& layout, const std::vector<std::pair<Index, Found>>& bad) {
  std::vector<std::string> words, others;
  bool commas = false;
  for (const auto& [field, found] : bad) {
    const bool response = layout.role[static_cast<std::size_t>(field)] == CsvLayout::kResponse;
    if (found.commas > 0 && found.commas == found.texts)
      commas = true;
    else if (response && found.words.size() == 2 && found.numbers == 0)
      return "; a response of two words is for --loss binomial";
    else if (!found.is_typing_error() && !response)
      (found.is_words() && !found.is_date_column() ? words : others).push_back(layout.name(field));
  }
  const std::string text = argument("--one-hot", words) + argument("--drop", others);
  return (commas ? "; --decimal , says that a comma is a decimal mark" : "") +
         (text.empty() ? "" : "; try" + text);
}

}  // namespace

void find_words(const Sources& sources, CsvLayout& layout) {
  std::vector<std::set<std::string>> found(static_cast<std::size_t>(layout.fields()));
  const auto lacks = [](const CsvLayout::Words& words) { return words.what.words.empty(); };
  if (std::ranges::none_of(layout.one_hot, lacks)) return;
  for_each_cell(sources, layout, [&](const Records& records, Index field, std::string_view text) {
    if (layout.words_of(field) == nullptr || is_missing(text)) return;
    std::set<std::string>& words = found[static_cast<std::size_t>(field)];
    words.insert(valid_utf8(text));
    if (words.size() > kMostWords)
      records.fail(fmt::format("{}: expected at most {} different words for --one-hot, got more",
                               layout.describe(field), kMostWords));
  });
  for (CsvLayout::Words& words : layout.one_hot) {
    if (!lacks(words)) continue;
    const std::set<std::string>& all = found[static_cast<std::size_t>(words.field)];
    if (all.empty())
      fail(sources[0].name(), 0, layout.describe(words.field) + ": expected words for --one-hot, got none");
    words.what.words.assign(all.begin(), all.end());
  }
}

void refuse_text(const Sources& sources, const CsvLayout& layout) {
  std::vector<Found> all(static_cast<std::size_t>(layout.fields()));
  for_each_cell(sources, layout, [&](const Records& records, Index field, std::string_view text) {
    if (layout.words_of(field) == nullptr)
      all[static_cast<std::size_t>(field)].add(records, text, layout.decimal_comma);
  });
  std::vector<std::pair<Index, Found>> bad;
  for (Index field = 0; field < layout.fields(); ++field)
    if (all[static_cast<std::size_t>(field)].texts > 0)
      bad.emplace_back(field, all[static_cast<std::size_t>(field)]);
  if (bad.empty()) fail(sources[0].name(), 0, kFileChanged);
  const Found& first = bad[0].second;
  if (bad.size() == 1)
    throw DataError(
        fmt::format("{}:{}: {}: expected a number, got {}{}{}", first.file, first.line,
                    layout.describe(bad[0].first), in_quotes(first.first),
                    first.is_typing_error() || first.texts == 1 ? "" : " (" + first.in_words() + ")",
                    advice(layout, bad)));
  constexpr std::size_t kShown = 12;
  std::vector<std::string> shown;
  for (const auto& [field, found] : bad)
    if (shown.size() < kShown)
      shown.push_back(fmt::format("{} ({})", in_quotes(layout.name(field)), found.in_words()));
  throw DataError(fmt::format(
      "{}:{}: {} columns are not numbers: {}{}{}", first.file, first.line, bad.size(), fmt::join(shown, ", "),
      bad.size() > kShown ? fmt::format(" and {} more", bad.size() - kShown) : "", advice(layout, bad)));
}

void warn_of_row_numbers(const CsvLayout& layout, const Dataset& data, std::vector<std::string>& warnings) {
  constexpr std::array<std::string_view, 8> kNames{"id", "index", "row",    "rownames",
                                                   "nr", "no",    "number", "unnamed: 0"};
  constexpr Index kFewest = 10;
  if (!layout.has_header || data.design.rows() < kFewest) return;
  for (Index f = 0; f < layout.fields(); ++f) {
    const Index role = layout.role[static_cast<std::size_t>(f)];
    if (role < 0 || role >= data.design.cols() || layout.words_of(f) != nullptr) continue;
    const std::string name = layout.name(f);
    if (std::ranges::find(kNames, lower_case(name)) == kNames.end()) continue;
    Vector values = Vector::Zero(data.design.rows());
    data.design.for_each_entry(role, [&](Index row, double value) { values[row] = value; });
    if ((values.tail(values.size() - 1) - values.head(values.size() - 1)).isOnes(0))
      warnings.push_back(fmt::format("column {} only counts the rows;{} leaves it out", in_quotes(name),
                                     argument("--drop", {name})));
  }
}

}  // namespace tyto

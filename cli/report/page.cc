// Puts the parts of a report into its page.
#include <fmt/core.h>

#include <map>
#include <random>

#include "cli/report/page_files.h"
#include "cli/report/report.h"

namespace tyto::cli {
namespace {

// Scripts and styles run only with the nonce of the page: a word that its data cannot know.
std::string nonce() {
  std::random_device device;
  std::string word;
  for (int k = 0; k < 4; ++k) word += fmt::format("{:08x}", device());
  return word;
}

// The text with every {{name}} replaced; what is put in is not searched again.
std::string filled(std::string_view text, const std::map<std::string_view, std::string_view>& parts) {
  std::string result;
  for (;;) {
    const std::size_t begin = text.find("{{"), end = text.find("}}", begin);
    if (end == std::string_view::npos) break;
    result += text.substr(0, begin);
    result += parts.at(text.substr(begin + 2, end - begin - 2));
    text.remove_prefix(end + 2);
  }
  return result += text;
}

// "<" is only ever part of a string in JSON: written so, nothing in it can end the element it stands in.
std::string inside_script(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  for (const char c : json) c == '<' ? result += "\\u003c" : result += c;
  return result;
}

}  // namespace

std::string to_html(const Report& report) {
  const std::string word = nonce(), data = inside_script(report_json(report));
  return filled(page::kHtml, {{"nonce", word},
                              {"style", page::kStyle},
                              {"data", data},
                              {"chart-licence", page::kChartLicence},
                              {"chart-library", page::kChartLibrary},
                              {"script", page::kScript}});
}

}  // namespace tyto::cli

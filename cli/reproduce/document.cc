#include "cli/reproduce/document.h"

#include <fmt/format.h>

#include <sstream>
#include <string_view>

#include "cli/reproduce/svg.h"

namespace tyto::cli {
namespace {

constexpr std::string_view kHead = R"(<style>
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:1060px;margin:0 auto;padding:1rem;color:#222;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2rem}
table{border-collapse:collapse;font-size:13px}
th,td{padding:.25rem .6rem;border-bottom:1px solid #8884;text-align:left;vertical-align:top}
.wide{overflow-x:auto}svg{max-width:100%;min-width:720px;height:auto}
caption{text-align:left;padding:.3rem 0;opacity:.85}
code,pre{font-family:ui-monospace,monospace;font-size:.92em}pre{overflow-x:auto}
@media (prefers-color-scheme:dark){body{color:#ddd;background:#161616}}
@media print{body{max-width:none}}
</style></head><body>
)";
constexpr std::size_t kWidth = 100;

// Escaped, with what stands between backticks as code.
std::string inline_html(const std::string& text) {
  std::string out;
  bool code = false;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, '`'); code = !code)
    out += code ? "<code>" + escaped(part) + "</code>" : escaped(part);
  return out;
}

std::string html_table(const std::string& caption, const TableRows& rows) {
  std::string html = fmt::format("<div class=\"wide\"><table><caption>{}</caption>\n", inline_html(caption));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    html += "<tr>";
    for (std::size_t k = 0; k < rows[r].size(); ++k) {
      const bool head = r == 0 || k == 0;
      const std::string cell = inline_html(rows[r][k]);
      html += head ? fmt::format("<th scope=\"{}\">{}</th>", r == 0 ? "col" : "row", cell)
                   : "<td>" + cell + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

// Lines of at most `kWidth` columns; those after the first begin with `indent`.
std::string wrapped(const std::string& text, const std::string& first, const std::string& indent) {
  std::string out, line = first;
  bool empty = true;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!empty && line.size() + 1 + word.size() > kWidth) {
      out += line + "\n";
      line = indent;
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  return out + line + "\n";
}

std::string markdown_table(const std::string& caption, const TableRows& rows) {
  std::string out = caption.empty() ? "" : wrapped(caption, "", "") + "\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out += "|";
    for (std::string cell : rows[r]) {
      for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) cell.insert(at, "\\");
      out += " " + cell + " |";
    }
    out += "\n";
    if (r > 0) continue;
    out += "|";
    for (std::size_t k = 0; k < rows[r].size(); ++k) out += "---|";
    out += "\n";
  }
  return out;
}

}  // namespace

std::string Document::html() const {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" +
      escaped(title_) + "</title>\n" + std::string(kHead) + "<h1>" + escaped(title_) + "</h1>\n";
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const Block& block = blocks_[k];
    const bool begins = block.kind == Block::kItem && (k == 0 || blocks_[k - 1].kind != Block::kItem);
    const bool ends =
        block.kind == Block::kItem && (k + 1 == blocks_.size() || blocks_[k + 1].kind != Block::kItem);
    if (begins) out += "<ul>\n";
    switch (block.kind) {
      case Block::kHeading:
        out += "<h2>" + inline_html(block.text) + "</h2>\n";
        break;
      case Block::kParagraph:
        out += "<p>" + inline_html(block.text) + "</p>\n";
        break;
      case Block::kItem:
        out += "<li>" + inline_html(block.text) + "</li>\n";
        break;
      case Block::kCode:
        out += "<pre>" + escaped(block.text) + "</pre>\n";
        break;
      case Block::kTable:
        out += html_table(block.text, block.rows);
        break;
      case Block::kFigure:
        out += "<div class=\"wide\">" + block.svg + "</div>\n";
        break;
    }
    if (ends) out += "</ul>\n";
  }
  return out + "</body></html>\n";
}

std::string Document::markdown() const {
  std::string out = "# " + title_ + "\n";
  bool in_list = false;
  for (const Block& block : blocks_) {
    const bool item = block.kind == Block::kItem;
    if (!(item && in_list)) out += "\n";
    in_list = item;
    switch (block.kind) {
      case Block::kHeading:
        out += "## " + block.text + "\n";
        break;
      case Block::kParagraph:
        out += wrapped(block.text, "", "");
        break;
      case Block::kItem:
        out += wrapped(block.text, "- ", "  ");
        break;
      case Block::kCode: {
        std::istringstream lines(block.text);
        for (std::string line; std::getline(lines, line);) out += "    " + line + "\n";
        break;
      }
      case Block::kTable:
        out += markdown_table(block.text, block.rows);
        break;
      case Block::kFigure:
        out += fmt::format("![{}]({})\n", block.text, block.rows[0][0]);
        break;
    }
  }
  return out;
}

}  // namespace tyto::cli

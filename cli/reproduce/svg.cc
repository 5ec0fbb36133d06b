#include "cli/reproduce/svg.h"

#include <fmt/format.h>

namespace tyto::cli {
namespace {

// Colours that colour-blind readers tell apart (Okabe and Ito 2008), lighter in the dark.
constexpr std::string_view kStyle = R"(<style>
.plot{color:#222;font-family:system-ui,sans-serif;font-size:12px}
.plot text{fill:currentColor}.plot .small{font-size:10px}.plot .strong{font-weight:600}
.plot .axis{stroke:currentColor;stroke-width:1;fill:none}
.plot .grid{stroke:currentColor;stroke-opacity:.15;fill:none}
.plot .level{stroke:currentColor;stroke-opacity:.6;stroke-dasharray:4 3;fill:none}
.plot .whisker{stroke:currentColor;stroke-width:1;fill:none}
.plot .missed{fill-opacity:.25;stroke-width:1.2;stroke-dasharray:3 2}
.plot .curve{fill:none;stroke-width:2}.plot .dashed{stroke-dasharray:6 3}.plot .thick{stroke-width:5;stroke-opacity:.45}
.plot .s0{fill:#555;stroke:#555}.plot .s1{fill:#0072b2;stroke:#0072b2}.plot .s2{fill:#b8860b;stroke:#b8860b}
.plot .s3{fill:#d55e00;stroke:#d55e00}.plot .s4{fill:#56b4e9;stroke:#56b4e9}.plot .s5{fill:#009e73;stroke:#009e73}
.plot .s6{fill:#999;stroke:#999}.plot .s7{fill:#8fc1e3;stroke:#8fc1e3}.plot .s8{fill:#e3c98f;stroke:#e3c98f}
.plot .s9{fill:#f0a878;stroke:#f0a878}
.plot .curve.s9,.plot .curve.s0,.plot .curve.s1,.plot .curve.s2,.plot .curve.s3,.plot .curve.s4,.plot .curve.s5{fill:none}
@media (prefers-color-scheme:dark){.plot{color:#ddd}.plot .s0{fill:#aaa;stroke:#aaa}
.plot .s1{fill:#4aa3e0;stroke:#4aa3e0}.plot .s2{fill:#e6b84a;stroke:#e6b84a}.plot .s3{fill:#ff8a3d;stroke:#ff8a3d}
.plot .s4{fill:#9ad4f5;stroke:#9ad4f5}.plot .s5{fill:#35c99b;stroke:#35c99b}}
</style>
)";

std::string tip_element(std::string_view tip) {
  return tip.empty() ? "" : fmt::format("<title>{}</title>", escaped(tip));
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

Svg::Svg(double width, double height, std::string_view title, std::string_view description)
    : body_(fmt::format(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 {:.0f} {:.0f}\" "
          "width=\"{:.0f}\" height=\"{:.0f}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n{}",
          width, height, width, height, escaped(title), escaped(description), kStyle)) {}

void Svg::rectangle(XY corner, XY size, std::string_view classes, std::string_view tip) {
  body_ += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" class="{}">{}</rect>)",
                       corner.x, corner.y, size.x, size.y, classes, tip_element(tip)) +
           "\n";
}

void Svg::line(XY from, XY to, std::string_view classes) {
  body_ += fmt::format(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="{}"/>)", from.x,
                       from.y, to.x, to.y, classes) +
           "\n";
}

void Svg::polyline(const std::vector<XY>& points, std::string_view classes, std::string_view tip) {
  std::string list;
  for (const XY& at : points) list += fmt::format("{:.1f},{:.1f} ", at.x, at.y);
  body_ += fmt::format(R"(<polyline points="{}" class="{}">{}</polyline>)", list, classes, tip_element(tip)) +
           "\n";
}

void Svg::text(XY at, std::string_view anchor, std::string_view classes, std::string_view words) {
  body_ += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" class="{}">{}</text>)", at.x, at.y,
                       anchor, classes, escaped(words)) +
           "\n";
}

void Svg::vertical_text(XY at, std::string_view classes, std::string_view words) {
  body_ += fmt::format(R"svg(<text transform="translate({:.1f} {:.1f}) rotate(-90)" class="{}">{}</text>)svg",
                       at.x, at.y, classes, escaped(words)) +
           "\n";
}

}  // namespace tyto::cli

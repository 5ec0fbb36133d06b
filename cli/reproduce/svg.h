#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tyto::cli {

std::string escaped(std::string_view text);  // for XML and HTML

struct XY {
  double x, y;
};

// A drawing that stands alone or inside a page, light or dark. Classes: s0 ... s9 fill or stroke with the
// colours of series; axis, grid, level, whisker, curve,
// dashed, thick, missed (pale), and for text: small, strong.
class Svg {
 public:
  Svg(double width, double height, std::string_view title, std::string_view description);

  void rectangle(XY corner, XY size, std::string_view classes, std::string_view tip = "");
  void line(XY from, XY to, std::string_view classes);
  void polyline(const std::vector<XY>& points, std::string_view classes, std::string_view tip = "");
  // `anchor`: start, middle or end.
  void text(XY at, std::string_view anchor, std::string_view classes, std::string_view words);
  void vertical_text(XY at, std::string_view classes, std::string_view words);  // upwards
  std::string finish() const { return body_ + "</svg>\n"; }

 private:
  std::string body_;
};

}  // namespace tyto::cli

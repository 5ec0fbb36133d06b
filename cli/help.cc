#include "cli/help.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

namespace tyto::cli {
namespace {

constexpr std::size_t kNarrowest = 60, kUsual = 80, kWidest = 100;
constexpr std::size_t kColumn = 26;  // where descriptions begin

std::size_t terminal_width() {
  winsize size{};
  std::size_t width = kUsual;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    width = size.ws_col;
  else if (const char* columns = std::getenv("COLUMNS"); columns != nullptr && std::atoi(columns) > 0)
    width = static_cast<std::size_t>(std::atoi(columns));
  return std::clamp(width, kNarrowest, kWidest);
}

// Where lines go on that begin like this one: "    newton    working sets ..." behind the second word.
std::size_t hanging(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == 0 || first == std::string_view::npos) return 0;
  const std::size_t end = line.find("  ", first);
  const std::size_t second =
      end == std::string_view::npos ? std::string_view::npos : line.find_first_not_of(' ', end);
  return second == std::string_view::npos ? first : second;
}

std::string wrapped_line(std::string_view line, std::size_t indent, std::size_t width) {
  constexpr std::size_t kLeastRoom = 24;  // for text that goes on behind a column
  std::size_t hang = hanging(line);
  if (indent + hang + kLeastRoom > width) hang = line.find_first_not_of(' ') + 2;
  std::string text;
  std::size_t room = width > indent + 20 ? width - indent : 20;
  while (line.size() > room) {
    std::size_t cut = line.rfind(' ', room);
    if (cut == std::string_view::npos || line.find_first_not_of(' ') >= cut) cut = line.find(' ', room);
    if (cut == std::string_view::npos) break;
    text += std::string(line.substr(0, cut)) + "\n" + std::string(indent + hang, ' ');
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ', cut)));
    room = width > indent + hang + 20 ? width - indent - hang : 20;
  }
  return text + std::string(line);
}

// Names that a reader of help texts understands.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kTypes{{{"FLOAT", "NUMBER"},
                                                                               {"INT", "N"},
                                                                               {"UINT", "N"},
                                                                               {"TEXT", "TEXT"},
                                                                               {"BOOLEAN", ""},
                                                                               {"TEXT:{", "TEXT"}}};

class Help : public CLI::Formatter {
 public:
  explicit Help(std::size_t width) : width_(width) {
    label("SUBCOMMAND", "COMMAND");
    label("Positionals", "Arguments");
  }

  std::string make_option(const CLI::Option* option, bool) const override {
    std::string value = value_name(*option);
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size && option->get_positional())
      value.clear();
    return entry(option_name(*option) + (value.empty() ? "" : " " + value), description(*option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_name(), command->get_description(), 14);
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), 0, width_) + "\n";
  }
  std::string make_footer(const CLI::App* app) const override {
    return wrapped(app->get_footer(), 0, width_) + "\n";
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return "\n" + CLI::Formatter::make_usage(app, std::move(name)) + "\n";
  }
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    std::string text = group + ":\n";
    for (const CLI::Option* option : options) text += make_option(option, is_positional);
    return is_positional ? text + "\n" : text;
  }

 private:
  std::string entry(const std::string& name, const std::string& text, std::size_t column = kColumn) const {
    std::string line = "  " + name;
    if (line.size() + 2 > column)
      line += "\n" + std::string(column, ' ');
    else
      line += std::string(column - line.size(), ' ');
    return line + wrapped(text, column, width_) + "\n";
  }
  static std::string description(const CLI::Option& option) {
    std::string text = option.get_description();
    const std::string value = default_value(option);
    if (value.empty()) return text;
    const std::size_t line_end = text.find('\n');  // a list of words follows
    if (line_end == std::string::npos) return text + " [" + value + "]";
    const std::size_t colon = text[line_end - 1] == ':' ? 1 : 0;
    return text.insert(line_end - colon, " [" + value + "]");
  }

  std::size_t width_;
};

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  for (;;) {
    const std::size_t end = text.find('\n');
    out += wrapped_line(text.substr(0, end), indent, width);
    if (end == std::string_view::npos) return out;
    out += "\n" + std::string(indent, ' ');
    text.remove_prefix(end + 1);
  }
}

std::shared_ptr<CLI::Formatter> help_formatter() { return std::make_shared<Help>(terminal_width()); }

std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
  std::vector<const CLI::Option*> shown;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) shown.push_back(option);
  return shown;
}

std::string option_name(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true, false);
  std::string name = "--" + option.get_lnames().front();
  return option.get_snames().empty() ? name : "-" + option.get_snames().front() + ", " + name;
}

std::string value_name(const CLI::Option& option) {
  if (option.get_type_size() == 0 || option.get_positional()) return "";
  const std::string type = option.get_type_name();
  for (const auto& [theirs, ours] : kTypes)
    if (type.starts_with(theirs)) return std::string(ours);
  return type;
}

std::string default_value(const CLI::Option& option) {
  std::string value = option.get_default_str();
  if (value.size() > 1 && value.front() == '"') value = value.substr(1, value.size() - 2);
  return value;
}

}  // namespace tyto::cli

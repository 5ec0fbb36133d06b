#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace tyto::cli {

// Wraps each line of `text` at `width`, behind `indent` blanks but for the first line. Lines that begin with
// blanks go on behind their second word.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

// Help texts in groups, wrapped at the width of the terminal; 80 where there is none.
std::shared_ptr<CLI::Formatter> help_formatter();

// All options that are not hidden, in the order of the help text; positional arguments as well.
std::vector<const CLI::Option*> shown_options(const CLI::App& app);
std::string option_name(const CLI::Option& option);    // "--strength"; "DATA" of a positional argument
std::string value_name(const CLI::Option& option);     // "NUMBER", "TEXT", "N"; empty for flags
std::string default_value(const CLI::Option& option);  // as it is given; empty where the text says it

}  // namespace tyto::cli

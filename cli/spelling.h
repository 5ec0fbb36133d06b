#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

// What users type that is nearly right.
namespace tyto::cli {

// The arguments (without the program's name) as the parser knows them: options in British spelling, in
// capitals, with underscores or with one dash; 'help', 'help COMMAND' and 'version' as commands.
std::vector<std::string> respelled(const CLI::App& app, std::vector<std::string> arguments);

// What is wrong with arguments that the parser refused, and what was probably meant.
std::string refusal(const CLI::App& app, const CLI::ParseError& error,
                    const std::vector<std::string>& arguments);

}  // namespace tyto::cli

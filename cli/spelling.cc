#include "cli/spelling.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "tyto/base/nearest.h"
#include "tyto/data/text.h"

namespace tyto::cli {
namespace {

using Words = std::pair<std::string_view, std::string_view>;

// Words of other programs for the same thing. They are suggested and not taken: scales may differ.
constexpr std::array<Words, 10> kOtherCommands{{{"train", "fit"},
                                                {"learn", "fit"},
                                                {"cross-validate", "cv"},
                                                {"crossval", "cv"},
                                                {"cross-validation", "cv"},
                                                {"coefficients", "coef"},
                                                {"score", "predict"},
                                                {"check", "verify"},
                                                {"certify", "verify"},
                                                {"generate", "simulate"}}};
constexpr std::array<Words, 22> kOtherOptions{{{"lambda", "strength"},
                                               {"alpha", "strength"},
                                               {"penalty", "weights"},
                                               {"family", "loss"},
                                               {"response", "target"},
                                               {"label", "target"},
                                               {"y", "target"},
                                               {"tol", "tolerance"},
                                               {"max-iter", "max-epochs"},
                                               {"iterations", "max-epochs"},
                                               {"n-jobs", "threads"},
                                               {"jobs", "threads"},
                                               {"nfolds", "folds"},
                                               {"k", "folds"},
                                               {"nlambda", "steps"},
                                               {"n-alphas", "steps"},
                                               {"normalize", "standardize"},
                                               {"scale", "standardize"},
                                               {"sample-weight", "observation-weights"},
                                               {"positive", "nonnegative"},
                                               {"categorical", "one-hot"},
                                               {"output", "model"}}};

template <std::size_t count>
std::optional<std::string> translated(std::string_view word, const std::array<Words, count>& table) {
  for (const auto& [theirs, ours] : table)
    if (theirs == word) return std::string(ours);
  return {};
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  return names;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

// An option without its dashes and value as this command spells it; as it is where no spelling is known.
std::string known_spelling(const std::string& name, const std::vector<std::string>& known) {
  if (contains(known, name)) return name;
  std::string plain = lower_case(name);
  std::ranges::replace(plain, '_', '-');
  for (const std::string& spelling : {plain, replaced(plain, "is", "iz"), replaced(plain, "iz", "is")})
    if (contains(known, spelling)) return spelling;
  return name;
}

std::string respelled_option(const std::string& argument, const std::vector<std::string>& known) {
  const std::size_t dashes = argument.starts_with("--") ? 2 : 1;
  const std::string name = argument.substr(dashes, argument.find('=') - dashes);
  const std::string rest = argument.substr(std::min(argument.size(), dashes + name.size()));
  const std::string spelling = known_spelling(name, known);
  return contains(known, spelling) ? "--" + spelling + rest : argument;
}

bool is_option(const std::string& argument) {
  return argument.size() > 2 && argument[0] == '-' && argument.find_first_of("0123456789.") != 1;
}

std::string unknown_command(const std::string& word, const CLI::App& app) {
  const std::string text = "unknown command " + in_quotes(word);
  if (const auto meant = translated(lower_case(word), kOtherCommands))
    return text + "; did you mean '" + *meant + "'?";
  std::error_code ignored;
  if (std::filesystem::is_regular_file(word, ignored))
    return text + ", which is a file: 'tyto fit " + printable(word) + "' fits a model to it";
  return text + did_you_mean(word, commands_of(app));
}

std::string unknown_option(const std::string& argument, const CLI::App& command) {
  const std::vector<std::string> known = options_of(command);
  std::string name = argument.substr(0, argument.find('='));
  name.erase(0, name.find_first_not_of('-'));
  const std::string text = "unknown option " + in_quotes(argument.substr(0, argument.find('=')));
  if (const auto meant = translated(known_spelling(lower_case(name), {}), kOtherOptions);
      meant && contains(known, *meant))
    return text + "; did you mean '--" + *meant + "'?";
  const auto near = nearest(name, known);
  return near ? text + "; did you mean '--" + *near + "'?" : text;
}

// "Could not convert: --strength = abc" and the like, in the words of our own messages.
std::string in_our_words(const CLI::ParseError& error) {
  const std::string text = error.what();
  constexpr std::string_view kLacking = " required ";
  if (const std::size_t at = text.find(kLacking); at != std::string::npos && text.ends_with(" missing"))
    return text.substr(0, text.find(": ")) + ": want a value, got none";
  constexpr std::string_view kNotConverted = "Could not convert: ";
  if (!text.starts_with(kNotConverted)) return text;
  const std::size_t equals = text.find(" = ");
  if (equals == std::string::npos) return text;
  return text.substr(kNotConverted.size(), equals - kNotConverted.size()) + ": want a number, got " +
         in_quotes(text.substr(equals + 3));
}

// Where to look further, unless there is a suggestion.
std::string with_help(const std::string& what, const std::string& help) {
  return what.ends_with("?") ? what : what + "; '" + help + "' lists what there is";
}

}  // namespace

std::vector<std::string> respelled(const CLI::App& app, std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  std::string& first = arguments[0];
  if (first == "version" || first == "-V" || first == "-version") first = "--version";
  if (first == "help" && arguments.size() > 1) {
    arguments.erase(arguments.begin());
    arguments.resize(1);
    arguments.emplace_back("--help");
  } else if (first == "help" || first == "-help") {
    first = "--help";
  }
  if (const std::string lower = lower_case(first); contains(commands_of(app), lower)) first = lower;
  if (!contains(commands_of(app), first)) return arguments;
  const std::vector<std::string> known = options_of(*app.get_subcommand(first));
  for (std::size_t k = 1; k < arguments.size(); ++k)
    if (is_option(arguments[k])) arguments[k] = respelled_option(arguments[k], known);
  return arguments;
}

std::string refusal(const CLI::App& app, const CLI::ParseError& error,
                    const std::vector<std::string>& arguments) {
  const auto commands = app.get_subcommands();
  if (commands.empty()) {
    const bool has_word = !arguments.empty() && !arguments[0].starts_with('-');
    const std::string what = has_word            ? unknown_command(arguments[0], app)
                             : arguments.empty() ? std::string("want a command")
                                                 : unknown_option(arguments[0], app);
    return with_help(what, "tyto --help");
  }
  const CLI::App& command = *commands[0];
  std::string what = in_our_words(error);
  for (const std::string& rest : command.remaining())
    if (is_option(rest)) {
      what = unknown_option(rest, command);
      break;
    }
  return with_help(what, "tyto " + command.get_name() + " --help");
}

}  // namespace tyto::cli

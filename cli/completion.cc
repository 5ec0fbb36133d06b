// What other programs take from the table of commands: completion for shells, and the manual page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/outputs.h"
#include "tyto/base/names.h"
#include "tyto/base/version.h"
#include "tyto/data/dataset.h"
#include "tyto/loss/loss.h"
#include "tyto/math/weights.h"
#include "tyto/problem/screening.h"
#include "tyto/select/criteria.h"
#include "tyto/select/score.h"
#include "tyto/solve/solver.h"

namespace tyto::cli {
namespace {

template <class Table>
std::vector<std::string> names_of(const Table& rows, std::vector<std::string> names = {}) {
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

// The words that an option takes; empty where it takes something else.
std::vector<std::string> words_of(const std::string& option) {
  if (option == "--weights") return weight_names();
  if (option == "--loss") return loss_names();
  if (option == "--solver") return names_of(solvers(), {"auto"});
  if (option == "--screening") return names_of(screening_rules());
  if (option == "--variant") return names_of(solver_variants());
  if (option == "--error") return error_measure_names();
  if (option == "--missing") return kMissingWords.all();
  if (option == "--header") return {"auto", "yes", "no"};
  if (option == "--format") return format_names();
  if (option == "--relative-to") return {"alpha-max", "correlation", "absolute"};
  if (option == "--type") return {"response", "link", "class"};
  return {};
}

std::vector<const CLI::App*> shown_commands(const CLI::App& root) {
  std::vector<const CLI::App*> shown;
  for (const CLI::App* command : root.get_subcommands({}))
    if (!command->get_group().empty()) shown.push_back(command);
  return shown;
}

std::vector<std::string> names_of_commands(const CLI::App& root) {
  std::vector<std::string> names;
  for (const CLI::App* command : shown_commands(root)) names.push_back(command->get_name());
  return names;
}

std::string long_name(const CLI::Option& option) { return "--" + option.get_lnames().front(); }

// "--" options, without the positional arguments.
std::vector<const CLI::Option*> dashed(const CLI::App& command) {
  std::vector<const CLI::Option*> options = shown_options(command);
  std::erase_if(options, [](const CLI::Option* option) { return option->get_positional(); });
  return options;
}

// Its description up to the first end of a line or clause, at most `longest` bytes of ASCII.
std::string in_short(const CLI::Option& option, std::size_t longest = 70) {
  std::string text = option.get_description();
  text = text.substr(0, text.find_first_of("\n;"));
  if (text.size() > longest) text = text.substr(0, text.rfind(' ', longest - 4)) + " ...";
  return text;
}

std::string without(std::string text, std::string_view characters) {
  std::erase_if(text, [&](char c) { return characters.find(c) != std::string_view::npos; });
  return text;
}

std::string for_bash(const CLI::App& root) {
  std::string options, values;
  for (const CLI::App* command : shown_commands(root)) {
    std::vector<std::string> names;
    for (const CLI::Option* option : dashed(*command)) {
      names.push_back(long_name(*option));
      if (const auto words = words_of(names.back()); !words.empty())
        values += fmt::format("    {}{}) words='{}' ;;\n", command->get_name(), names.back(),
                              fmt::join(words, " "));
    }
    options += fmt::format("    {}) words='{}' ;;\n", command->get_name(), fmt::join(names, " "));
  }
  return fmt::format(
      R"(# bash completion of tyto, made from its table of commands: tyto completion bash
_tyto() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$current"))
    return
  fi
  case $command$before in
{}  esac
  if [ -z "$words" ] && [[ $current == -* ]]; then
    case $command in
{}    esac
  fi
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _tyto tyto
)",
      fmt::join(names_of_commands(root), " "), values, options);
}

std::string for_zsh(const CLI::App& root) {
  std::string commands, cases;
  for (const CLI::App* command : shown_commands(root)) {
    commands += fmt::format("    '{}:{}'\n", command->get_name(), without(command->get_description(), "':"));
    cases += fmt::format("    {})\n      _arguments \\\n", command->get_name());
    for (const CLI::Option* option : dashed(*command)) {
      const std::string name = long_name(*option);
      const auto words = words_of(name);
      std::string value;
      if (option->get_type_size() != 0)
        value = words.empty() ? ":value:_files" : fmt::format(":value:({})", fmt::join(words, " "));
      cases += fmt::format("        '{}[{}]{}' \\\n", name, without(in_short(*option), "'[]:\\"), value);
    }
    cases += "        '*:file:_files' ;;\n";
  }
  return fmt::format(
      R"(#compdef tyto
# zsh completion of tyto, made from its table of commands: tyto completion zsh
_tyto() {{
  local -a commands=(
{}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
{}  esac
}}
_tyto "$@"
)",
      commands, cases);
}

std::string for_fish(const CLI::App& root) {
  std::string text = "# fish completion of tyto, made from its table of commands: tyto completion fish\n";
  const std::string all = fmt::format("{}", fmt::join(names_of_commands(root), " "));
  for (const CLI::App* command : shown_commands(root)) {
    text += fmt::format("complete -c tyto -f -n 'not __fish_seen_subcommand_from {}' -a {} -d '{}'\n", all,
                        command->get_name(), without(command->get_description(), "'\\"));
    for (const CLI::Option* option : dashed(*command)) {
      const auto words = words_of(long_name(*option));
      const std::string value = option->get_type_size() == 0 ? ""
                                : words.empty()              ? " -r"
                                                : fmt::format(" -x -a '{}'", fmt::join(words, " "));
      text += fmt::format("complete -c tyto -n '__fish_seen_subcommand_from {}' -l {}{} -d '{}'\n",
                          command->get_name(), option->get_lnames().front(), value,
                          without(in_short(*option), "'\\"));
    }
  }
  return text;
}

// Text for roff: no escapes, no line that it takes for a request.
std::string roff(std::string_view text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    begins = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

// Lines that begin with blanks stay lines.
std::string roff_lines(const std::string& text) {
  std::string out;
  bool filled = true;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const bool verbatim = line.starts_with("  ");
    if (verbatim == filled) out += verbatim ? ".nf\n" : ".fi\n";
    filled = !verbatim;
    out += line.empty() ? ".br\n" : roff(line) + "\n";
    begin = end + 1;
  }
  return filled ? out : out + ".fi\n";
}

std::string manual(const CLI::App& root) {
  std::string text = fmt::format(
      ".TH TYTO 1 \"\" \"tyto {}\" \"User Commands\"\n.SH NAME\ntyto \\- OWL regression with certificates\n"
      ".SH SYNOPSIS\n.B tyto\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.br\n.B tyto\n\\fICOMMAND\\fR "
      "\\fB\\-\\-help\\fR\n"
      ".SH DESCRIPTION\n{}.SH COMMANDS\n",
      version(), roff_lines(root.get_description()));
  for (const CLI::App* command : shown_commands(root)) {
    text += fmt::format(".SS tyto {}\n{}\n", command->get_name(), roff(command->get_description() + "."));
    for (const CLI::Option* option : shown_options(*command)) {
      const std::string value = value_name(*option), usual = default_value(*option);
      text +=
          fmt::format(".TP\n\\fB{}\\fR{}\n{}", roff(option_name(*option)),
                      value.empty() ? "" : " \\fI" + value + "\\fR", roff_lines(option->get_description()));
      if (!usual.empty()) text += roff("[" + usual + "]") + "\n";
    }
    text += ".PP\n" + roff_lines(command->get_footer());
  }
  return text + ".SH SEE ALSO\nThe documentation in the package: cli.md, formats.md, report.md.\n";
}

struct Kind {
  const char* name;
  std::string (*make)(const CLI::App& root);
};
constexpr std::array<Kind, 4> kKinds{
    {{"bash", for_bash}, {"zsh", for_zsh}, {"fish", for_fish}, {"man", manual}}};

}  // namespace

std::function<int()> define_completion(CLI::App& app) {
  auto kind = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const Kind& one : kKinds) names.emplace_back(one.name);
  app.add_option("KIND", *kind, "What to print: completion for " + joined(names) + " (the manual page)")
      ->required()
      ->check(CLI::IsMember(names));
  app.footer(
      "Example:\n"
      "  tyto completion bash > ~/.local/share/bash-completion/completions/tyto\n"
      "  tyto completion fish > ~/.config/fish/completions/tyto.fish\n"
      "  tyto completion man | man -l -");
  return [kind, &app] {
    for (const Kind& one : kKinds)
      if (*kind == one.name) print(stdout, one.make(*app.get_parent()));
    return kDone;
  };
}

}  // namespace tyto::cli

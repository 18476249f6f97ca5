#include "app/cli/completion.h"

#include <map>
#include <set>

#include "app/cli/command.h"
#include "app/cli/design_flags.h"
#include "app/cli/flag_values.h"
#include "app/window_flags.h"
#include "base/documentation.h"

namespace shardscape {
namespace {

constexpr const char* kMadeBy = "# Made by \"shardscape-cli reference completion-";

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string spaced(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string letter_of(const Flag& flag) { return std::string("-") + flag.letter; }

std::vector<Flag> settings() {
  std::vector<Flag> out;
  for (Flag& flag : design_flags())
    if (is_setting(flag)) out.push_back(std::move(flag));
  return out;
}

bool has_settings(const Command& command) {
  for (const Flag& flag : command.flags)
    if (is_setting(flag)) return true;
  return false;
}

std::vector<Flag> own_flags(const Command& command) {
  std::vector<Flag> out;
  for (const Flag& flag : command.flags)
    if (!is_setting(flag)) out.push_back(flag);
  out.push_back({"--help", 'h', FlagKind::Switch, "", "The text of the command.", ""});
  return out;
}

// The flags of the window program in the form of the command line.
std::vector<Flag> window_flags() {
  std::vector<Flag> out;
  for (const WindowFlag& flag : kWindowFlags)
    out.push_back({flag.name, 0, FlagKind::Value, flag.operand, flag.help, ""});
  out.push_back({"--help", 'h', FlagKind::Switch, "", "The flags.", ""});
  out.push_back({"--version", 'v', FlagKind::Switch, "", "The version.", ""});
  return out;
}

std::vector<std::string> names(const std::vector<Flag>& flags) {
  std::vector<std::string> out;
  for (const Flag& flag : flags) {
    if (flag.letter) out.push_back(letter_of(flag));
    out.push_back(flag.name);
  }
  return out;
}

std::vector<std::string> page_names() {
  std::vector<std::string> out;
  for (const DocumentationPage& page : documentation_pages())
    out.push_back(page.name.substr(page.name.rfind('/') + 1));
  return out;
}

// ------------------------------------------------------------------------------------------------ bash

// Patterns of "command flag" by the assignment that the values need.
std::string bash_values() {
  std::map<FlagValues, std::vector<std::string>> patterns;
  std::set<std::string> seen;
  const auto add = [&](const std::string& command, const Flag& flag) {
    if (flag.kind == FlagKind::Switch) return;
    const FlagValues values = flag_values(flag);
    for (const std::string& name : names({flag}))
      if (const std::string pattern = command + "' " + name + "'"; seen.insert(pattern).second)
        patterns[values].push_back(pattern);
  };
  for (const Command& command : commands())
    for (const Flag& flag : own_flags(command)) add(command.name, flag);
  for (const Flag& flag : window_flags()) add("window", flag);
  std::string out;
  const auto entries = [&] {
    for (const auto& [values, list] : patterns) {
      std::string all;
      for (const std::string& pattern : list) all += (all.empty() ? "    " : " | ") + pattern;
      out += all + ")";
      switch (values.kind) {
        case ValueKind::Words: out += " words=" + quoted(spaced(values.words)) + " ;;\n"; break;
        case ValueKind::Files: out += " kind=file ;;\n"; break;
        case ValueKind::Folders: out += " kind=directory ;;\n"; break;
        case ValueKind::Other: out += " kind=text ;;\n"; break;
      }
    }
    patterns.clear();
  };
  entries();
  // A flag of a command goes before the setting of the same name.
  for (const Flag& flag : settings()) add("*", flag);
  entries();
  return out;
}

// ------------------------------------------------------------------------------------------------- zsh

std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const FlagValues& values) {
  switch (values.kind) {
    case ValueKind::Words: return "(" + spaced(values.words) + ")";
    case ValueKind::Files: return "_files";
    case ValueKind::Folders: return "_files -/";
    case ValueKind::Other: return " ";
  }
  return "";
}

std::string zsh_specs(const std::vector<Flag>& flags, const std::string& indent) {
  std::string out;
  for (const Flag& flag : flags) {
    const std::string help = "[" + zsh_text(short_help(flag)) + "]",
                      operand = ":" + zsh_text(flag.operand) + ":" + zsh_action(flag_values(flag));
    switch (flag.kind) {
      case FlagKind::Switch: out += indent + quoted(flag.name + help); break;
      case FlagKind::Boolean: out += indent + quoted(flag.name + "=-" + help + ":" + operand); break;
      case FlagKind::Value: out += indent + quoted("*" + flag.name + "=" + help + operand); break;
    }
    if (flag.letter)
      out += indent + quoted(letter_of(flag) + help + (flag.kind == FlagKind::Switch ? "" : operand));
  }
  return out;
}

// ------------------------------------------------------------------------------------------------ fish

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_line(const std::string& program, const std::string& condition, const Flag& flag) {
  std::string out = "complete -c " + program;
  if (!condition.empty()) out += " -n " + fish_quoted(condition);
  out += " -l " + flag.name.substr(2);
  if (flag.letter) out += std::string(" -s ") + flag.letter;
  const FlagValues values = flag_values(flag);
  if (flag.kind == FlagKind::Value) out += values.kind == ValueKind::Files ? " -r -F" : " -x";
  if (flag.kind != FlagKind::Switch) {
    if (values.kind == ValueKind::Words) out += " -a " + fish_quoted(spaced(values.words));
    if (values.kind == ValueKind::Folders) out += " -a '(__fish_complete_directories)'";
  }
  return out + " -d " + fish_quoted(short_help(flag)) + "\n";
}

}  // namespace

std::string bash_completion() {
  std::string flags, known;
  for (const Command& command : commands()) {
    known += command.name + " ";
    flags += "    " + command.name + ") words=\"" + spaced(names(own_flags(command))) +
             (has_settings(command) ? " $settings" : "") + "\" ;;\n";
  }
  flags += "    window) words=\"" + spaced(names(window_flags())) + "\" ;;\n";
  return std::string(kMadeBy) +
         "bash\".\n\n_shardscape_flags() {\n  local settings=" + quoted(spaced(names(settings()))) +
         "\n  case $1 in\n" + flags + "  esac\n}\n\n_shardscape_values() {\n  case \"$1 $2\" in\n" +
         bash_values() + "  esac\n}\n" + R"(
_shardscape() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=window words='' kind=''
  # The shell splits --flag=value into three words.
  if [ "$current" = = ]; then
    current=
  elif [ "$before" = = ]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [ "${1##*/}" = shardscape-cli ]; then command=${COMP_WORDS[1]}; fi
  if [ "${1##*/}" = shardscape-cli ] && [ "$COMP_CWORD" = 1 ]; then
    words=')" +
         known +
         R"(help --help --version'
  elif [[ $before == -* && $current != -* ]]; then
    _shardscape_values "$command" "$before"
  fi
  if [ -z "$words$kind" ]; then
    if [[ $current == -* ]]; then
      _shardscape_flags "$command"
    elif [ "$command" = reference ]; then
      words=)" +
         quoted(spaced(page_names())) +
         R"(
    else
      kind=file
    fi
  fi
  COMPREPLY=()
  if [ -n "$words" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  elif [ "$kind" = file ] || [ "$kind" = directory ]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -A "$kind" -- "$current")
  fi
}
complete -F _shardscape shardscape-cli shardscape
)";
}

std::string zsh_completion() {
  std::string list, cases;
  for (const Command& command : commands()) {
    list += "\n    " + quoted(zsh_text(command.name) + ":" + command.summary);
    const std::string operands = command.name == "reference" ? "'1:page:(" + spaced(page_names()) + ")'"
                                                             : "'*:file:_files'";
    cases += "    " + command.name + ") _arguments" + zsh_specs(own_flags(command), " \\\n      ") +
             " \\\n      " + (has_settings(command) ? "$settings " : "") + operands + " ;;\n";
  }
  return "#compdef shardscape-cli shardscape\n" + std::string(kMadeBy) + "zsh\".\n\n_shardscape_cli() {\n" +
         "  local -a commands settings\n  commands=(" + list +
         ")\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  settings=(" +
         zsh_specs(settings(), "\n    ") + ")\n  local command=$words[2]\n  shift words\n" +
         "  (( CURRENT-- ))\n  case $command in\n" + cases +
         "  esac\n}\n\nif [[ $service == shardscape-cli ]]; then\n  _shardscape_cli \"$@\"\nelse\n" +
         "  _arguments" + zsh_specs(window_flags(), " \\\n    ") + " \\\n    '*:design:_files'\nfi\n";
}

std::string fish_completion() {
  std::string out = std::string(kMadeBy) + "fish\".\n\n", with_settings;
  for (const Command& command : commands()) {
    out += "complete -c shardscape-cli -n __fish_use_subcommand -f -a " + command.name + " -d " +
           fish_quoted(command.summary) + "\n";
    if (has_settings(command)) with_settings += " " + command.name;
    for (const Flag& flag : own_flags(command))
      out += fish_line("shardscape-cli", "__fish_seen_subcommand_from " + command.name, flag);
  }
  for (const Flag& flag : settings())
    out += fish_line("shardscape-cli", "__fish_seen_subcommand_from" + with_settings, flag);
  out += "complete -c shardscape-cli -n '__fish_seen_subcommand_from reference' -f -a " +
         fish_quoted(spaced(page_names())) + "\n";
  for (const Flag& flag : window_flags()) out += fish_line("shardscape", "", flag);
  return out;
}

}  // namespace shardscape

#include "launch/shell/shell_command.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "launch/shell/shell_syntax.h"

namespace shardscape {
namespace {

constexpr std::string_view kSilent[] = {
    "set", "ulimit", "umask", "trap", "echo",  "printf", "mkdir", "cd", "pushd", "popd",  "wait",   "sleep",
    "rm",  "cp",     "mv",    "ln",   "chmod", "touch",  "true",  ":",  "alias", "shopt", "module", "conda"};

bool is_shell(const std::string& word) {
  return word == "bash" || word == "sh" || word == "/bin/bash" || word == "/bin/sh";
}

}  // namespace

bool is_silent_command(std::string_view name) {
  return std::find(std::begin(kSilent), std::end(kSilent), name) != std::end(kSilent);
}

bool is_shell_declaration(std::string_view name) {
  return name == "export" || name == "declare" || name == "local" || name == "readonly" || name == "typeset";
}

bool reads_shell_input(const std::vector<std::string>& words) {
  const std::string& name = words[0];
  return name == "read" || name == "mapfile" || name == "readarray" || name == "getopts" ||
         (name == "printf" && words.size() > 1 && words[1] == "-v");
}

size_t shell_script_of(const std::vector<std::string>& words) {
  if (words[0].ends_with(".sh")) return 0;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (!is_shell(words[i]) && !(i == 0 && words[i] == "sbatch")) continue;
    size_t at = i + 1;
    while (at < words.size() && words[at].starts_with('-')) ++at;
    return at < words.size() && words[at].ends_with(".sh") ? at : words.size();
  }
  return words.size();
}

std::string shell_text_of(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (!is_shell(words[i])) continue;
    for (size_t option = i + 1; option + 1 < words.size() && words[option].starts_with('-'); ++option)
      if (words[option].ends_with('c')) return words[option + 1];
  }
  return {};
}

std::string shell_assigned_name(std::string_view word) {
  size_t at = 0;
  while (at < word.size() && (std::isalnum(static_cast<unsigned char>(word[at])) || word[at] == '_')) ++at;
  return std::string(word.substr(0, at));
}

bool has_shell_pattern(std::string_view word) {
  for (size_t at = 0; at < word.size(); at = std::min(end_of_shell_part(word, at), word.size()))
    if (word[at] == '*' || word[at] == '?' || word[at] == '[') return true;
  return false;
}

}  // namespace shardscape

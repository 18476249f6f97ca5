#include "launch/shell/shell_command.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "launch/shell/shell_syntax.h"

namespace shardscape {
namespace {

constexpr std::string_view kSilent[] = {
    "set", "ulimit", "umask", "trap",  "echo",  "mkdir", "cd", "pushd", "popd",  "wait",   "sleep", "rm",
    "cp",  "mv",     "ln",    "chmod", "touch", "true",  ":",  "alias", "shopt", "module", "conda"};

constexpr size_t kLongestPrinted = 1 << 20;

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
  return name == "read" || name == "mapfile" || name == "readarray" || name == "printf";
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

std::optional<std::string> shell_printf(const std::vector<std::string>& words, size_t format) {
  if (format >= words.size()) return std::nullopt;
  const std::string& text = words[format];
  std::string out;
  size_t value = format + 1;
  // The format repeats while values are left.
  do {
    const size_t begin = value;
    for (size_t i = 0; i < text.size(); ++i) {
      const char next = i + 1 < text.size() ? text[i + 1] : '\0';
      if (text[i] == '%' && (next == 's' || next == 'd')) {
        if (value < words.size()) out += words[value++];
        ++i;
      } else if ((text[i] == '%' && next == '%') || (text[i] == '\\' && next == 'n')) {
        out += next == 'n' ? '\n' : '%';
        ++i;
      } else if (text[i] == '%' || text[i] == '\\') {
        return std::nullopt;
      } else {
        out += text[i];
      }
    }
    if (out.size() > kLongestPrinted) return std::nullopt;
    if (value == begin) break;
  } while (value < words.size());
  return out;
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

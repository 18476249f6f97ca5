#include "launch/shell/shell_command.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "launch/shell/shell_syntax.h"
#include "launch/shell/shell_words.h"

namespace shardscape {
namespace {

constexpr std::string_view kSilent[] = {
    "set", "ulimit", "umask", "trap",  "echo",  "mkdir", "cd", "pushd", "popd",  "wait",   "sleep", "rm",
    "cp",  "mv",     "ln",    "chmod", "touch", "true",  ":",  "alias", "shopt", "module", "conda"};

constexpr size_t kLongestPrinted = 1 << 20;
constexpr int64_t kMostInSequence = 10'000;
constexpr const char* kSpaces = " \t\n";

// "seq LAST", "seq FIRST LAST", "seq FIRST STEP LAST".
std::optional<std::string> sequence(ShellState& state, const std::vector<std::string>& words) {
  if (words.size() < 2 || words.size() > 4 || words[1].starts_with('-')) return std::nullopt;
  const int64_t last = shell_arithmetic(state, words.back());
  const int64_t first = words.size() > 2 ? shell_arithmetic(state, words[1]) : 1;
  const int64_t step = words.size() > 3 ? shell_arithmetic(state, words[2]) : 1;
  if (step < 1 || first < 0) return std::nullopt;
  if (last < first) return "";
  const int64_t more = (last - first) / step;
  if (more > kMostInSequence) return std::nullopt;
  std::string out = std::to_string(first);
  for (int64_t i = 1; i <= more; ++i) out += " " + std::to_string(first + i * step);
  state.budget.spend(out.size());
  return out;
}

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

std::optional<std::string> shell_output(ShellState& state, const std::vector<std::string>& words) {
  const std::string last = words.back();
  const size_t slash = last.rfind('/');
  if (words[0] == "dirname" && words.size() > 1)
    return slash == std::string::npos ? "." : last.substr(0, slash);
  if (words[0] == "basename" && words.size() > 1)
    return words[1].substr(words[1].rfind('/') == std::string::npos ? 0 : words[1].rfind('/') + 1);
  if (words[0] == "readlink" || words[0] == "realpath") return last;
  if (words[0] == "expr" && words.size() > 1) {
    std::string expression;
    for (size_t i = 1; i < words.size(); ++i) expression += words[i] + " ";
    return std::to_string(shell_arithmetic(state, expression));
  }
  if (words[0] == "printf") return shell_printf(words, 1);
  if (words[0] == "seq") return sequence(state, words);
  if (words[0] == "echo") {
    std::string out;
    for (size_t i = 1; i < words.size(); ++i) out += (i > 1 ? " " : "") + words[i];
    return out;
  }
  return std::nullopt;
}

std::optional<std::vector<std::pair<std::string, std::string>>> shell_read(
    const std::vector<std::string>& words, const std::string& text) {
  size_t at = 1;
  bool whole = false;
  for (; at < words.size() && words[at].starts_with('-'); ++at) {
    const bool delimiter = words[at].ends_with('d');
    const std::string_view letters = std::string_view(words[at]).substr(1, words[at].size() - 1 - delimiter);
    if (letters.find_first_not_of('r') != std::string_view::npos) return std::nullopt;
    if (!delimiter) continue;
    if (++at >= words.size() || !words[at].empty()) return std::nullopt;
    whole = true;
  }
  std::string_view rest = whole ? std::string_view(text) : std::string_view(text).substr(0, text.find('\n'));
  rest = rest.substr(0, rest.find_last_not_of(kSpaces) + 1);
  std::vector<std::pair<std::string, std::string>> out;
  for (; at < words.size(); ++at) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kSpaces), rest.size()));
    const size_t end = at + 1 == words.size() ? rest.size()
                                              : std::min(rest.find_first_of(kSpaces), rest.size());
    out.emplace_back(words[at], rest.substr(0, end));
    rest.remove_prefix(end);
  }
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

#include "launch/shell/shell_words.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "launch/shell/shell_syntax.h"

namespace shardscape {
namespace {

constexpr int kDeepestExpansion = 50;  // nested expansions
constexpr size_t kLongestSet = 256;    // characters of "[a-z]" in a pattern
constexpr size_t kLongestRange = 64;   // characters of "{0..3}"
constexpr int64_t kLargestOfRange = 1'000'000'000;
constexpr size_t kFieldSteps = 64;  // of the budget: memory of a field besides its text

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

size_t end_of_name(std::string_view text, size_t at) {
  while (at < text.size() && is_name_character(text[at])) ++at;
  return at;
}

// Removes the shortest or longest part that matches from the front or the back.
std::string without(std::string_view text, std::string_view pattern, bool front, bool longest,
                    ShellBudget& budget) {
  for (size_t i = 0; i <= text.size(); ++i) {
    const size_t length = longest ? text.size() - i : i;
    const std::string_view part = front ? text.substr(0, length) : text.substr(text.size() - length);
    if (matches_shell_pattern(pattern, part, budget))
      return std::string(front ? text.substr(length) : text.substr(0, text.size() - length));
  }
  return std::string(text);
}

std::string replaced(std::string_view text, std::string_view pattern, std::string_view by, bool everywhere,
                     ShellBudget& budget) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t length = 0;
    for (size_t n = text.size() - at; n > 0 && length == 0; --n)
      if (matches_shell_pattern(pattern, text.substr(at, n), budget)) length = n;
    if (length == 0) {
      out += text[at++];
      continue;
    }
    budget.spend(by.size());
    out += by;
    at += length;
    if (!everywhere) return out + std::string(text.substr(at));
  }
  return out;
}

// Whether the element of a pattern at `at` matches a character; next: the element behind it.
bool matches_one(std::string_view pattern, size_t at, char c, size_t& next, ShellBudget& budget) {
  const size_t end = pattern[at] == '[' ? pattern.substr(0, at + kLongestSet).find(']', at + 2)
                                        : std::string_view::npos;
  if (end == std::string_view::npos) {
    if (pattern[at] == '\\' && at + 1 < pattern.size())
      ++at;
    else if (pattern[at] == '?')
      c = '?';
    next = at + 1;
    return pattern[at] == c;
  }
  next = end + 1;
  budget.spend(end - at);
  std::string_view set = pattern.substr(at + 1, end - at - 1);
  const bool other = set[0] == '!' || set[0] == '^';
  if (other) set.remove_prefix(1);
  bool inside = false;
  for (size_t i = 0; i < set.size(); ++i) {
    const bool range = i + 2 < set.size() && set[i + 1] == '-';
    inside |= range ? c >= set[i] && c <= set[i + 2] : c == set[i];
    if (range) i += 2;
  }
  return inside != other;
}

std::string joined(const std::vector<std::string>& items, const std::string& between) {
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) out += (i ? between : "") + items[i];
  return out;
}

}  // namespace

const std::string* find_shell_value(const ShellState& state, std::string_view name) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size())
    return number == 0                        ? &state.script
           : number <= state.arguments.size() ? &state.arguments[number - 1]
                                              : nullptr;
  const auto found = state.variables.find(name);
  if (found == state.variables.end()) return nullptr;
  const auto item = found->second.items.find("0");
  return item == found->second.items.end() ? nullptr : &item->second;
}

void set_shell_value(ShellState& state, const std::string& name, std::string value) {
  state.variables[name].items["0"] = std::move(value);
}

std::vector<std::pair<std::string, std::string>> shell_items(ShellState& state, std::string_view name) {
  const auto found = state.variables.find(name);
  if (found == state.variables.end()) return {};
  for (const auto& [index, value] : found->second.items) state.budget.spend(value.size() + kFieldSteps);
  std::vector<std::pair<std::string, std::string>> items(found->second.items.begin(),
                                                         found->second.items.end());
  const auto number = [](const std::string& text) {
    int64_t out = INT64_MAX;
    std::from_chars(text.data(), text.data() + text.size(), out);
    return out;
  };
  std::stable_sort(items.begin(), items.end(),
                   [&](const auto& a, const auto& b) { return number(a.first) < number(b.first); });
  return items;
}

std::vector<std::string> copied_arguments(ShellState& state) {
  for (const std::string& one : state.arguments) state.budget.spend(one.size() + 1);
  return state.arguments;
}

// The fields so far, and the one that grows.
struct ShellExpander::Piece {
  ShellBudget& budget;
  std::vector<std::string> fields = {};
  std::string current = {};
  bool begun = false;  // the current field exists, though it may be empty
  bool split = true;

  void add(std::string_view text) {
    budget.spend(text.size());
    current += text;
    begun = true;
  }
  void end() {
    budget.spend(begun ? kFieldSteps : 1);
    if (begun) fields.push_back(std::move(current));
    current.clear();
    begun = false;
  }
};

std::string ShellExpander::plain(std::string_view name) {
  if (name == "#") return std::to_string(state_.arguments.size());
  if (name == "?") return "0";
  if (name == "@" || name == "*") return joined(state_.arguments, " ");
  if (name == "$") return "1";
  const std::string* found = find_shell_value(state_, name);
  if (!found && unset_) unset_(name);
  return found ? *found : "";
}

void ShellExpander::value(std::string_view text, bool quoted, Piece& out) {
  if (quoted || !out.split) return out.add(text);
  for (size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at]))) {
      out.end();
      ++at;
      continue;
    }
    const size_t begin = at;
    while (at < text.size() && !std::isspace(static_cast<unsigned char>(text[at]))) ++at;
    out.add(text.substr(begin, at - begin));
  }
}

void ShellExpander::all(const std::vector<std::string>& values, bool quoted, bool join, Piece& out) {
  if (!quoted || join || !out.split) {
    const std::string* separators = join && quoted ? find_shell_value(state_, "IFS") : nullptr;
    return value(joined(values, separators ? separators->substr(0, 1) : " "), quoted, out);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) out.end();
    out.add(values[i]);
  }
}

// "${...}" without the brackets.
void ShellExpander::braces(std::string_view inside, bool quoted, Piece& out) {
  if (inside == "#") return value(plain(inside), quoted, out);
  const bool count = inside.size() > 1 && inside[0] == '#', indirect = inside.size() > 1 && inside[0] == '!';
  if (count || indirect) inside.remove_prefix(1);
  size_t at = !inside.empty() && (inside[0] == '@' || inside[0] == '*' || inside[0] == '#')
                  ? 1
                  : end_of_name(inside, 0);
  std::string name(inside.substr(0, at));
  std::string index;
  if (at < inside.size() && inside[at] == '[') {
    const size_t end = std::min(inside.find(']', at), inside.size());
    index = std::string(inside.substr(at + 1, end - at - 1));
    at = std::min(end + 1, inside.size());
  }
  std::string_view rest = inside.substr(at);
  const bool list = index == "@" || index == "*" || name == "@" || name == "*";
  if (indirect && !list) name = plain(name);
  if (list) {
    std::vector<std::string> values;
    if (name == "@" || name == "*")
      values = copied_arguments(state_);
    else
      for (auto& [key, value] : shell_items(state_, name))
        values.push_back(std::move(indirect ? key : value));
    if (count) return value(std::to_string(values.size()), quoted, out);
    const char sign = rest.size() > 1 && rest[0] == ':' ? rest[1] : rest.empty() ? '\0' : rest[0];
    const bool defaults = std::string_view("-=?+").find(sign) != std::string_view::npos;
    if (rest.starts_with(':') && !defaults) {
      if (name == "@" || name == "*") values.insert(values.begin(), state_.script);
      values = slice(std::move(values), rest);
    } else if (!rest.empty() && !defaults) {
      for (std::string& one : values) one = changed(one, rest);
    }
    if (!values.empty() && sign == '+') return modified(name, &values[0], rest, count, quoted, out);
    if (!values.empty() || !defaults) return all(values, quoted, index == "*" || name == "*", out);
  }
  const std::string* found = nullptr;
  if (!index.empty() && !list) {
    const std::string key = text(index);
    const auto variable = state_.variables.find(name);
    if (variable != state_.variables.end()) {
      auto item = variable->second.items.find(key);
      if (item == variable->second.items.end())
        item = variable->second.items.find(std::to_string(shell_arithmetic(state_, key)));
      if (item != variable->second.items.end()) found = &item->second;
    }
  } else if (!list) {
    found = find_shell_value(state_, name);
  }
  modified(name, found, rest, count, quoted, out);
}

// First and last position of ":offset" or ":offset:length". Negative offsets and lengths count from the end.
std::pair<int64_t, int64_t> ShellExpander::bounds(std::string_view rest, size_t size) {
  const auto whole = static_cast<int64_t>(size);
  const size_t second = rest.find(':', 1);
  int64_t from = shell_arithmetic(
      state_, text(rest.substr(1, second == std::string_view::npos ? second : second - 1)));
  if (from < 0) from = from < -whole ? whole : from + whole;
  from = std::min(from, whole);
  if (second == std::string_view::npos) return {from, whole};
  const int64_t length = shell_arithmetic(state_, text(rest.substr(second + 1)));
  const int64_t end = length < 0 ? whole + std::max(length, -whole) : from + std::min(length, whole - from);
  return {from, std::max(from, end)};
}

std::vector<std::string> ShellExpander::slice(std::vector<std::string> values, std::string_view rest) {
  const auto [from, end] = bounds(rest, values.size());
  return {values.begin() + from, values.begin() + end};
}

// A value, changed by "#pattern", "/pattern/text", "^", ":offset:length" and so on.
std::string ShellExpander::changed(std::string_view now, std::string_view rest) {
  const char sign = rest[0];
  if (sign == ':') {
    const auto [from, end] = bounds(rest, now.size());
    return std::string(now.substr(static_cast<size_t>(from), static_cast<size_t>(end - from)));
  }
  const bool twice = rest.size() > 1 && rest[1] == sign;
  const std::string_view operand = rest.substr(twice ? 2 : 1);
  if (sign == '#' || sign == '%') return without(now, text(operand), sign == '#', twice, state_.budget);
  if (sign == '/') {
    const size_t slash = operand.find('/');
    const std::string by = slash == std::string_view::npos ? "" : text(operand.substr(slash + 1));
    return replaced(now, text(operand.substr(0, slash)), by, twice, state_.budget);
  }
  std::string out(now);
  if (sign == '^' || sign == ',')
    for (size_t i = 0; i < (twice ? out.size() : std::min<size_t>(1, out.size())); ++i)
      out[i] = static_cast<char>(sign == '^' ? std::toupper(static_cast<unsigned char>(out[i]))
                                             : std::tolower(static_cast<unsigned char>(out[i])));
  return out;
}

// The value of a name, changed by what follows the name inside the brackets.
void ShellExpander::modified(const std::string& name, const std::string* found, std::string_view rest,
                             bool count, bool quoted, Piece& out) {
  state_.budget.spend(found ? found->size() : 0);
  const std::string now = found ? *found : "";
  if (count) return value(std::to_string(now.size()), quoted, out);
  const bool colon = rest.starts_with(':');
  const char sign = rest.size() > (colon ? 1u : 0u) ? rest[colon] : '\0';
  const std::string_view word = rest.size() > (colon ? 2u : 1u) ? rest.substr(colon ? 2 : 1) : "";
  const bool missing = !found || (colon && now.empty());
  if (rest.empty()) {
    if (!found && unset_) unset_(name);
    return value(now, quoted, out);
  }
  if (sign == '-' || sign == '=' || sign == '?') {
    if (!missing) return value(now, quoted, out);
    if (sign == '?') return unset_ ? unset_(name) : void();
    const std::string otherwise = text(word);
    if (sign == '=') set_shell_value(state_, name, otherwise);
    return value(otherwise, quoted, out);
  }
  if (sign == '+') return missing ? void() : value(text(word), quoted, out);
  value(changed(now, rest), quoted, out);
}

void ShellExpander::dollar(std::string_view part, bool quoted, Piece& out) {
  if (part.starts_with("$(("))
    return value(std::to_string(shell_arithmetic(state_, text(part.substr(3, part.size() - 5)))), quoted,
                 out);
  if (part.starts_with("$(")) return value(run_ ? run_(part.substr(2, part.size() - 3)) : "", quoted, out);
  braces(part.substr(2, part.size() - 3), quoted, out);
}

void ShellExpander::part(std::string_view word, size_t& at, bool quoted, Piece& out) {
  const char c = word[at];
  const bool quotes = c == '$' || c == '`' || (!quoted && (c == '\'' || c == '"'));
  const size_t end = quotes ? std::min(end_of_shell_part(word, at), word.size()) : at + 1;
  state_.budget.spend(end - at);
  if (c == '\\') {
    // Inside double quotes, a backslash stays before other characters than these.
    const char next = at + 1 < word.size() ? word[at + 1] : '\\';
    if (quoted && std::string_view("$`\"\\\n").find(next) == std::string_view::npos) out.add("\\");
    if (next != '\n') out.add(std::string_view(&next, 1));
    at = std::min(at + 2, word.size());
  } else if (c == '\'' && !quoted) {
    out.add(word.substr(at + 1, end - at - 2));
    at = end;
  } else if (c == '"' && !quoted) {
    const std::string_view inside = word.substr(at + 1, end - at - 2);
    const bool list = inside == "$@" ||
                      (inside.starts_with("${") && end_of_shell_part(inside, 0) == inside.size() &&
                       (inside.starts_with("${@") || inside.find("[@]") < inside.size()));
    if (!list) out.add("");
    for (size_t i = 0; i < inside.size();) part(inside, i, true, out);
    at = end;
  } else if (c == '`') {
    value(run_ ? run_(word.substr(at + 1, end - at - 2)) : "", quoted, out);
    at = end;
  } else if (c == '$' && end > at + 1) {
    dollar(word.substr(at, end - at), quoted, out);
    at = end;
  } else if (c == '$' && at + 1 < word.size() &&
             (is_name_character(word[at + 1]) ||
              std::string_view("@*#?$").find(word[at + 1]) != std::string_view::npos)) {
    const bool digit = std::isdigit(static_cast<unsigned char>(word[at + 1]));
    const size_t last = digit || !is_name_character(word[at + 1]) ? at + 2 : end_of_name(word, at + 1);
    const std::string_view name = word.substr(at + 1, last - at - 1);
    if (name == "@")
      all(state_.arguments, quoted, false, out);
    else
      value(plain(name), quoted, out);
    at = last;
  } else {
    out.add(word.substr(at, 1));
    ++at;
  }
}

// The words of "a{1..3}b"; none: the word has no range of numbers.
std::vector<std::string> ShellExpander::range(std::string_view word) {
  if (word.find("..") == std::string_view::npos) return {};
  for (size_t at = 0; at < word.size();) {
    const size_t end = word[at] == '{' ? word.substr(0, at + kLongestRange).find('}', at)
                                       : std::string_view::npos;
    int64_t first = 0, last = 0, step = 1;
    const char* const stop = word.data() + std::min(end, word.size());
    const auto number = [&](const char* from, int64_t& out) {
      const auto [rest, error] = std::from_chars(from, stop, out);
      return error == std::errc() && out > -kLargestOfRange && out < kLargestOfRange ? rest : nullptr;
    };
    const auto dots = [&](const char* from) {
      return from && stop - from > 2 && from[0] == '.' && from[1] == '.' ? from + 2 : nullptr;
    };
    const char* rest = end == std::string_view::npos ? nullptr : dots(number(word.data() + at + 1, first));
    rest = rest ? number(rest, last) : nullptr;
    if (const char* third = dots(rest)) rest = number(third, step);
    if (!rest || rest != stop) {
      at = word[at] == '\\' ? at + 2 : std::min(end_of_shell_part(word, at), word.size());
      continue;
    }
    step = std::max<int64_t>(1, std::abs(step)) * (first <= last ? 1 : -1);
    std::vector<std::string> out;
    for (int64_t i = first; first <= last ? i <= last : i >= last; i += step) {
      state_.budget.spend(word.size() + kFieldSteps);
      out.push_back(std::string(word.substr(0, at)) + std::to_string(i) + std::string(word.substr(end + 1)));
    }
    return out;
  }
  return {};
}

// The words of "x{a,b}y"; none: the word has no list in braces.
std::vector<std::string> ShellExpander::listed(std::string_view word) {
  if (word.find(',') == std::string_view::npos) return {};
  const auto behind = [&](size_t at) {
    return std::min(word[at] == '\\' ? at + 2 : end_of_shell_part(word, at), word.size());
  };
  for (size_t at = 0; at < word.size(); at = behind(at)) {
    if (word[at] != '{') continue;
    std::vector<std::string_view> parts;
    size_t begin = at + 1, i = begin;
    for (int open = 1; i < word.size() && open > 0;) {
      open += word[i] == '{' ? 1 : word[i] == '}' ? -1 : 0;
      if ((open == 1 && word[i] == ',') || open == 0) {
        parts.push_back(word.substr(begin, i - begin));
        begin = i + 1;
      }
      const size_t next = open > 0 ? behind(i) : i;
      state_.budget.spend(next - i + 1);
      i = next;
    }
    if (parts.size() < 2 || i >= word.size() || word[i] != '}') continue;
    std::vector<std::string> out;
    for (const std::string_view part : parts) {
      state_.budget.spend(word.size() + kFieldSteps);
      out.push_back(std::string(word.substr(0, at)) + std::string(part) + std::string(word.substr(i + 1)));
    }
    return out;
  }
  return {};
}

std::vector<std::string> ShellExpander::fields(std::string_view word) {
  Piece out{state_.budget};
  if (++depth_ > kDeepestExpansion) throw ShellTooLong{};
  std::vector<std::string> words = range(word);
  if (words.empty()) words = listed(word);
  if (!words.empty()) {
    for (const std::string& one : words)
      for (std::string& field : fields(one)) out.fields.push_back(std::move(field));
    --depth_;
    return std::move(out.fields);
  }
  for (size_t at = 0; at < word.size();) part(word, at, false, out);
  --depth_;
  out.end();
  return std::move(out.fields);
}

std::string ShellExpander::text(std::string_view word) {
  Piece out{state_.budget};
  out.split = false;
  if (++depth_ > kDeepestExpansion) throw ShellTooLong{};
  for (size_t at = 0; at < word.size();) part(word, at, false, out);
  --depth_;
  return out.current;
}

std::string ShellExpander::document(std::string_view text) {
  Piece out{state_.budget};
  out.split = false;
  for (size_t at = 0; at < text.size();) part(text, at, true, out);
  return out.current;
}

std::vector<std::string> ShellExpander::elements(std::string_view list) {
  std::vector<std::string> out;
  state_.budget.spend(list.size());
  for (size_t at = 0; at < list.size();) {
    if (std::isspace(static_cast<unsigned char>(list[at]))) {
      ++at;
    } else if (list[at] == '#') {
      at = std::min(list.find('\n', at), list.size());
    } else if (list[at] == '\\' && at + 1 < list.size() && list[at + 1] == '\n') {
      at += 2;
    } else {
      const size_t begin = at;
      while (at < list.size() && !std::isspace(static_cast<unsigned char>(list[at])))
        at = list[at] == '\\' ? std::min(at + 2, list.size())
                              : std::min(end_of_shell_part(list, at), list.size());
      for (std::string& field : fields(list.substr(begin, at - begin))) out.push_back(std::move(field));
    }
  }
  return out;
}

bool matches_shell_pattern(std::string_view pattern, std::string_view text, ShellBudget& budget) {
  size_t i = 0, j = 0, star = std::string_view::npos, mark = 0;
  budget.spend(1);
  while (j < text.size()) {
    budget.spend(1);
    size_t next = 0;
    if (i < pattern.size() && pattern[i] == '*') {
      star = i++;
      mark = j;
    } else if (i < pattern.size() && matches_one(pattern, i, text[j], next, budget)) {
      i = next;
      ++j;
    } else if (star != std::string_view::npos) {
      i = star + 1;
      j = ++mark;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', i) == std::string_view::npos;
}

}  // namespace shardscape

#include "launch/server/python_values.h"

#include <algorithm>

namespace shardscape {
namespace {

constexpr int kDeepest = 16;
using Values = std::vector<std::pair<std::string, std::string>>;

std::string_view trimmed(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

// The parts of a bracket, separated by commas outside of quotes and inner brackets; and the position of its
// end, npos if it does not end.
struct Parts {
  std::vector<std::string_view> texts;
  size_t end = std::string_view::npos;
};
Parts parts_of(std::string_view text) {
  Parts out;
  int depth = 0;
  char quote = 0;
  size_t start = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      if (c == '\\')
        ++i;
      else if (c == quote)
        quote = 0;
      continue;
    }
    if (c == '\'' || c == '"') quote = c;
    if (c == '{' || c == '[' || c == '(') ++depth;
    const bool closes = c == '}' || c == ']' || c == ')';
    if ((closes && depth == 1) || (c == ',' && depth == 1)) {
      if (const std::string_view part = trimmed(text.substr(start, i - start)); !part.empty())
        out.texts.push_back(part);
      start = i + 1;
    }
    if (closes && --depth == 0) {
      out.end = i;
      return out;
    }
  }
  return out;
}

std::string plain(std::string_view value) {
  value = trimmed(value);
  if (value == "True") return "true";
  if (value == "False") return "false";
  if (value == "None") return "null";
  if (value.size() > 1 && (value.front() == '\'' || value.front() == '"') && value.back() == value.front())
    return std::string(value.substr(1, value.size() - 2));
  if (value.size() < 2 || value.front() != '[') return std::string(value);
  std::string out;
  for (const std::string_view part : parts_of(value).texts) {
    const std::string_view bare = trimmed(part);
    const bool quoted = bare.size() > 1 && (bare.front() == '\'' || bare.front() == '"');
    out += (out.empty() ? "" : " ") + std::string(quoted ? bare.substr(1, bare.size() - 2) : bare);
  }
  return out;
}

bool collect(std::string_view text, const std::string& path, int depth, Values& out) {
  if (depth > kDeepest || text.empty()) return false;
  const Parts parts = parts_of(text);
  if (parts.end == std::string_view::npos) return false;
  for (const std::string_view part : parts.texts) {
    const bool quoted = part.front() == '\'' || part.front() == '"';
    const size_t sign = quoted ? part.find(':', part.find(part.front(), 1)) : part.find('=');
    if (sign == std::string_view::npos) continue;
    const std::string name = (path.empty() ? "" : path + ".") + plain(part.substr(0, sign));
    const std::string_view value = trimmed(part.substr(sign + 1));
    if (!value.empty() && value.front() == '{' && value != "{}") {
      if (!collect(value, name, depth + 1, out)) return false;
    } else {
      out.emplace_back(name, plain(value));
    }
  }
  return true;
}

}  // namespace

std::optional<Values> read_python_values(std::string_view text) {
  Values out;
  if (!collect(text, "", 0, out)) return std::nullopt;
  return out;
}

}  // namespace shardscape

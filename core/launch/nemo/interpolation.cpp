#include "launch/nemo/interpolation.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace shardscape {
namespace {

constexpr int kDeepest = 20;
constexpr int64_t kMostSteps = 100'000;
constexpr size_t kLongest = 10'000;

using Text = std::optional<std::string>;

std::string trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\'' || text.front() == '"'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\'' || text.back() == '"'))
    text.remove_suffix(1);
  return std::string(text);
}

// Position of the "}" that ends the reference which begins at `at`; npos: none.
size_t end_of_reference(std::string_view text, size_t at) {
  int depth = 0;
  for (size_t i = at; i < text.size(); ++i) {
    if (text.compare(i, 2, "${") == 0) ++depth;
    if (text[i] == '}' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

std::optional<int64_t> whole(const std::string& text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

Text calculated(const std::string& name, const std::vector<std::string>& parts) {
  if (parts.size() != 2) return std::nullopt;
  const auto a = whole(parts[0]), b = whole(parts[1]);
  if (!a || !b) return std::nullopt;
  int64_t out = 0;
  if (name == "multiply")
    return __builtin_mul_overflow(*a, *b, &out) ? std::nullopt : Text(std::to_string(out));
  if (name == "add") return __builtin_add_overflow(*a, *b, &out) ? std::nullopt : Text(std::to_string(out));
  if (name == "gt") return *a > *b ? "true" : "false";
  if (name == "lt") return *a < *b ? "true" : "false";
  if (*b < 1 || *a < 0) return std::nullopt;
  if (name == "floor_div" || name == "divide_floor" || name == "divide") return std::to_string(*a / *b);
  if (name == "divide_ceil") return std::to_string(*a / *b + (*a % *b > 0));
  return std::nullopt;
}

class Interpolation {
 public:
  Interpolation(const LaunchArguments& values, const std::map<std::string, std::string>& variables)
      : values_(values), variables_(variables) {}

  // nullopt: a part is not known.
  Text expanded(std::string_view text, const std::string& name, int depth) {
    if (depth > kDeepest || ++steps_ > kMostSteps) return std::nullopt;
    if (depth > 0 && text.size() > kLongest) return std::nullopt;
    std::string out;
    for (size_t at = 0; at < text.size();) {
      const size_t begin = std::min(text.find("${", at), text.size());
      out += text.substr(at, begin - at);
      if (begin == text.size()) break;
      const size_t end = end_of_reference(text, begin);
      if (end == std::string_view::npos) return std::nullopt;
      const Text value = resolved(text.substr(begin + 2, end - begin - 2), name, depth);
      if (!value || out.size() + value->size() > kLongest) return std::nullopt;
      out += *value;
      at = end + 1;
    }
    return out;
  }

 private:
  Text resolved(std::string_view text, const std::string& name, int depth) {
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos) return reference(std::string(text), name, depth);
    const std::string function(text.substr(0, colon));
    std::vector<std::string> parts;
    const std::string_view arguments = text.substr(colon + 1);
    int inside = 0;
    size_t begin = 0;
    for (size_t i = 0; i <= arguments.size(); ++i) {
      if (i < arguments.size() && arguments[i] == '{') ++inside;
      if (i < arguments.size() && arguments[i] == '}') --inside;
      if (i < arguments.size() && (arguments[i] != ',' || inside > 0)) continue;
      const Text part = expanded(arguments.substr(begin, i - begin), name, depth + 1);
      if (!part) return std::nullopt;
      parts.push_back(trimmed(*part));
      begin = i + 1;
    }
    return called(function, parts, name, depth);
  }

  Text called(const std::string& function, const std::vector<std::string>& parts, const std::string& name,
              int depth) {
    if (function == "oc.env") {
      const auto found = variables_.find(parts[0]);
      if (found != variables_.end()) return found->second;
      return parts.size() > 1 ? Text(parts[1]) : std::nullopt;
    }
    if (function == "oc.decode")
      return parts[0] == "True" ? "true" : parts[0] == "False" ? "false" : parts[0];
    if (function == "oc.select") {
      const Text value = reference(parts[0], name, depth);
      return value ? value : parts.size() > 1 ? Text(parts[1]) : std::nullopt;
    }
    if (function == "if" && parts.size() == 3)
      return parts[0] == "true" || parts[0] == "True" || parts[0] == "1" ? parts[1] : parts[2];
    return calculated(function, parts);
  }

  // ".x" is beside the value, "..x" beside its mapping.
  Text reference(std::string path, const std::string& name, int depth) {
    if (path.starts_with('.')) {
      std::string folder = name;
      while (path.starts_with('.')) {
        const size_t dot = folder.rfind('.');
        folder = dot == std::string::npos ? "" : folder.substr(0, dot);
        path.erase(0, 1);
      }
      path = folder.empty() ? path : folder + "." + path;
    }
    auto found = values_.find(path);
    // The launcher of NeMo puts the file below "training".
    if (found == values_.end() && path.starts_with("training.")) found = values_.find(path.substr(9));
    return found == values_.end() ? std::nullopt : expanded(found->second, found->first, depth + 1);
  }

  const LaunchArguments& values_;
  const std::map<std::string, std::string>& variables_;
  int64_t steps_ = 0;
};

}  // namespace

void interpolate(LaunchDocument& document, const std::map<std::string, std::string>& variables) {
  const LaunchArguments values = document.arguments;
  Interpolation interpolation(values, variables);
  for (auto& [name, value] : document.arguments)
    if (value.find("${") != std::string::npos)
      if (const Text text = interpolation.expanded(value, name, 0)) value = *text;
}

}  // namespace shardscape

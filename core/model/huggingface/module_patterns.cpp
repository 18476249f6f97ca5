#include "model/huggingface/module_patterns.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace shardscape::hf {
namespace {

// Before "layers.", "embed_tokens" and "lm_head", in the spelling of any family.
constexpr std::array<std::string_view, 7> kPrefixes{"language_model.model.",
                                                    "model.language_model.model.",
                                                    "model.language_model.",
                                                    "language_model.",
                                                    "model.",
                                                    "backbone.",
                                                    ""};

// Whether the text fits the glob: * is any text, ? is any character.
bool fits_glob_text(std::string_view glob, std::string_view text) {
  size_t g = 0, t = 0, star = std::string_view::npos, after = 0;
  while (t < text.size()) {
    if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g, ++t;
    } else if (g < glob.size() && glob[g] == '*') {
      star = g++;
      after = t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++after;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

// Calls test(name) for the module and all modules around it, until test returns true.
template <class Test>
bool any_around(std::string_view module, const Test& test) {
  while (!module.empty()) {
    if (test(module)) return true;
    const size_t dot = module.rfind('.');
    module = dot == std::string_view::npos ? "" : module.substr(0, dot);
  }
  return false;
}

}  // namespace

std::string_view in_language_model(std::string_view name) {
  for (const std::string_view prefix : kPrefixes)
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return name;
}

std::string_view layer_of(std::string_view module) {
  constexpr std::string_view kLayers = "layers.";
  if (!module.starts_with(kLayers)) return {};
  size_t end = kLayers.size();
  while (end < module.size() && std::isdigit(static_cast<unsigned char>(module[end]))) ++end;
  return end > kLayers.size() && end < module.size() && module[end] == '.' ? module.substr(0, end + 1)
                                                                           : std::string_view();
}

std::string ModulePatterns::add(const std::string& pattern) {
  constexpr std::string_view kExpression = "re:";
  ++size_;
  if (pattern.starts_with(kExpression)) {
    if (pattern.size() > kLongestExpression)
      return "is longer than " + std::to_string(kLongestExpression) + " characters";
    // A counted repetition is copied as often as it counts.
    for (size_t at = pattern.find('{'); at != std::string::npos; at = pattern.find('{', at + 1))
      if (pattern[at - 1] != '\\') return "has a counted repetition, such as {2}";
    if (expressions_.size() >= kMostExpressions)
      return "is one of more than " + std::to_string(kMostExpressions) + " regular expressions";
    // Without the last option, the time is exponential in an expression such as ([a-z]+)+X.
    try {
      expressions_.emplace_back(pattern.substr(kExpression.size()),
                                std::regex::ECMAScript | std::regex_constants::__polynomial);
    } catch (const std::regex_error&) {
      return "cannot be read";
    }
    return {};
  }
  const std::string_view inside = in_language_model(pattern);
  const size_t wild = inside.find_first_of("*?");
  if (wild != std::string_view::npos) {
    if (pattern.size() > kLongestExpression)
      return "is longer than " + std::to_string(kLongestExpression) + " characters";
    std::vector<std::string>& globs = globs_[std::string(layer_of(inside.substr(0, wild)))];
    if (globs.size() >= kMostGlobs) return "is one of more than " + std::to_string(kMostGlobs) + " globs";
    globs.emplace_back(inside);
  } else {
    names_.emplace(inside);
  }
  if (pattern.find_first_of(".*?") == std::string::npos) words_.insert(pattern);
  return {};
}

bool ModulePatterns::fits_glob(const std::string& module) const {
  for (const std::string_view key : {layer_of(module), std::string_view()}) {
    const auto globs = globs_.find(key);
    if (globs == globs_.end()) continue;
    for (const std::string& glob : globs->second)
      if (any_around(module, [&](std::string_view name) { return fits_glob_text(glob, name); })) return true;
    if (key.empty()) break;
  }
  return false;
}

bool ModulePatterns::fits(const std::string& module) const {
  const bool named = any_around(module, [&](std::string_view name) {
    const size_t dot = name.rfind('.');
    return names_.contains(name) ||
           (!words_.empty() && words_.contains(dot == std::string_view::npos ? name : name.substr(dot + 1)));
  });
  if (named || fits_glob(module)) return true;
  return std::any_of(expressions_.begin(), expressions_.end(), [&](const std::regex& expression) {
    return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](std::string_view prefix) {
      const std::string name = std::string(prefix) + module;
      return std::regex_search(name, expression, std::regex_constants::match_continuous);
    });
  });
}

}  // namespace shardscape::hf

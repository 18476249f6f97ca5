// Documents of settings, YAML, TOML, JSON or literals of Python, as one flat list of arguments: {parallelism:
// {tp: 8}} is the argument "parallelism.tp" with the text "8".
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "base/problem.h"
#include "launch/launch_fields.h"

namespace shardscape {

struct LaunchDocument {
  // Booleans are "true" and "false". A list of plain values is one argument, joined by spaces. Other lists
  // have one argument for each entry: "datasets.0.name". An absent value is "null", an empty mapping or list
  // "".
  LaunchArguments arguments;
  std::map<std::string, int> lines;  // of arguments; JSON: none
  // Python: arguments whose value only a running program knows. Their text is the source. A statement that
  // assigns no literal is the argument "line 12".
  std::set<std::string> computed = {};
};

enum class DocumentLanguage { Yaml, Toml, Json, Python };

// Problems (LaunchSyntax) name `where` and the line. At most kMostLaunchValues values, and
// kDeepestLaunchValue levels.
std::variant<LaunchDocument, Problem> read_launch_document(DocumentLanguage language, const std::string& text,
                                                           const std::string& where);

// Whether the first line with a value is a section of TOML, "[model]", not a list of JSON.
bool begins_as_toml(std::string_view text);

constexpr size_t kMostLaunchValues = 100'000;
constexpr size_t kMostLaunchBytes = 64 << 20;  // of all names, with the names around them, and values
constexpr int kDeepestLaunchValue = 64;

}  // namespace shardscape

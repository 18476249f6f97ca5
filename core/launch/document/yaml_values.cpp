#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "launch/document/flat_values.h"

namespace shardscape {
namespace {

int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

// YAML 1.1, which PyYAML reads: yes and on are true.
std::string plain(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;  // quoted
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == "true" || lower == "yes" || lower == "on") return "true";
  if (lower == "false" || lower == "no" || lower == "off") return "false";
  return lower.empty() || lower == "null" || lower == "~" ? "null" : text;
}

void collect(const YAML::Node& node, const std::string& path, int depth, FlatValues& out);

bool merges(const YAML::Node& key) { return key.IsScalar() && key.Scalar() == "<<"; }

// Merged mappings come first: the mapping's own values replace theirs.
void collect_mapping(const YAML::Node& node, const std::string& path, int depth, FlatValues& out) {
  if (node.size() == 0 && !path.empty()) out.add(path, "", line_of(node));
  for (const auto& entry : node) {
    if (!merges(entry.first)) continue;
    if (entry.second.IsMap()) collect(entry.second, path, depth + 1, out);
    if (entry.second.IsSequence())
      for (const YAML::Node& merged : entry.second) collect(merged, path, depth + 1, out);
  }
  for (const auto& entry : node) {
    if (merges(entry.first)) continue;
    if (!entry.first.IsScalar()) throw DocumentError("a name is no plain text", line_of(entry.first));
    collect(entry.second, FlatValues::join(path, entry.first.Scalar()), depth + 1, out);
  }
}

void collect(const YAML::Node& node, const std::string& path, int depth, FlatValues& out) {
  FlatValues::check_depth(depth, line_of(node));
  out.visit(line_of(node));
  if (node.IsMap()) {
    collect_mapping(node, path, depth, out);
  } else if (node.IsSequence()) {
    std::vector<std::string> parts;
    for (const YAML::Node& entry : node) {
      if (!entry.IsScalar()) continue;
      out.spend(entry.Scalar().size() + 1, line_of(entry));  // a reference repeats its text
      parts.push_back(plain(entry));
    }
    if (parts.size() == node.size()) return out.add(path, FlatValues::spaced(parts), line_of(node));
    for (size_t i = 0; i < node.size(); ++i)
      collect(node[i], FlatValues::join(path, std::to_string(i)), depth + 1, out);
  } else {
    out.add(path, node.IsScalar() ? plain(node) : "null", line_of(node));
  }
}

}  // namespace

LaunchDocument read_yaml_values(const std::string& text) {
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) throw DocumentError("the document is no mapping of names and values", 0);
    FlatValues out;
    collect(root, "", 0, out);
    return out.take();
  } catch (const YAML::DeepRecursion& error) {
    throw DocumentError("values are nested deeper than " + std::to_string(kDeepestLaunchValue) + " levels",
                        error.mark.line + 1);
  } catch (const YAML::Exception& error) {
    throw DocumentError("the text is not YAML: " + error.msg, error.mark.line + 1);
  }
}

}  // namespace shardscape

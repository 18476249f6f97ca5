// Names of modules in checkpoints, and the patterns by which files name several modules. Private to core's
// .cpp files.
#pragma once

#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace shardscape::hf {

// A name without what stands before the layers of the language model: "model.layers.3.mlp.up_proj" and
// "language_model.model.layers.3.mlp.up_proj" become "layers.3.mlp.up_proj".
std::string_view in_language_model(std::string_view name);

// A set of patterns. A pattern is a name, a glob with * and ?, or a regular expression after "re:"; the
// expression fits from the beginning of a name on. A pattern that fits a module fits all modules inside. A
// name without a dot also fits a part of a longer name: "gate" fits "layers.3.mlp.gate", but not "gate_proj".
// Names are found in a table, and globs of one layer are tried for this layer only, so that lists of every
// module of a model stay fast.
class ModulePatterns {
 public:
  // Regular expressions and globs are tried for every module.
  static constexpr size_t kMostExpressions = 64, kMostGlobs = 512;  // globs: of one layer, or of all layers
  static constexpr size_t kLongestExpression = 400;                 // or glob, in characters
  // Returns what is wrong with the pattern: "cannot be read"; empty: nothing.
  std::string add(const std::string& pattern);
  // module: as in_language_model() returns it.
  bool fits(const std::string& module) const;
  size_t size() const { return size_; }

 private:
  bool fits_glob(const std::string& module) const;
  size_t size_ = 0;
  std::set<std::string, std::less<>> names_, words_;
  std::map<std::string, std::vector<std::string>, std::less<>> globs_;  // by "layers.3."; "" for all layers
  std::vector<std::regex> expressions_;
};

// The layer of a name, "layers.3." with both dots; empty if the name has no layer.
std::string_view layer_of(std::string_view module);

}  // namespace shardscape::hf

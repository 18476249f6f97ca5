// Collects the values of a document under their paths.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "launch/document/launch_document.h"

namespace shardscape {

// A document is not accepted: too large, too deep, or not of its language.
struct DocumentError : std::runtime_error {
  DocumentError(const std::string& what, int line_) : std::runtime_error(what), line(line_) {}
  int line;  // from 1; 0: not known
};

class FlatValues {
 public:
  // Throws DocumentError. line: from 1; 0: not known.
  void add(const std::string& path, const std::string& text, int line);
  static void check_depth(int depth, int line);
  // Counts a part of the document. References lead to the same part many times, in small documents billions
  // of times. Throws DocumentError.
  void visit(int line);
  // Counts bytes that the values take. Throws DocumentError.
  void spend(size_t bytes, int line);
  static std::string join(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  }
  static std::string spaced(const std::vector<std::string>& parts);
  LaunchDocument take() { return std::move(out_); }

 private:
  LaunchDocument out_;
  size_t bytes_ = 0;  // of all names and values
  size_t visits_ = 0;
};

LaunchDocument read_yaml_values(const std::string& text);
LaunchDocument read_toml_values(const std::string& text);
LaunchDocument read_json_values(const std::string& text);
LaunchDocument read_python_settings(const std::string& text);

}  // namespace shardscape

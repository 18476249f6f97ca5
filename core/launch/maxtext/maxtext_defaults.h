// Names and defaults of MaxText's arguments: resources/launch/maxtext_defaults.json, from base.yml.
#pragma once

#include <map>
#include <string>

namespace shardscape {

class MaxTextDefaults {
 public:
  MaxTextDefaults();
  // "logical_axis_rules.0.1" has the name logical_axis_rules.
  bool knows(const std::string& argument) const;
  // Numbers are compared as numbers. A log prints nested lists in one line: their words are compared.
  bool is_default(const std::string& argument, const std::string& value) const;

 private:
  std::map<std::string, std::string> defaults_, words_;
};

}  // namespace shardscape

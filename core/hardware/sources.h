// The sources of the values in a catalogue entry.
#pragma once

#include <map>
#include <string>

namespace shardscape {

// Key of a value in the catalogue -> source. "*": all values without a source of their own.
using Sources = std::map<std::string, std::string>;

// The source of a value; empty if there is none.
inline std::string source_of(const Sources& sources, const std::string& key) {
  for (const std::string& name : {key, std::string("*")})
    if (const auto it = sources.find(name); it != sources.end()) return it->second;
  return {};
}

}  // namespace shardscape

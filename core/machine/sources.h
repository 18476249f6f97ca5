// Where the values of a catalogue's entry come from.
#pragma once

#include <map>
#include <string>

namespace shardscape {

// By the key of a value in the catalogue; "*": of all values that have no entry of their own.
using Sources = std::map<std::string, std::string>;

// Empty: none is named.
inline std::string source_of(const Sources& sources, const std::string& key) {
  for (const std::string& name : {key, std::string("*")})
    if (const auto it = sources.find(name); it != sources.end()) return it->second;
  return {};
}

}  // namespace shardscape

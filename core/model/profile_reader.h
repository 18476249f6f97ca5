// Reads kernel profiles from JSON and resolves "extends". Private to core's .cpp files, because this header
// includes the JSON library.
#pragma once

#include <optional>
#include <vector>

#include "model/json_reader.h"
#include "model/kernel_profile.h"

namespace shardscape {

class ProfileReader {
 public:
  // Reads one file without its base; the base may come in a later file. Throws DataError.
  void read(const JsonFile& file);
  // All profiles with the rules of their bases, profiles without a base first. A profile with a missing base
  // or a cycle is left out with a Problem; an earlier profile with the same id then takes its place. A
  // profile that fuses unknown op kinds is left out with a Problem.
  std::vector<KernelProfile> resolve(std::vector<Problem>& problems);

 private:
  struct Entry {
    JsonFile file;  // without the members of its base
    std::string id, extends;
    std::string where(const char* key) const { return file.name() + ":" + std::to_string(file.line_of(key)); }
  };
  const Entry* latest(const std::string& id) const;
  std::optional<Problem> base_problem(const Entry& entry) const;
  // The problem with a list of op kinds in the entry: a kind that the profile has no rule for. profile: with
  // the rules of its bases.
  static std::optional<Problem> kinds_problem(const KernelProfile& profile, const Entry& entry);

  std::vector<Entry> entries_;
};

}  // namespace shardscape

// Kernel profiles from JSON, those that extend another one included. Private to core's .cpp files: it shows the JSON library.
#pragma once

#include <optional>
#include <vector>

#include "model/json_reader.h"
#include "model/kernel_profile.h"

namespace shardscape {

class ProfileReader {
 public:
  // Throws DataError. What the file says of its own; the profile that it extends may come in a later file.
  void read(const JsonFile& file);
  // Every profile with the rules of those that it extends; the ones that stand alone first. One whose base is missing, or that
  // extends itself, is left out with its Problem; a profile of the same id that was read before then stands in its place.
  std::vector<KernelProfile> resolve(std::vector<Problem>& problems);

 private:
  struct Entry {
    KernelProfile own;
    std::string extends;
    bool packs = false, reduces = false;  // says itself what is packed, and when gradients are reduced
    bool recomputes = false;              // says itself what is made again
    bool weighs = false;                  // and how gradients of weights are made
    bool gathers = false, sums = false;   // what is kept of gathered inputs, and when gradients are added up
    std::string where;  // place of "extends": file and line
  };
  const Entry* latest(const std::string& id) const;
  std::optional<Problem> broken(const Entry& entry) const;

  std::vector<Entry> entries_;
};

}  // namespace shardscape

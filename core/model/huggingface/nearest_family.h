// What a file of an unknown model type has in common with the known families.
#pragma once

#include <string>
#include <vector>

#include "model/huggingface/families/registry.h"

namespace shardscape::hf {

struct NearestFamily {
  const FamilyRow* family = nullptr;
  std::string architecture;
  size_t fields = 0;                     // of the file that the family reads
  std::vector<std::string> uncovered;    // fields that no block covers and no common reason explains
  std::vector<std::string> differences;  // settings of the file that the family has no blocks for
};

// The readable family that covers most fields of the object. Of equal ones, the family that reads most fields
// and has fewest differences.
NearestFamily nearest_family(const HfReader& reader);

}  // namespace shardscape::hf

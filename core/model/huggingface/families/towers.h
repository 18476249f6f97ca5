// Vision towers of files that hold several models.
#pragma once

#include "model/huggingface/families/common.h"

namespace shardscape::hf {

// A tower by the model type of the whole file.
struct TowerRow {
  const char* type;
  // Reads "vision_config" and gives the language model the architecture with the tower.
  void (*read)(HfReader& vision, Family& language);
  bool has_defaults = false;  // for all sizes, so that files may lack "vision_config"
};
// The row of this type; nullptr: no blocks compute its tower.
const TowerRow* tower_of_type(const std::string& type);

}  // namespace shardscape::hf

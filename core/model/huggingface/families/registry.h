// The one table of the families of config.json.
#pragma once

#include <string>
#include <vector>

#include "model/huggingface/families/common.h"

namespace shardscape::hf {

struct FamilyRow {
  const char* type;         // "model_type" of the file
  void (*read)(Family& f);  // fills the model
};

// In alphabetical order of types.
const std::vector<FamilyRow>& families();
const FamilyRow* family_of_type(const std::string& type);

// The type of files of the Mamba authors, which have no "model_type" but a "ssm_cfg".
inline constexpr const char* kUntypedMamba = "mamba_ssm";

}  // namespace shardscape::hf

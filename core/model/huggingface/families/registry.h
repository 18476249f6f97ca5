// The one table of the families of config.json.
#pragma once

#include <span>
#include <string>

#include "model/huggingface/families/common.h"

namespace shardscape::hf {

struct FamilyRow {
  const char* type;          // "model_type" of the file
  const char* model_class;   // in "architectures" of the file; empty where another row has the class
  void (*read)(Family& f);   // fills the model; null: some mechanisms have no blocks
  const char* missing = "";  // read is null: the mechanisms without blocks, in plain words
};

// In alphabetical order of types.
std::span<const FamilyRow> families();
const FamilyRow* family_of_type(const std::string& type);
const FamilyRow* family_of_class(const std::string& model_class);

// The type of files of the Mamba authors, which have no "model_type" but a "ssm_cfg".
inline constexpr const char* kUntypedMamba = "mamba_ssm";

}  // namespace shardscape::hf

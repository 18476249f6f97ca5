// The JSON files of a checkpoint: config.json, and hf_quant_config.json where the checkpoint has one.
#pragma once

#include <filesystem>
#include <optional>

#include "model/huggingface/hf_import.h"

namespace shardscape {

struct HfFile {
  std::string text, name;  // name: in messages
};

struct HfFiles {
  HfFile config;
  std::optional<HfFile> quantization;
};

// Reads one of the two files, and the other one next to it: X_hf_quant_config.json is next to X_config.json.
// The contents of the named file decide which of the two it is. A file of quantized weights without a
// config.json is a problem.
Result<HfFiles> read_hf_files(const std::filesystem::path& path);
// as: see import_hf_config().
ImportResult import_hf_files(const HfFiles& files, const std::string& as = "");
// Whether a JSON text is one of the two files and not a saved design: it has "model_type", "architectures",
// "ssm_cfg" or "quantization".
bool looks_like_hf_file(const std::string& text);

}  // namespace shardscape

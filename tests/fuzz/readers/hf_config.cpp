#include "fuzz/reader.h"
#include "model/huggingface/hf_import.h"

namespace shardscape::fuzz {

std::string hf_config(std::string_view input) {
  return reason(import_hf_config(std::string(input), "config.json").problems);
}

}  // namespace shardscape::fuzz

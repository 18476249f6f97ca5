// Hugging Face config.json -> model: what of it was recognised, what had to be assumed, what has no bearing here.
#pragma once

#include <string>
#include <vector>

#include "base/problem.h"
#include "model/model_spec.h"

namespace shardscape {

struct ImportField {
  std::string key;    // in the file, "num_hidden_layers"; nested keys with a dot
  std::string value;  // as in the file; of an assumed one the value that was taken
  std::string note;   // what it became, why it was assumed, why it does not count
};

struct ImportResult {
  std::string model_type;  // "llama"
  std::string name;        // of the preset that has the same sizes, else from the file
  ModelSpec model;         // preset: the one that has the same sizes, empty where none has
  int64_t context = 0;     // longest sequence that the file speaks of; 0: none
  std::vector<ImportField> recognised, assumed, ignored;
  std::vector<Problem> problems;  // not empty: model is not whole
  bool ok() const { return problems.empty(); }
};

// where: what messages call the text (a file name). Never throws for what the text holds.
ImportResult import_hf_config(const std::string& text, const std::string& where);
// Whether a JSON text is rather such a file than a saved design: it names a model_type or Hugging Face's architectures.
bool looks_like_hf_config(const std::string& text);
// The model types that can be imported, "gemma", "gemma2", ...
std::vector<std::string> hf_model_types();

}  // namespace shardscape

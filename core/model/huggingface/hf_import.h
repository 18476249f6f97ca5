// Converts a Hugging Face config.json to a model, and lists the recognised, assumed, unknown and
// ignored keys.
#pragma once

#include <string>
#include <vector>

#include "base/problem.h"
#include "model/model_spec.h"

namespace shardscape {

struct ImportField {
  std::string key;    // key in the file, "num_hidden_layers"; nested keys contain a dot
  std::string value;  // value in the file, or the assumed value
  std::string note;   // the resulting size, or the reason why the key is assumed or not used
};

struct ImportResult {
  std::string model_type;  // "llama"
  std::string name;        // of the preset with equal sizes, otherwise from the text or the name of the file
  ModelSpec model;         // `preset` is the preset with equal sizes, empty without one
  int64_t context = 0;     // longest sequence that the file states; 0: not stated
  std::vector<ImportField> recognised, assumed;
  std::vector<ImportField> unknown;  // nothing is known about these keys: they may change the architecture
  std::vector<ImportField> ignored;  // these keys do not change the architecture
  std::string nearest;  // the known type that reads most fields of a file of an unknown type; else empty
  std::string as;       // the type that the caller chose instead of that of the file; else empty
  // With `as`: settings of the file that this type has no blocks for. The model is without them.
  std::vector<ImportField> differences;
  std::vector<Problem> problems;  // not empty: `model` is incomplete
  bool ok() const { return problems.empty(); }
};

// The text of a config.json. where: the name of the text in messages (a file name). Mistakes in the text
// become problems, never exceptions.
// as: a type of hf_model_types() that reads the file instead of the type in the file. The result is then an
// approximation: it never has a preset, and settings without blocks are differences instead of problems.
ImportResult import_hf_config(const std::string& text, const std::string& where, const std::string& as = "");
// The supported model types: "gemma", "gemma2", ...
std::vector<std::string> hf_model_types();

}  // namespace shardscape

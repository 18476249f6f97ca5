// The design that the command line and the Python module start from when only a model is given.
#pragma once

#include <string>

#include "design/design.h"
#include "model/huggingface/hf_import.h"
#include "model/library.h"

namespace shardscape {

inline constexpr const char* kUsualModel = "llama3-8b";
inline constexpr int64_t kMicrobatchesPerStage = 4, kUsualSeq = 8192;

// A preset on one rank, with its usual sequence length.
Design single_rank_design(const Preset& preset);
// An imported model on one rank: sequences of 8,192 tokens, or of the model's maximum if the maximum is
// shorter.
Design imported_design(const ImportResult& import);
// Enough microbatches to fill the pipeline; counts no more stages than layers.
int64_t usual_batch(const Design& design);
// "Llama 3 8B on 8 GPUs"
std::string usual_name(const std::string& model, int64_t ranks);

}  // namespace shardscape

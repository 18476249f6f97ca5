// The module for multi-token prediction as inference runs it: a layer and a head that propose draft tokens
// (WorkloadSpec::draft_module).
#pragma once

#include "model/block.h"

namespace shardscape {

class ModelLibrary;

// Whether the line, or the block that it calls, compares with the tokens that follow: a loss.
bool reads_targets(const OpLine& line, const ModelLibrary& library);

// The layer reads the embedding of its tokens as its stream "x", and the last hidden states of the model as
// "hidden". A model with several residual streams embeds the tokens once more inside the layer. The head
// repeats the lines of the model's head, without losses (DeepSeek-V3, arXiv 2412.19437, section 2.2).
struct DraftModule {
  SectionTemplate layer, head;
};
// The architecture has lines for multi-token prediction.
DraftModule draft_module_of(const Architecture& architecture, const ModelLibrary& library);

}  // namespace shardscape

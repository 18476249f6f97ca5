// The draft of speculative decoding that the settings of a service name.
#pragma once

#include "base/problem.h"
#include "serving/engine/draft.h"
#include "serving/service/service_spec.h"

namespace shardscape {

// engine: the design of one engine. draft_model is the id of a preset, the config.json of a model, or a saved
// design. A Problem names the setting if it does not fit the method, if there is no such model, if the ranks
// cannot split it, or if the vocabulary of a smaller model is not that of the model (vLLM,
// config/speculative.py, verify_equal_vocab_size_if_draft_model).
Result<Draft> service_draft(const Design& engine, const ServiceSpec& spec);

}  // namespace shardscape

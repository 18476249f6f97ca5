// What proposes the tokens of speculative decoding besides n-grams: the model's own module for multi-token
// prediction (DeepSeek-V3, arXiv 2412.19437, section 2.2), an EAGLE layer (Li et al., ICML 2024,
// section 3.1), or a smaller model (Leviathan, Kalman, Matias, ICML 2023).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/plan_cache.h"
#include "design/design.h"
#include "plan/report.h"

namespace shardscape {

enum class DraftKind : uint8_t {
  None,    // nothing is computed
  Module,  // the module of the model: its graph
  Eagle,   // a layer, after a product that joins an embedding with a hidden state
  Model    // a model of its own
};
struct Draft {
  DraftKind kind = DraftKind::None;
  // Of one pass, on the ranks of the last pipeline stage. Without one, a pass costs the mean of the layers of
  // the model, and its head.
  std::optional<Design> design;
};

// The module of the engine's model (WorkloadSpec::draft_module). Requires has_draft_module().
Design module_design(const Design& engine);
// Another model on the accelerators of the engine. tp: ranks that share it; every group of so many ranks
// computes the same.
Design draft_model_design(const Design& engine, const ModelSpec& model, int64_t tp);

// Bytes of weights that a rank of the last stage stores for the draft. Modules and EAGLE layers share the
// tables of embedding and head with the model, unless the block of the head is another one. model: a valid
// report of the engine.
Result<int64_t> draft_weights(const Draft& draft, const Report& model, std::shared_ptr<PlanCache> cache);
// A decode step of the draft's design; its cache has the layers of the draft.
std::shared_ptr<const Report> draft_step(const Design& draft, std::shared_ptr<PlanCache> cache);

}  // namespace shardscape

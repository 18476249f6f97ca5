#include "serving/engine/padded_weights.h"

#include <algorithm>

#include "model/weight_format.h"

namespace shardscape {
namespace {

constexpr int64_t kUnit = 256, kMarlinUnit = 128;

int64_t aligned(int64_t size, int64_t unit) { return (size + unit - 1) / unit * unit; }

}  // namespace

int64_t vllm_padding_bytes(const Design& design, const Accelerator& accelerator, bool marlin,
                           int64_t expert_layers) {
  const ModelSpec& model = design.model;
  const auto format = model.weight_formats.find(WeightRole::ExpertUp);
  if (model.experts == 0 || format == model.weight_formats.end() ||
      stored_type(format->second) != DType::MXFP4)
    return 0;
  const ParallelSpec& p = design.parallel;
  const int64_t hidden = model.hidden, width = model.expert_ffn / std::max<int64_t>(1, p.expert_tp());
  const int64_t experts = expert_layers * model.experts / std::max<int64_t>(1, p.ep);
  // Weights of the gate, up and down projections of an expert. Each has half a byte, and 32 share a byte of
  // scale.
  const auto added = [&](int64_t padded) { return experts * (padded - 3 * hidden * width); };
  if (!marlin && accelerator.fp4_tflops == 0)
    return added(2 * width * aligned(hidden, kUnit) + hidden * aligned(width, kUnit)) / 2;
  return added(3 * aligned(hidden, kUnit) * aligned(width, marlin ? kMarlinUnit : kUnit)) * 17 / 32;
}

}  // namespace shardscape

// What quantized matrix products ask of sizes, and precisions that mean nothing for a design.
#include <algorithm>

#include "base/units.h"
#include "design/checks.h"
#include "model/library.h"

namespace shardscape {
namespace {

const std::string kStorage = "storage";

// Elements that share a scale lie along the contraction: along a token's features in the forward, along tokens in the
// weight gradient. Without blocks the matrix units want multiples of 16 and 8 (Transformer Engine, FP8 GEMM).
int64_t wanted(DType type, bool tokens) { return quantization_block(type) > 1 ? quantization_block(type) : tokens ? 8 : 16; }

void check_sizes(Checks& checks) {
  const Design& d = checks.design;
  const DType type = compute_dtype(d.workload);
  if (!is_quantized(type) || !checks.sound({"compute", "tp", "cp", "heads", "head_dim", "hidden", "ffn", "seq", "microbatch"})) return;
  const int64_t tp = d.parallel.tp, block = wanted(type, false), rows = wanted(type, true);
  const Fix off = set_to("compute", kStorage);
  const std::string name(dtype_name(type));
  const auto features = [&](const char* knob, const char* what, int64_t size, int64_t parts, bool mends) {
    if (size % parts != 0 || size / parts % block == 0) return;  // sizes that do not split at all are told elsewhere
    std::vector<Fix> fixes;
    if (mends) offer(fixes, knob, (size / (parts * block) + 1) * parts * block);
    fixes.push_back(off);
    checks.error(knob, name + " wants " + what + " in multiples of " + grouped(block) + " on every rank, but " + grouped(size) +
                           (parts > 1 ? " over tp = " + grouped(parts) + " makes " + grouped(size / parts) : ""),
                 "a multiple of " + grouped(parts * block) + ", or compute " + kStorage, std::move(fixes));
  };
  features("hidden", "the hidden size", d.model.hidden, 1, false);
  features("ffn", "the FFN size", d.model.ffn, tp, true);
  features("heads", "heads x head size", d.model.heads * d.model.head_dim, tp, false);
  const int64_t parts = d.parallel.cp * (d.parallel.sequence_parallel ? tp : 1), b = d.workload.microbatch, seq = d.workload.seq;
  if (seq % parts != 0 || seq / parts * b % rows == 0) return;
  std::vector<Fix> fixes;
  const int64_t multiple = parts * rows;
  offer(fixes, "seq", seq >= multiple ? seq / multiple * multiple : multiple);
  fixes.push_back(off);
  checks.error("seq", name + " wants the tokens of a rank in multiples of " + grouped(rows) + ", but b S makes " + grouped(seq / parts * b),
               "a multiple of " + grouped(multiple) + ", or compute " + kStorage, std::move(fixes));
}

void check_idle(Checks& checks) {
  const Design& d = checks.design;
  const WorkloadSpec& w = d.workload;
  if (w.dispatch_dtype != DispatchPrecision::Same && checks.sound({"dispatch_dtype"}) && !uses_axis(d, Axis::Experts))
    checks.note("dispatch_dtype", "it has no effect: this model has no experts to send tokens to", "same", {set_to("dispatch_dtype", std::string("same"))});
  else if (w.dispatch_dtype != DispatchPrecision::Same && checks.sound({"dispatch_dtype", "ep"}) && d.parallel.ep == 1)
    checks.note("dispatch_dtype", "it has no effect: without expert parallelism tokens stay where they are", "same, or ep of at least 2",
                {set_to("dispatch_dtype", std::string("same"))});
  if (w.master_weights || !checks.sound({"dtype", "sync", "dp", "cp"})) return;
  const bool fsdp = d.parallel.sync == SyncStrategy::Fsdp1 && d.parallel.dp * d.parallel.cp > 1;
  if (w.dtype == DType::FP32 || fsdp)
    checks.note("master_weights", std::string("it has no effect: ") + (fsdp ? "FSDP keeps its shards in float32" : "parameters are float32 themselves"),
                "on", {set_to("master_weights", std::string("true"))});
}

}  // namespace

void check_precision(Checks& checks) {
  check_sizes(checks);
  check_idle(checks);
}

}  // namespace shardscape

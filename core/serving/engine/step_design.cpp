#include "serving/engine/step_design.h"

#include <algorithm>

#include "serving/inference.h"

namespace shardscape {
namespace {

Design of_mode(const Design& engine, Mode mode, int64_t microbatch) {
  Design out = engine;
  out.workload.mode = mode;
  out.workload.microbatch = microbatch;
  out.workload.batch = microbatch * engine.parallel.dp;
  return out;
}

}  // namespace

int64_t prompt_unit(const Design& engine) {
  const ParallelSpec& p = engine.parallel;
  return (splits_tokens_over_tp(of_mode(engine, Mode::Prefill, 1)) ? p.tp : 1) * (p.cp > 1 ? 2 * p.cp : 1);
}

int64_t context_unit(const Design& engine) { return engine.parallel.cp * engine.parallel.dcp; }

Design decode_design(const Design& engine, int64_t sequences, int64_t context) {
  const int64_t least = least_batch(engine) / std::max<int64_t>(1, engine.parallel.dp);
  Design out = of_mode(engine, Mode::Decode, (sequences + least - 1) / least * least);
  out.workload.context_length = context;
  return out;
}

Design prompt_design(const Design& engine, int64_t prompts, int64_t tokens, int64_t cached) {
  Design out = of_mode(engine, Mode::Prefill, prompts);
  out.workload.seq = tokens;
  out.workload.cached_tokens = cached;
  return out;
}

}  // namespace shardscape

#include "serving/requests/engine_settings.h"

#include <string>

#include "base/units.h"

namespace shardscape {

std::optional<Problem> check_settings(const EngineSettings& settings) {
  struct Bound {
    const char* name;
    int64_t value, least, most;
  };
  constexpr int64_t kMost = 1 << 30;
  const Bound bounds[] = {
      {"max_num_batched_tokens", settings.max_num_batched_tokens, 1, kMost},
      {"max_num_seqs", settings.max_num_seqs, 1, kMost},
      {"max_model_len", settings.max_model_len, 2, kMost},
      {"block_size", settings.block_size, 1, 65536},
      // A cache of the null block alone holds nothing.
      {"num_gpu_blocks", settings.num_gpu_blocks, settings.num_gpu_blocks == 0 ? 0 : 2, kMost},
      {"long_prefill_token_threshold", settings.long_prefill_token_threshold, 0, kMost},
  };
  for (const Bound& bound : bounds) {
    if (bound.value < bound.least || bound.value > bound.most)
      return Problem(ProblemCode::EngineSettingInvalid, bound.name, "the value is " + grouped(bound.value),
                     grouped(bound.least) + " to " + grouped(bound.most));
  }
  if (!(settings.watermark >= 0 && settings.watermark < 1))
    return Problem(ProblemCode::EngineSettingInvalid, "watermark",
                   "the value is " + significant(settings.watermark), "a share of at least 0 and below 1");
  return std::nullopt;
}

}  // namespace shardscape

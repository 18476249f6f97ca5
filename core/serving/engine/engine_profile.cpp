#include "serving/engine/engine_profile.h"

#include <algorithm>

namespace shardscape {

int64_t EngineProfile::padded(int64_t tokens) const {
  const auto at = std::lower_bound(captured.begin(), captured.end(), tokens);
  return at == captured.end() ? tokens : *at;
}

std::vector<int64_t> vllm_captured_sizes(int64_t most) {
  std::vector<int64_t> out;
  for (int64_t size : {1, 2, 4})
    if (size <= most) out.push_back(size);
  for (int64_t size = 8; size <= most; size += size < 256 ? 8 : 16) out.push_back(size);
  return out;
}

}  // namespace shardscape

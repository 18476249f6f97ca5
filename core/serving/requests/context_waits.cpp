#include "serving/requests/context_waits.h"

#include <algorithm>

namespace shardscape {

ContextWaits::ContextWaits(const EngineSettings& settings)
    : settings_(settings.trtllm),
      balance_(settings.engine == EngineKind::Trtllm && settings.attention_dp > 1 &&
               settings_.enable_balance),
      batch_(settings.engine == EngineKind::Trtllm && settings.attention_dp == 1 &&
             (settings_.batch_wait_timeout_iters > 0 || settings_.batch_wait_max_tokens_ratio > 0)) {}

bool ContextWaits::hold(std::span<const SelectedStep> selected) {
  return balance_ ? balanced_hold(selected) : batch_ && batch_hold(selected.front());
}

bool ContextWaits::balanced_hold(std::span<const SelectedStep> selected) {
  const auto all = [&](const auto& holds) { return std::all_of(selected.begin(), selected.end(), holds); };
  const bool generate = all([](const SelectedStep& of) { return of.generating > 0; });
  const bool start = all(
      [&](const SelectedStep& of) { return of.contexts > 0 && of.generating < settings_.max_batch_size; });
  if (start) {
    waited_ = 0;
    if (!generate) return false;
    if (batched_ < settings_.batching_wait_iters) {
      ++batched_;
      return true;
    }
    batched_ = 0;
    return false;
  }
  if (++waited_ < settings_.timeout_iters && generate) return true;
  waited_ = 0;
  return false;
}

bool ContextWaits::batch_hold(const SelectedStep& selected) {
  if (selected.contexts == 0 || selected.generating == 0) return false;
  const double enough = settings_.batch_wait_max_tokens_ratio * static_cast<double>(settings_.max_num_tokens);
  if (batched_ < settings_.batch_wait_timeout_iters && static_cast<double>(selected.tokens) < enough) {
    ++batched_;
    return true;
  }
  batched_ = 0;
  return false;
}

}  // namespace shardscape

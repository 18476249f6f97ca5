#include "serving/requests/speculation.h"

#include <algorithm>

#include "serving/requests/random.h"
#include "serving/requests/request_record.h"

namespace shardscape {

Speculation::Speculation(const EngineSettings& settings)
    : rates_(acceptance_rates(settings.speculation)),
      seed_(static_cast<uint64_t>(settings.speculation.seed)),
      longest_(longest_sequence(settings)) {}

// The last token of the longest sequence is not computed (vLLM, v1/core/sched/scheduler.py: at most
// max_model_len - 1 - num_computed_tokens).
int64_t Speculation::step_tokens(int64_t computed, int64_t budget) const {
  return std::max<int64_t>(1, std::min({1 + draft_tokens(), budget, longest_ - 1 - computed}));
}

int64_t Speculation::accepted(int32_t request, int64_t computed, int64_t drafted) const {
  const auto stream = (static_cast<uint64_t>(request + 1) << 32) + static_cast<uint64_t>(computed);
  const double draw = drafted > 0 ? Random(seed_, stream).uniform() : 1;
  int64_t out = 0;
  while (out < drafted && draw < rates_[static_cast<size_t>(out)]) ++out;
  return out;
}

double rate_of_length(double length, int64_t tokens) {
  double low = 0, high = 1;
  for (int i = 0; i < 50; ++i) {
    const double rate = (low + high) / 2;
    double sum = 1;
    for (int64_t k = 0; k < tokens; ++k) sum = 1 + rate * sum;
    (sum < length ? low : high) = rate;
  }
  return (low + high) / 2;
}

void DraftCounts::add(int64_t tokens) {
  ++drafts;
  const auto positions = static_cast<size_t>(tokens);
  if (accepted.size() < positions) accepted.resize(positions);
  for (size_t i = 0; i < positions; ++i) ++accepted[i];
}

void DraftCounts::add(const DraftCounts& other) {
  drafts += other.drafts;
  if (accepted.size() < other.accepted.size()) accepted.resize(other.accepted.size());
  for (size_t i = 0; i < other.accepted.size(); ++i) accepted[i] += other.accepted[i];
}

}  // namespace shardscape

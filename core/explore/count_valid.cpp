#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <random>

#include "base/units.h"
#include "design/validate/validate.h"
#include "explore/search.h"
#include "model/parallel_loop.h"

namespace shardscape {
namespace {

constexpr size_t kSample = 4096;  // designs in the sample of the estimate
constexpr int64_t kRun = 256;     // designs that a thread counts in one task

bool is_valid(const Space& space, const Design& design, ValidatedParts& known) {
  return space.excluded_by(design) < 0 && first_error(design, &known).empty();
}

double estimate(const Space& space, const std::stop_token& stop) {
  std::mt19937_64 random(1);
  std::vector<Wide> drawn(kSample);
  for (Wide& index : drawn)
    index = ((static_cast<Wide>(random() >> 1) << 64) | static_cast<Wide>(random())) % space.size();
  std::sort(drawn.begin(), drawn.end());
  tbb::enumerable_thread_specific<SpaceCursor> cursors([&] { return SpaceCursor(space); });
  tbb::enumerable_thread_specific<ValidatedParts> known;
  std::atomic<int> valid{0};
  parallel_loop(kSample, [&](size_t i) {
    if (!stop.stop_requested() && is_valid(space, cursors.local().at(drawn[i]), known.local())) ++valid;
  });
  return static_cast<double>(valid) / kSample * static_cast<double>(space.size());
}

}  // namespace

std::string ValidCount::text() const { return grouped(size) + ", " + valid_text(); }

std::string ValidCount::valid_text() const {
  if (exact) return "of which " + grouped(whole_part(valid)) + " valid";
  if (valid == 0) return "few or none of them valid";
  // The sample supports two significant digits.
  const double scale = std::pow(10, std::floor(std::log10(valid)) - 1);
  return "of which about " + grouped(whole_part(std::round(valid / scale) * scale)) + " valid";
}

std::optional<ValidCount> count_valid(const Space& space,
                                      const std::function<void(const ValidCount&)>& progress,
                                      std::stop_token stop, Wide at_most) {
  ValidCount count{space.size(), 0, false};
  if (space.size() > kSample) {
    count.valid = estimate(space, stop);
    if (stop.stop_requested()) return std::nullopt;
    if (progress) progress(count);
    if (space.size() > at_most) return count;
  }
  tbb::enumerable_thread_specific<SpaceCursor> cursors([&] { return SpaceCursor(space); });
  tbb::enumerable_thread_specific<ValidatedParts> known;
  std::atomic<int64_t> valid{0}, seen{0};
  std::mutex telling;
  auto last_report = std::chrono::steady_clock::now();
  const auto size = static_cast<int64_t>(space.size());
  parallel_loop(static_cast<size_t>((size + kRun - 1) / kRun), [&](size_t index) {
    const auto run = static_cast<int64_t>(index);
    int64_t found = 0;
    const int64_t end = std::min(size, (run + 1) * kRun);
    for (int64_t i = run * kRun; i < end && !stop.stop_requested(); ++i)
      found += is_valid(space, cursors.local().at(i), known.local());
    valid += found;
    seen += end - run * kRun;
    const std::unique_lock lock(telling, std::try_to_lock);
    if (!lock || !progress || stop.stop_requested() ||
        std::chrono::steady_clock::now() - last_report < std::chrono::milliseconds(200))
      return;
    last_report = std::chrono::steady_clock::now();
    progress(count);
  });
  if (stop.stop_requested()) return std::nullopt;
  count.valid = static_cast<double>(valid);
  count.exact = true;
  if (progress) progress(count);
  return count;
}

}  // namespace shardscape

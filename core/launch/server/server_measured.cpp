// vllm/v1/worker/gpu_model_runner.py, gpu_worker.py and core/kv_cache_utils.py.
#include <algorithm>
#include <charconv>

#include "launch/server/server_text.h"
#include "launch/text_lines.h"

namespace shardscape {
namespace {

struct Row {
  const char *words, *behind;  // the number is between them
  MeasuredQuantity quantity;
  const char *what, *unit;
};
using enum MeasuredQuantity;
constexpr Row kRows[] = {
    {"Model loading took ", " GiB", WeightMemory, "memory of the weights", "GiB"},
    {"Available KV cache memory: ", " GiB", CacheMemory, "memory of the KV cache", "GiB"},
    {"GPU KV cache size: ", " tokens", CacheTokens, "size of the KV cache", "tokens"}};

// "1,810,560"
std::optional<double> number_between(std::string_view line, const Row& row) {
  const std::string_view words = row.words;
  const size_t at = line.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + words.size());
  std::string text(line.substr(0, line.find(row.behind)));
  std::erase(text, ',');
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool number = error == std::errc() && end == text.data() + text.size() && out >= 0;
  return number ? std::optional(out) : std::nullopt;
}

}  // namespace

// Every worker prints its own lines; the first of each kind counts.
std::vector<LaunchMeasurement> vllm_measurements(std::string_view log,
                                                 const std::vector<LaunchSetting>& service) {
  std::vector<LaunchMeasurement> out;
  for_lines(log, [&](std::string_view line, int number) {
    for (const Row& row : kRows) {
      const auto value = number_between(line, row);
      const bool known = std::any_of(
          out.begin(), out.end(), [&](const LaunchMeasurement& one) { return one.quantity == row.quantity; });
      if (value && !known) out.push_back({row.quantity, row.what, *value, row.unit, number, service});
    }
  });
  return out;
}

}  // namespace shardscape

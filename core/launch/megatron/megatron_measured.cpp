#include "launch/megatron/megatron_measured.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>

#include "launch/text_lines.h"

namespace shardscape {
namespace {

struct Row {
  const char* words;
  MeasuredQuantity quantity;
  const char *what, *unit;
  bool largest;
};
using enum MeasuredQuantity;
constexpr Row kRows[] = {
    {"elapsed time per iteration (ms):", StepTime, "time of an iteration", "ms", false},
    {"throughput per GPU (TFLOP/s/GPU):", UsefulFlops, "throughput of a GPU", "TFLOP/s", false},
    {"| max allocated:", AllocatedMemory, "largest allocated memory", "MB", true},
    {"| max reserved:", ReservedMemory, "largest reserved memory", "MB", true}};

struct Found {
  double value;
  int line;
};

std::optional<double> number_behind(std::string_view line, std::string_view words) {
  const size_t at = line.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + words.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  double out = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), out);
  return error == std::errc() && out >= 0 ? std::optional(out) : std::nullopt;
}

}  // namespace

std::vector<LaunchMeasurement> megatron_measurements(std::string_view log) {
  std::map<const Row*, std::vector<Found>> found;
  for_lines(log, [&](std::string_view line, int number) {
    for (const Row& row : kRows)
      if (const auto value = number_behind(line, row.words)) found[&row].push_back({*value, number});
  });
  std::vector<LaunchMeasurement> out;
  for (const Row& row : kRows) {
    std::vector<Found>& values = found[&row];
    if (values.empty()) continue;
    if (!row.largest && values.size() > 1) values.erase(values.begin());
    std::sort(values.begin(), values.end(), [](const Found& a, const Found& b) { return a.value < b.value; });
    const Found& chosen = row.largest ? values.back() : values[(values.size() - 1) / 2];
    out.push_back({row.quantity, row.what, chosen.value, row.unit, chosen.line});
  }
  return out;
}

}  // namespace shardscape

#include "launch/torchtitan/torchtitan_log.h"

#include <charconv>

#include "launch/document/document_launch.h"
#include "launch/text_lines.h"

namespace shardscape {
namespace {

constexpr std::string_view kSettings[] = {"Running with args: {", "Running with configs: {"};

size_t find_settings(std::string_view text) {
  for (const std::string_view one : kSettings)
    if (const size_t at = text.find(one); at != std::string_view::npos) return at + one.size() - 1;
  return std::string_view::npos;
}

// Escape sequences of colours.
std::string without_colours(std::string_view line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      out += line[i];
      continue;
    }
    while (i < line.size() && line[i] != 'm') ++i;
  }
  return out;
}

// "tps: 1,234  " after a name: "1234". Empty if the line lacks it.
std::string number_after(std::string_view line, std::string_view name) {
  const size_t at = line.find(name);
  if (at == std::string_view::npos) return {};
  std::string out;
  for (size_t i = line.find_first_not_of(' ', at + name.size()); i < line.size(); ++i) {
    if (line[i] == ',') continue;
    if ((line[i] < '0' || line[i] > '9') && line[i] != '.') break;
    out += line[i];
  }
  return out;
}

}  // namespace

bool has_torchtitan_settings(std::string_view text) { return find_settings(text) != std::string_view::npos; }

std::string torchtitan_settings(std::string_view text) {
  const size_t begin = find_settings(text);
  if (begin == std::string_view::npos) return std::string(text);
  std::string out;
  int depth = 0;
  bool quoted = false, line_begins = false;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (line_begins && c == '[' && text.substr(i).starts_with("[rank")) {
      i = text.find(':', i);  // "[rank0]:"
      if (i == std::string_view::npos) break;
      line_begins = false;
      continue;
    }
    line_begins = c == '\n';
    out += c;
    if (quoted && c == '\\' && i + 1 < text.size()) {
      out += text[++i];
      continue;
    }
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (depth == 0) break;
  }
  return out;
}

int64_t torchtitan_log_gpus(std::string_view text) {
  constexpr std::string_view kMesh = "Building device mesh with parallelism:";
  const size_t at = text.find(kMesh);
  if (at == std::string_view::npos) return 0;
  const std::string_view line = text.substr(at, std::min(text.find('\n', at), text.size()) - at);
  int64_t gpus = 1;
  for (const std::string_view name : {" pp=", " dp_replicate=", " dp_shard=", " cp=", " tp="}) {
    const std::string digits = number_after(line, name);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || value < 1 || value > 1'000'000 || gpus > 1'000'000 / value) return 0;
    gpus *= value;
  }
  return gpus;
}

std::vector<LaunchMeasurement> torchtitan_measured(std::string_view text) {
  std::vector<LaunchMeasurement> out;
  for_lines(text, [&](std::string_view raw, int line) {
    if (raw.find("tps: ") == std::string_view::npos || raw.find("step: ") == std::string_view::npos) return;
    const std::string plain = without_colours(raw);
    out.clear();
    using enum MeasuredQuantity;
    for (const auto& [name, quantity, what, unit] :
         {std::tuple{"tps: ", Tokens, "tokens per second and GPU", "tokens/s"},
          {"memory: ", ReservedMemory, "reserved memory, largest so far", "GiB"},
          {"tflops: ", UsefulFlops, "useful FLOP/s per GPU", "TFLOP/s"},
          {"mfu: ", Mfu, "model FLOPs utilization", "%"}})
      if (const auto value = real_number(number_after(plain, name)))
        out.push_back({quantity, what, *value, unit, line});
  });
  return out;
}

}  // namespace shardscape

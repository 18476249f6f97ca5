// Names of trace files.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shardscape {

struct TraceName {
  std::string name;
  int64_t rank = 0;
};

// The name of a file without the ".gz" of a compressed one.
inline std::string_view without_gz(std::string_view file) {
  if (file.ends_with(".gz")) file.remove_suffix(3);
  return file;
}

// "trace.12.et" with the suffix ".et" -> "trace", 12. Nothing for other names.
inline std::optional<TraceName> split_trace_name(std::string_view file, std::string_view suffix) {
  if (!file.ends_with(suffix)) return std::nullopt;
  const std::string_view stem = file.substr(0, file.size() - suffix.size());
  const size_t dot = stem.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view digits = stem.substr(dot + 1);
  if (digits.empty() || (digits[0] == '0' && digits.size() > 1)) return std::nullopt;
  TraceName out{std::string(stem.substr(0, dot)), 0};
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), out.rank);
  if (status != std::errc() || end != digits.data() + digits.size() || out.rank < 0 ||
      out.rank >= int64_t{1} << 31)
    return std::nullopt;
  return out;
}

}  // namespace shardscape

#include "model/source_place.h"

#include <charconv>

namespace shardscape {
namespace {

// Takes ":12" from the end of the text; 0 if there is none.
int take_number(std::string_view& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return 0;
  const std::string_view digits = text.substr(colon + 1);
  int out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (error != std::errc() || end != digits.data() + digits.size() || out < 1) return 0;
  text.remove_suffix(text.size() - colon);
  return out;
}

}  // namespace

std::string place_text(const SourcePlace& place) {
  const std::string line = place.file + ":" + std::to_string(place.line);
  return place.column > 0 ? line + ":" + std::to_string(place.column) : line;
}

std::optional<SourcePlace> parse_place(std::string_view text) {
  const int last = take_number(text);
  if (last == 0) return std::nullopt;
  const int line = take_number(text);
  return line > 0 ? SourcePlace{std::string(text), line, last} : SourcePlace{std::string(text), last, 0};
}

}  // namespace shardscape

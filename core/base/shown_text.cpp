#include "base/shown_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace shardscape {
namespace {

constexpr std::string_view kDots = "...";

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

struct Character {
  size_t bytes;  // 0: these bytes are no UTF-8
  char32_t code;
};

Character character_at(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return {1, lead};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + bytes > text.size()) return {0, 0};
  char32_t code = lead & (0x7F >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if (!continues(text[at + i])) return {0, 0};
    code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3F);
  }
  constexpr std::array<char32_t, 5> kFirst{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < kFirst[bytes] || code > 0x10FFFF || surrogate ? Character{0, 0} : Character{bytes, code};
}

bool is_hidden(char32_t code) {
  const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool direction = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return control || direction || code == 0x2028 || code == 0x2029;  // line and paragraph separators
}

std::string escaped(char32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\t') return "\\t";
  if (code == '\r') return "\\r";
  std::array<char, 16> out{};
  std::snprintf(out.data(), out.size(), code < 0x100 ? "\\x%02x" : "\\u%04x", static_cast<unsigned>(code));
  return out.data();
}

// The nearest end of a character at or before this byte.
size_t character_end(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && continues(text[at])) --at;
  return at;
}

}  // namespace

std::string printable(std::string text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7F; })) return text;
  std::string out;
  out.reserve(text.size() + 16);
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (c.bytes == 0)
      out += escaped(static_cast<unsigned char>(text[at]));
    else if (is_hidden(c.code))
      out += escaped(c.code);
    else
      out.append(text, at, c.bytes);
    at += std::max<size_t>(c.bytes, 1);
  }
  return out;
}

std::string markdown_text(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*[<&").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string_view first_character(std::string_view text) {
  return text.substr(0, std::max<size_t>(character_at(text, 0).bytes, 1));
}

std::string shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  return std::string(text.substr(0, character_end(text, most - kDots.size()))) + std::string(kDots);
}

std::string shortened_inside(std::string text, size_t most) {
  if (text.size() <= most) return text;
  const size_t first = character_end(text, most * 3 / 4);
  const size_t last = character_end(text, text.size() - (most - most * 3 / 4 - kDots.size()));
  return text.substr(0, first) + std::string(kDots) + text.substr(last);
}

}  // namespace shardscape

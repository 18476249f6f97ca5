#include "design/embedded_document.h"

#include <zlib.h>

#include <algorithm>

namespace shardscape {
namespace {

constexpr std::string_view kOpen = "<script type=\"application/json\" id=\"shardscape-design\">";
constexpr std::string_view kClose = "</script>";
constexpr size_t kMostAttached = 64 << 20;
constexpr int kMostTried = 16;  // attached files

// Inflates a stream of a PDF (zlib format); nullopt: not such a stream, or larger than the limit.
std::optional<std::string> inflated(std::string_view bytes) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(std::min<size_t>(bytes.size(), UINT32_MAX));
  std::string out;
  int state = Z_OK;
  while (state == Z_OK && out.size() < kMostAttached) {
    const size_t before = out.size();
    out.resize(before + (1 << 16));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = 1 << 16;
    state = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  return state == Z_STREAM_END ? std::optional<std::string>(std::move(out)) : std::nullopt;
}

// The content of the stream of an object of a PDF, not yet inflated; empty: there is none.
std::string_view stream_of(std::string_view pdf, std::string_view object) {
  const size_t begin = pdf.find("\n" + std::string(object) + " 0 obj");
  if (begin == std::string_view::npos) return {};
  const size_t start = pdf.find("stream", begin), object_end = pdf.find("endobj", begin);
  if (start == std::string_view::npos || start > object_end) return {};
  const size_t first = pdf.find('\n', start) + 1, end = pdf.find("endstream", first);
  return first == 0 || end == std::string_view::npos ? std::string_view() : pdf.substr(first, end - first);
}

// The first attached file that is JSON. A file specification refers to the stream of its file:
// "/EF <</F 63 0 R>>" (ISO 32000-1, 7.11.3).
std::optional<std::string> attached_json(std::string_view pdf) {
  constexpr std::string_view kFile = "/EF", kStream = "/F ";
  int tried = 0;  // a report has one
  for (size_t at = pdf.find(kFile); tried < kMostTried && at != std::string_view::npos;
       at = pdf.find(kFile, at + 1)) {
    const std::string_view rest = pdf.substr(at + kFile.size(), 64);
    const size_t number = rest.find(kStream);
    if (number == std::string_view::npos) continue;
    ++tried;
    const std::string_view object = rest.substr(number + kStream.size());
    const std::string_view bytes = stream_of(pdf, object.substr(0, object.find_first_not_of("0123456789")));
    if (bytes.starts_with('{')) return std::string(bytes);
    if (auto json = inflated(bytes); json && json->starts_with('{')) return json;
  }
  return std::nullopt;
}

std::optional<std::string> element_json(std::string_view html) {
  const size_t at = html.find(kOpen);
  if (at == std::string_view::npos) return std::nullopt;
  const size_t first = at + kOpen.size(), end = html.find(kClose, first);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(html.substr(first, end - first));
}

}  // namespace

std::string html_design(std::string_view json) {
  std::string out(kOpen);
  // No "</script>", and XML for those who read the page as XML. Only texts have these characters.
  for (const char c : json) out += c == '<' ? "\\u003c" : c == '&' ? "\\u0026" : std::string(1, c);
  return out + std::string(kClose) + "\n";
}

bool is_report_document(std::string_view text) {
  return text.starts_with("%PDF-") || text.starts_with("<!DOCTYPE html>") ||
         text.starts_with("<!doctype html>");
}

Result<std::string> design_json_of(std::string text, const std::string& where) {
  if (!is_report_document(text)) return text;
  auto json = text.starts_with('%') ? attached_json(text) : element_json(text);
  if (json) return std::move(*json);
  return Problem{ProblemCode::DocumentFormat, where, "the document holds no design",
                 "a report of Shardscape 0.1 or newer as a web page or PDF, or a design in JSON"};
}

}  // namespace shardscape

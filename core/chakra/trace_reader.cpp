#include "chakra/trace_reader.h"

#include <algorithm>

#include "chakra/wire_reader.h"

namespace shardscape {

TraceReader::TraceReader(std::string_view file) : file_(file) {
  if (JsonTrace::is_json(file))
    json_.emplace(file);
  else
    schema_ = detect_schema(file);
}

std::string TraceReader::form() const {
  if (json_) return json_->form();
  switch (schema_) {
    case NodeSchema::Chakra: return "Chakra 0.0.4 or 1.0";
    case NodeSchema::Attributes: return "Chakra 0.0.2 or 0.0.3";
    case NodeSchema::Fields: return "Chakra 0.0.1";
  }
  return "";
}

bool TraceReader::bad(const std::string& what) {
  problem_ = what;
  return false;
}

bool TraceReader::next_message(std::string_view& message) {
  constexpr size_t kLongestVarint = 10;
  const auto place = [start = at_](const char* what) { return what + std::to_string(start); };
  uint64_t size = 0;
  size_t begin = at_;
  const bool whole = wire::read_varint(file_, begin, size);
  if (!whole && file_.size() - at_ < kLongestVarint) return bad(place("the length at byte ") + " is cut off");
  if (!whole || size > UINT32_MAX) return bad(place("the length at byte ") + " takes more than 32 bits");
  if (size > file_.size() - begin)
    return bad(place("the message at byte ") + " has a length of " + std::to_string(size) +
               " bytes, but only " + std::to_string(file_.size() - begin) + " are left");
  message = file_.substr(begin, size);
  at_ = begin + size;
  return true;
}

bool TraceReader::read_metadata(std::string& version) {
  version.clear();
  if (json_ || schema_ == NodeSchema::Fields) return true;
  const size_t start = at_;
  std::string_view bytes;
  if (!next_message(bytes)) return false;
  // A node has an integer in the field of the metadata's version.
  if (decode_metadata(bytes, schema_, version)) return true;
  at_ = start;
  return bad("the first message is not a GlobalMetadata");
}

TraceReader::Step TraceReader::next(RawNode& node) {
  if (json_) {
    const JsonTrace::Step step = json_->next(node);
    node_bytes_ = json_->node_text();
    if (step == JsonTrace::Step::Bad) bad(json_->problem());
    return step == JsonTrace::Step::Node ? Step::Node : step == JsonTrace::Step::End ? Step::End : Step::Bad;
  }
  if (at_ == file_.size()) return Step::End;
  const size_t start = at_;
  if (!next_message(node_bytes_)) return Step::Bad;
  if (!node_bytes_.empty() && decode_node(node_bytes_, schema_, node)) return Step::Node;
  bad("the message at byte " + std::to_string(start) +
      (node_bytes_.empty() ? " is empty" : " is not a Node"));
  return Step::Bad;
}

}  // namespace shardscape

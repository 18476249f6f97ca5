// Reads a Chakra trace node by node, with the attributes that simulators read: a binary trace of any schema
// version (node_decoder.h), or a trace in JSON (json_trace.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "chakra/json_trace.h"
#include "chakra/node_decoder.h"
#include "chakra/raw_node.h"

namespace shardscape {

// Reads a file of messages, each after its length as a varint, or JSON. The file's bytes must outlive the
// reader. A compressed file must be decompressed first.
class TraceReader {
 public:
  explicit TraceReader(std::string_view file);
  enum class Step : uint8_t { Node, End, Bad };
  // Whether the file is a binary trace of the versions that simulators read: 0.0.4 and 1.0.
  bool is_simulated() const { return !json_ && schema_ == NodeSchema::Chakra; }
  std::string form() const;  // "Chakra 0.0.4 or 1.0", "JSON of Chakra's feeder"
  // Reads the first message. Returns false if it is no GlobalMetadata; the message may then be read as a
  // node. `version` stays empty if the message has none. JSON and 0.0.1 have no such message.
  bool read_metadata(std::string& version);
  // The texts of the node are valid until the next call.
  Step next(RawNode& node);
  // The schema that a JSON trace states, known after the first node; null for a binary trace.
  const std::string* json_version() const { return json_ ? &json_->version() : nullptr; }
  // The bytes of the last node: a message, or an object of JSON.
  std::string_view node_bytes() const { return node_bytes_; }
  const std::string& problem() const { return problem_; }  // after Bad; names the byte or line of the file

 private:
  bool next_message(std::string_view& message);
  bool bad(const std::string& what);
  std::string_view file_, node_bytes_;
  size_t at_ = 0;
  std::string problem_;
  NodeSchema schema_ = NodeSchema::Chakra;
  std::optional<JsonTrace> json_;
};

}  // namespace shardscape

#include "chakra/trace_json.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/util/json_util.h>

#include <stdexcept>

#include "chakra.pb.h"

namespace shardscape {
namespace {

namespace pb = ChakraProtoMsg;

// A hostile size must not reserve memory.
int left(google::protobuf::io::CodedInputStream& in) {
  const void* data = nullptr;
  int size = 0;
  in.GetDirectBufferPointerInline(&data, &size);
  return size;
}

// Reads the next message, and appends its line.
template <class Message>
void append_message(google::protobuf::io::CodedInputStream& in, std::string& out) {
  uint32_t size = 0;
  std::string bytes;
  Message message;
  if (!in.ReadVarint32(&size) || size > static_cast<uint32_t>(left(in)) ||
      !in.ReadString(&bytes, static_cast<int>(size)) || !message.ParseFromString(bytes))
    throw std::invalid_argument("the bytes are no Chakra trace");
  std::string line;
  if (!google::protobuf::util::MessageToJsonString(message, &line).ok())
    throw std::invalid_argument("a message of the trace has no JSON form");
  out += line + "\n";
}

}  // namespace

std::string trace_json(std::string_view trace) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(trace.data()),
                                            static_cast<int>(trace.size()));
  std::string out;
  append_message<pb::GlobalMetadata>(in, out);
  while (in.CurrentPosition() < static_cast<int>(trace.size())) append_message<pb::Node>(in, out);
  return out;
}

}  // namespace shardscape

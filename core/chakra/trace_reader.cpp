#include "chakra/trace_reader.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <limits>

#include "chakra.pb.h"
#include "chakra/chakra.h"

namespace shardscape {
namespace {

namespace pb = ChakraProtoMsg;
using google::protobuf::io::CodedInputStream;

constexpr std::array<std::string_view, kAttrCount> kNames{
    "is_cpu_op", "num_ops",       "tensor_size", "comm_type",    "comm_size", "comm_src", "comm_dst",
    "comm_tag",  "comm_priority", "pg_name",     "involved_dim", "inputs",    "outputs"};

AttrValue* find_attr(std::string_view name, RawNode& node) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return &node.attrs[i];
  return nullptr;
}

void read_value(const pb::AttributeProto& attr, AttrValue& value) {
  switch (attr.value_case()) {
    case pb::AttributeProto::kInt32Val: value.integer = attr.int32_val(); break;
    case pb::AttributeProto::kInt64Val: value.integer = attr.int64_val(); break;
    case pb::AttributeProto::kUint32Val: value.integer = attr.uint32_val(); break;
    case pb::AttributeProto::kUint64Val: value.integer = static_cast<int64_t>(attr.uint64_val()); break;
    case pb::AttributeProto::kSint32Val: value.integer = attr.sint32_val(); break;
    case pb::AttributeProto::kSint64Val: value.integer = attr.sint64_val(); break;
    case pb::AttributeProto::kFixed32Val: value.integer = attr.fixed32_val(); break;
    case pb::AttributeProto::kFixed64Val: value.integer = static_cast<int64_t>(attr.fixed64_val()); break;
    case pb::AttributeProto::kSfixed32Val: value.integer = attr.sfixed32_val(); break;
    case pb::AttributeProto::kSfixed64Val: value.integer = attr.sfixed64_val(); break;
    case pb::AttributeProto::kBoolVal: value.integer = attr.bool_val(); break;
    case pb::AttributeProto::kStringVal: value.text = attr.string_val(); break;
    case pb::AttributeProto::kBoolList: {
      const auto& bools = attr.bool_list().values();
      value.any_true = std::find(bools.begin(), bools.end(), true) != bools.end();
      break;
    }
    default: break;  // string lists: see read_attr. No known attribute has one of the other kinds.
  }
}

void read_attr(const pb::AttributeProto& attr, RawNode& node) {
  AttrValue* value = find_attr(attr.name(), node);
  if (!value) return;
  if (value->present) {
    value->repeated = true;
    return;
  }
  value->present = true;
  value->kind = static_cast<uint32_t>(attr.value_case());  // the field number
  read_value(attr, *value);
  const auto& strings = attr.string_list().values();
  if (value == &node.attrs[static_cast<size_t>(Attr::Inputs)])
    node.inputs.assign(strings.begin(), strings.end());
  else if (value == &node.attrs[static_cast<size_t>(Attr::Outputs)])
    node.outputs.assign(strings.begin(), strings.end());
}

void read_node(const pb::Node& message, RawNode& node) {
  node.id = message.id();
  node.type = message.type();
  node.duration = message.duration_micros();
  node.name = message.name();
  node.deps.assign(message.ctrl_deps().begin(), message.ctrl_deps().end());
  node.deps.insert(node.deps.end(), message.data_deps().begin(), message.data_deps().end());
  node.attrs.fill({});
  node.inputs.clear();
  node.outputs.clear();
  for (const pb::AttributeProto& attr : message.attr()) read_attr(attr, node);
}

bool parse(std::string_view bytes, google::protobuf::MessageLite& message) {
  return bytes.size() <= std::numeric_limits<int>::max() &&
         message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// Whether a field of the schema has a value of another type. The generated code takes the field as unknown.
bool mistyped(const google::protobuf::UnknownFieldSet& fields) {
  for (int i = 0; i < fields.field_count(); ++i)
    if (fields.field(i).number() <= pb::Node::kAttrFieldNumber) return true;
  return false;
}

}  // namespace

// The messages are reused, which keeps the memory of their strings and lists.
struct TraceReader::Messages {
  google::protobuf::LogSilencer silencer;  // the reader reports bad messages itself
  pb::GlobalMetadata metadata;
  pb::Node node;
  const google::protobuf::Reflection& reflection = *node.GetReflection();
};

TraceReader::TraceReader(std::string_view file) : file_(file), messages_(std::make_unique<Messages>()) {}
TraceReader::~TraceReader() = default;

std::string_view attr_name(Attr attr) { return kNames[static_cast<size_t>(attr)]; }

bool AttrValue::is_integer() const {
  using namespace chakra;
  return kind >= attr_field::kInt32 && kind <= attr_field::kBool && kind % 2 == 1;
}

bool TraceReader::bad(const std::string& what) {
  problem_ = what;
  return false;
}

bool TraceReader::next_message(std::string_view& message) {
  constexpr size_t kLongestVarint = 10;
  const auto place = [start = at_](const char* what) { return what + std::to_string(start); };
  const size_t left = std::min(file_.size() - at_, kLongestVarint);
  CodedInputStream in(reinterpret_cast<const uint8_t*>(file_.data() + at_), static_cast<int>(left));
  uint64_t size = 0;
  const bool whole = in.ReadVarint64(&size);
  if (!whole && left < kLongestVarint) return bad(place("the length at byte ") + " is cut off");
  if (!whole || size > UINT32_MAX) return bad(place("the length at byte ") + " takes more than 32 bits");
  const size_t begin = at_ + static_cast<size_t>(in.CurrentPosition());
  if (size > file_.size() - begin)
    return bad(place("the message at byte ") + " has a length of " + std::to_string(size) +
               " bytes, but only " + std::to_string(file_.size() - begin) + " are left");
  message = file_.substr(begin, size);
  at_ = begin + size;
  return true;
}

bool TraceReader::read_metadata(std::string& version) {
  std::string_view bytes;
  if (!next_message(bytes)) return false;
  pb::GlobalMetadata& message = messages_->metadata;
  // A node has an integer in the field of the metadata's version, which makes the field an unknown one.
  if (!parse(bytes, message) || !message.GetReflection()->GetUnknownFields(message).empty())
    return bad("the first message is not a GlobalMetadata");
  version = message.version();
  return true;
}

TraceReader::Step TraceReader::next(RawNode& node) {
  if (at_ == file_.size()) return Step::End;
  const size_t start = at_;
  std::string_view bytes;
  if (!next_message(bytes)) return Step::Bad;
  if (bytes.empty() || !parse(bytes, messages_->node) ||
      mistyped(messages_->reflection.GetUnknownFields(messages_->node))) {
    bad("the message at byte " + std::to_string(start) + (bytes.empty() ? " is empty" : " is not a Node"));
    return Step::Bad;
  }
  read_node(messages_->node, node);
  return Step::Node;
}

}  // namespace shardscape

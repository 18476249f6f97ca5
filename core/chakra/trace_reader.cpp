#include "chakra/trace_reader.h"

#include <optional>

#include "chakra/chakra.h"

namespace shardscape {
namespace {

using namespace chakra;

constexpr std::array<std::string_view, kAttrCount> kNames{
    "is_cpu_op", "num_ops",       "tensor_size", "comm_type",    "comm_size", "comm_src", "comm_dst",
    "comm_tag",  "comm_priority", "pg_name",     "involved_dim", "inputs",    "outputs"};

std::optional<size_t> find_attr(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return i;
  return std::nullopt;
}

int64_t zigzag(uint64_t value) { return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1); }

int64_t integer_of(uint32_t kind, uint64_t value) {
  switch (kind) {
    case attr_field::kSint32:
    case attr_field::kSint64: return zigzag(value);
    case attr_field::kInt32:
    case attr_field::kSfixed32: return static_cast<int32_t>(value);
    case attr_field::kUint32: return static_cast<uint32_t>(value);
    case attr_field::kBool: return value != 0;
    default: return static_cast<int64_t>(value);
  }
}

bool parse_attr(std::string_view message, RawNode& node) {
  std::string_view name;
  AttrValue value;
  wire::Reader reader(message);
  wire::Field field;
  while (reader.next(field)) {
    if (field.number == attr_field::kName && field.type == wire::Type::Bytes) {
      name = field.bytes;
    } else if (field.number >= attr_field::kDouble && field.number <= attr_field::kBytesList) {
      value.kind = field.number;  // the last value of a oneof counts
      value.bytes = field.bytes;
      value.integer = field.type == wire::Type::Bytes ? 0 : integer_of(field.number, field.value);
    }
  }
  if (!reader.ok()) return false;
  if (const auto index = find_attr(name)) {
    AttrValue& known = node.attrs[*index];
    if (known.present) {
      known.repeated = true;
    } else {
      value.present = true;
      known = value;
    }
  }
  return true;
}

bool append_deps(const wire::Field& field, std::vector<uint64_t>& deps) {
  if (field.type == wire::Type::Varint) {
    deps.push_back(field.value);
    return true;
  }
  if (field.type != wire::Type::Bytes) return false;
  wire::Reader packed(field.bytes);
  while (!packed.done()) {
    uint64_t id = 0;
    if (!packed.varint(id)) return false;
    deps.push_back(id);
  }
  return true;
}

}  // namespace

std::string_view attr_name(Attr attr) { return kNames[static_cast<size_t>(attr)]; }

bool AttrValue::is_integer() const {
  return kind >= attr_field::kInt32 && kind <= attr_field::kBool && kind % 2 == 1;
}

bool TraceReader::bad(const std::string& what) {
  problem_ = what;
  return false;
}

bool TraceReader::next_message(std::string_view& message) {
  const size_t start = at_;
  uint64_t size = 0;
  int shift = 0;
  for (;; shift += 7) {
    if (at_ == file_.size()) return bad("the length at byte " + std::to_string(start) + " is cut off");
    if (shift > 28) return bad("the length at byte " + std::to_string(start) + " takes more than 32 bits");
    const auto byte = static_cast<uint8_t>(file_[at_++]);
    size |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) break;
  }
  if (size > file_.size() - at_)
    return bad("the message at byte " + std::to_string(start) + " wants " + std::to_string(size) +
               " bytes, only " + std::to_string(file_.size() - at_) + " are left");
  message = file_.substr(at_, size);
  at_ += size;
  return true;
}

bool TraceReader::read_metadata(std::string& version) {
  std::string_view message;
  if (!next_message(message)) return false;
  wire::Reader reader(message);
  wire::Field field;
  while (reader.next(field)) {
    // A node has an integer in the field of the metadata's version.
    if (field.type != wire::Type::Bytes || field.number > metadata_field::kAttr)
      return bad("the first message is no GlobalMetadata");
    if (field.number == metadata_field::kVersion) version = field.bytes;
  }
  return reader.ok() || bad("the first message is no GlobalMetadata");
}

bool TraceReader::parse_node(std::string_view message, RawNode& node) {
  node.id = 0;
  node.type = 0;
  node.duration = 0;
  node.name = {};
  node.deps.clear();
  node.attrs.fill({});
  wire::Reader reader(message);
  wire::Field field;
  while (reader.next(field)) {
    bool good = true;
    switch (field.number) {
      case node_field::kId:
        good = field.type == wire::Type::Varint;
        node.id = field.value;
        break;
      case node_field::kName:
        good = field.type == wire::Type::Bytes;
        node.name = field.bytes;
        break;
      case node_field::kType:
        good = field.type == wire::Type::Varint;
        node.type = static_cast<int64_t>(field.value);
        break;
      case node_field::kDuration:
        good = field.type == wire::Type::Varint;
        node.duration = field.value;
        break;
      case node_field::kCtrlDeps:
      case node_field::kDataDeps: good = append_deps(field, node.deps); break;
      case node_field::kAttr: good = field.type == wire::Type::Bytes && parse_attr(field.bytes, node); break;
      default: break;
    }
    if (!good) return false;
  }
  return reader.ok();
}

TraceReader::Step TraceReader::next(RawNode& node) {
  if (at_ == file_.size()) return Step::End;
  const size_t start = at_;
  std::string_view message;
  if (!next_message(message)) return Step::Bad;
  if (message.empty()) {
    bad("the message at byte " + std::to_string(start) + " is empty");
    return Step::Bad;
  }
  if (!parse_node(message, node)) {
    bad("the message at byte " + std::to_string(start) + " is no Node");
    return Step::Bad;
  }
  return Step::Node;
}

std::vector<std::string_view> string_list(const AttrValue& value) {
  std::vector<std::string_view> strings;
  if (value.kind != attr_field::kStringList) return strings;
  wire::Reader reader(value.bytes);
  for (wire::Field field; reader.next(field);)
    if (field.number == 1 && field.type == wire::Type::Bytes) strings.push_back(field.bytes);
  return strings;
}

bool any_true(const AttrValue& value) {
  if (value.kind != attr_field::kBoolList) return false;
  wire::Reader reader(value.bytes);
  for (wire::Field field; reader.next(field);) {
    if (field.type == wire::Type::Varint && field.value != 0) return true;
    for (const char byte : field.bytes)
      if (byte != 0) return true;
  }
  return false;
}

}  // namespace shardscape

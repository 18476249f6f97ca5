#include "chakra/node_decoder.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "chakra/chakra.h"
#include "chakra/wire_reader.h"

namespace shardscape {
namespace {

using namespace chakra;
using wire::Field;
using wire::Fields;

// RFC 3629: no overlong forms, no surrogates, at most U+10FFFF.
bool is_utf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  for (size_t i = 0; i < text.size();) {
    const uint8_t first = byte(i);
    if (first < 0x80) {
      ++i;
      continue;
    }
    const size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4 || text.size() - i <= more) return false;
    for (size_t k = 1; k <= more; ++k)
      if ((byte(i + k) & 0xc0) != 0x80) return false;
    const uint8_t second = byte(i + 1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
      return false;
    i += more + 1;
  }
  return true;
}

int64_t zigzag(uint64_t bits) { return static_cast<int64_t>(bits >> 1) ^ -static_cast<int64_t>(bits & 1); }

int64_t whole(double value) {
  constexpr double kLargest = 9e18;
  return std::isnan(value) ? 0 : static_cast<int64_t>(std::clamp(value, -kLargest, kLargest));
}

// The wire type of an attribute's value, by field number.
uint8_t wire_type(uint32_t kind) {
  switch (kind) {
    case attr_field::kDouble:
    case attr_field::kFixed64:
    case attr_field::kSfixed64: return wire::kFixed64;
    case attr_field::kFloat:
    case attr_field::kFixed32:
    case attr_field::kSfixed32: return wire::kFixed32;
    case attr_field::kString:
    case attr_field::kBytes: return wire::kBytes;
    default: return kind % 2 == 0 ? wire::kBytes : wire::kVarint;
  }
}

int64_t integer_of(const Field& field) {
  switch (field.number) {
    case attr_field::kDouble: return whole(std::bit_cast<double>(field.value));
    case attr_field::kFloat: return whole(std::bit_cast<float>(static_cast<uint32_t>(field.value)));
    case attr_field::kInt32:
    case attr_field::kSfixed32: return static_cast<int32_t>(field.value);
    case attr_field::kUint32: return static_cast<uint32_t>(field.value);
    case attr_field::kSint32: return static_cast<int32_t>(zigzag(field.value & UINT32_MAX));
    case attr_field::kSint64: return zigzag(field.value);
    case attr_field::kBool: return field.value != 0;
    default: return static_cast<int64_t>(field.value);
  }
}

// Varints of a list, packed or one by one.
template <class Visit>
bool visit_varints(const Field& field, const Visit& visit) {
  if (field.type == wire::kVarint) return visit(field.value), true;
  if (field.type != wire::kBytes) return false;
  for (size_t at = 0; at < field.bytes.size();) {
    uint64_t value = 0;
    if (!wire::read_varint(field.bytes, at, value)) return false;
    visit(value);
  }
  return true;
}

bool any_true(std::string_view list, bool& found) {
  Fields fields(list);
  bool valid = true;
  for (Field f; fields.next(f);)
    if (f.number == 1) valid &= visit_varints(f, [&](uint64_t v) { found |= v != 0; });
  return valid && fields.good();
}

bool read_strings(std::string_view list, std::vector<std::string_view>& out) {
  Fields fields(list);
  bool valid = true;
  for (Field f; fields.next(f);) {
    if (f.number != 1 || f.type != wire::kBytes) continue;
    valid &= is_utf8(f.bytes);
    out.push_back(f.bytes);
  }
  return valid && fields.good();
}

// Where the value of a new attribute goes: null for an unknown attribute, and for one that the node has.
AttrValue* new_value(std::string_view name, RawNode& node) {
  AttrValue* value = find_attr(name, node);
  if (value && value->present) {
    value->repeated = true;
    return nullptr;
  }
  if (value) value->present = true;
  return value;
}

// AttributeProto of 1.0. Of several values the last applies, as in every reader of Protocol Buffers.
bool decode_attribute(std::string_view message, RawNode& node) {
  Field name, value;
  Fields fields(message);
  for (Field f; fields.next(f);) {
    if (f.number == attr_field::kName && f.type == wire::kBytes) name = f;
    if (f.number >= attr_field::kDouble && f.number <= attr_field::kBytesList &&
        f.type == wire_type(f.number))
      value = f;
  }
  if (!fields.good() || !is_utf8(name.bytes)) return false;
  AttrValue* to = new_value(name.bytes, node);
  if (!to) return true;
  to->kind = value.number;
  if (value.number == attr_field::kString) {
    to->text = value.bytes;
    return is_utf8(value.bytes);
  }
  if (value.number == attr_field::kBoolList) return any_true(value.bytes, to->any_true);
  if (value.number == attr_field::kStringList) {
    std::vector<std::string_view> other;
    auto& list = to == &node.attr(Attr::Inputs)    ? node.inputs
                 : to == &node.attr(Attr::Outputs) ? node.outputs
                                                   : other;
    return read_strings(value.bytes, list);
  }
  if (value.number != 0 && value.type != wire::kBytes) to->integer = integer_of(value);
  return true;
}

bool decode_chakra(std::string_view message, RawNode& node) {
  Fields fields(message);
  bool valid = true;
  for (Field f; valid && fields.next(f);) {
    switch (f.number) {
      case node_field::kId:
        node.id = f.value;
        valid = f.type == wire::kVarint;
        break;
      case node_field::kName:
        node.name = f.bytes;
        valid = f.type == wire::kBytes && is_utf8(f.bytes);
        break;
      case node_field::kType:
        node.type = static_cast<int32_t>(f.value);
        valid = f.type == wire::kVarint;
        break;
      case node_field::kCtrlDeps:
        valid = visit_varints(f, [&](uint64_t id) { node.ctrl_deps.push_back(id); });
        break;
      case node_field::kDataDeps:
        valid = visit_varints(f, [&](uint64_t id) { node.data_deps.push_back(id); });
        break;
      case node_field::kStartTime:
        node.start = f.value;
        valid = f.type == wire::kVarint;
        break;
      case node_field::kDuration:
        node.duration = f.value;
        valid = f.type == wire::kVarint;
        break;
      case node_field::kInputs:
      case node_field::kOutputs: valid = f.type == wire::kBytes; break;
      case node_field::kAttr: valid = f.type == wire::kBytes && decode_attribute(f.bytes, node); break;
      default: break;
    }
  }
  return valid && fields.good();
}

// CollectiveCommType of 0.0.2 and 0.0.3; 0.0.1 has the same order, from 1.
int64_t collective_of_old(int64_t number) {
  constexpr CollectiveType kOrder[] = {CollectiveType::AllReduce, CollectiveType::AllToAll,
                                       CollectiveType::AllGather, CollectiveType::ReduceScatter,
                                       CollectiveType::Broadcast};
  if (number < 0 || number >= static_cast<int64_t>(std::size(kOrder))) return -1;
  return static_cast<int64_t>(kOrder[number]);
}

// AttributeProto of 0.0.2 and 0.0.3: name 1, type 2, doc_string 3, then one field per type of value. The
// numbers of these fields differ between versions; the wire type suffices. metadata_type: the version has
// METADATA_NODE. Only in 0.0.2, which does not, an integer has type 1 and field 5.
bool decode_old_attribute(std::string_view message, RawNode& node, bool& metadata_type) {
  Field name, value;
  uint64_t type = 0;
  bool any = false, several = false;
  Fields fields(message);
  for (Field f; fields.next(f);) {
    if (f.number == 1 && f.type == wire::kBytes) name = f;
    if (f.number == 2 && f.type == wire::kVarint) type = f.value;
    if (f.number < 4) continue;
    several = value.number == f.number;
    value = f;
    any |= f.type == wire::kVarint && f.value != 0;
  }
  if (!fields.good() || !is_utf8(name.bytes)) return false;
  if (type == 1 && value.number == 5 && value.type == wire::kVarint) metadata_type = false;
  if (name.bytes == "runtime" && value.type == wire::kVarint) node.duration = value.value;
  AttrValue* to = new_value(name.bytes, node);
  if (!to) return true;
  if (to == &node.attr(Attr::InvolvedDim)) {
    to->kind = attr_field::kBoolList;
    to->any_true = any;
  } else if (value.type == wire::kBytes && value.number != 0) {
    to->kind = attr_field::kString;
    to->text = value.bytes;
    return is_utf8(value.bytes);
  } else if (value.type == wire::kVarint && value.number != 0 && !several) {
    to->kind = attr_field::kInt64;
    to->integer = static_cast<int64_t>(value.value);
  }
  return true;
}

// The fields that 0.0.1, 0.0.2 and 0.0.3 share: id 1, name 2, type 3, parent 4.
bool decode_old_field(const Field& f, RawNode& node) {
  switch (f.number) {
    case 1: node.id = f.value; return f.type == wire::kVarint;
    case 2: node.name = f.bytes; return f.type == wire::kBytes && is_utf8(f.bytes);
    case 3: node.type = static_cast<int32_t>(f.value); return f.type == wire::kVarint;
    case 4: return visit_varints(f, [&](uint64_t id) { node.data_deps.push_back(id); });
    default: return true;
  }
}

// Node types of versions without METADATA_NODE.
int64_t type_without_metadata(int64_t type) { return type >= 1 ? type + 1 : type; }

bool decode_attributes(std::string_view message, RawNode& node) {
  Fields fields(message);
  bool valid = true, metadata_type = true;
  for (Field f; valid && fields.next(f);)
    valid = f.number == 11 ? f.type == wire::kBytes && decode_old_attribute(f.bytes, node, metadata_type)
                           : decode_old_field(f, node);
  if (!metadata_type) node.type = type_without_metadata(node.type);
  AttrValue& collective = node.attr(Attr::CommType);
  if (collective.present) collective.integer = collective_of_old(collective.integer);
  return valid && fields.good();
}

bool decode_fields(std::string_view message, RawNode& node) {
  Fields fields(message);
  bool valid = true;
  const auto set = [&](Attr attr, const Field& f) {
    AttrValue& value = node.attr(attr);
    value.present = true;
    value.kind = attr == Attr::InvolvedDim ? attr_field::kBoolList : attr_field::kInt64;
    value.integer = static_cast<int64_t>(f.value);
    value.any_true |= f.value != 0;
    return f.type == wire::kVarint;
  };
  for (Field f; valid && fields.next(f);) {
    switch (f.number) {
      case 6: valid = set(Attr::TensorSize, f); break;
      case 7: node.duration = f.value; break;  // simulated_run_time
      case 12: valid = set(Attr::NumOps, f); break;
      case 13:
        valid = set(Attr::CommType, f);
        node.attr(Attr::CommType).integer = collective_of_old(static_cast<int64_t>(f.value) - 1);
        break;
      case 14: valid = f.type == wire::kBytes || set(Attr::InvolvedDim, f); break;
      case 15: valid = set(Attr::PgName, f); break;  // communicator_id
      case 16: valid = set(Attr::CommSrc, f); break;
      case 17: valid = set(Attr::CommDst, f); break;
      case 18: valid = set(Attr::CommSize, f); break;
      case 19: valid = set(Attr::CommTag, f); break;
      case 20: valid = set(Attr::CommPriority, f); break;
      default: valid = decode_old_field(f, node);
    }
  }
  node.type = type_without_metadata(node.type);
  return valid && fields.good();
}

// An attribute of 0.0.2 or 0.0.3 has a number in field 2, where 1.0 has a text.
bool is_old_attribute(std::string_view message) {
  Fields fields(message);
  bool name = false, type = false;
  for (Field f; fields.next(f);) {
    name |= f.number == 1 && f.type == wire::kBytes;
    type |= f.number == 2 && f.type == wire::kVarint;
  }
  return fields.good() && name && type;
}

}  // namespace

NodeSchema detect_schema(std::string_view file) {
  constexpr int kMessages = 64;
  constexpr uint32_t kFirstOld = 11, kFirstOfFields = 12, kLastOfFields = 20;
  bool fields_seen = false;
  size_t at = 0;
  for (int k = 0; k < kMessages; ++k) {
    uint64_t size = 0;
    if (!wire::read_varint(file, at, size) || size > file.size() - at) break;
    Fields fields(file.substr(at, size));
    at += size;
    for (Field f; fields.next(f);) {
      if (f.number == node_field::kAttr && f.type == wire::kBytes) {
        Fields inner(f.bytes);
        Field first;
        // 0.0.3 has a text here (output_types), which is no attribute.
        if (inner.next(first) && first.number == attr_field::kName && first.type == wire::kBytes)
          return NodeSchema::Chakra;
      }
      if (f.number == kFirstOld && f.type == wire::kBytes && is_old_attribute(f.bytes))
        return NodeSchema::Attributes;
      fields_seen |= f.number >= kFirstOfFields && f.number <= kLastOfFields && f.type == wire::kVarint;
    }
  }
  return fields_seen ? NodeSchema::Fields : NodeSchema::Chakra;
}

bool decode_metadata(std::string_view message, NodeSchema schema, std::string& version) {
  version.clear();
  if (schema == NodeSchema::Fields) return false;
  Fields fields(message);
  for (Field f; fields.next(f);) {
    if (f.type != wire::kBytes || (f.number != 1 && f.number != 2)) return false;
    if (f.number == 1 && schema == NodeSchema::Chakra) version = f.bytes;
  }
  return fields.good() && is_utf8(version);
}

bool decode_node(std::string_view message, NodeSchema schema, RawNode& node) {
  node.clear();
  switch (schema) {
    case NodeSchema::Chakra: return decode_chakra(message, node);
    case NodeSchema::Attributes: return decode_attributes(message, node);
    case NodeSchema::Fields: return decode_fields(message, node);
  }
  return false;
}

}  // namespace shardscape

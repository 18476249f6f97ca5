#include "chakra/wire.h"

#include <cstring>

namespace shardscape::wire {

bool Reader::slow_varint(uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at_ == end_) return fail();
    const auto byte = static_cast<uint8_t>(*at_++);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return fail();
}

bool Reader::varint(uint64_t& value) {
  if (at_ != end_ && static_cast<uint8_t>(*at_) < 0x80) {
    value = static_cast<uint8_t>(*at_++);
    return true;
  }
  return slow_varint(value);
}

bool Reader::next(Field& field) {
  if (done() || !ok_) return false;
  uint64_t tag = 0;
  if (!varint(tag)) return false;
  if (tag >> 3 == 0 || tag >> 32 != 0) return fail();
  field.number = static_cast<uint32_t>(tag >> 3);
  field.type = static_cast<Type>(tag & 7);
  const auto fixed = [&](size_t bytes) {
    if (static_cast<size_t>(end_ - at_) < bytes) return fail();
    field.value = 0;
    // Little-endian hosts only.
    std::memcpy(&field.value, at_, bytes);
    at_ += bytes;
    return true;
  };
  switch (field.type) {
    case Type::Varint: return varint(field.value);
    case Type::Fixed64: return fixed(8);
    case Type::Fixed32: return fixed(4);
    case Type::Bytes: {
      uint64_t size = 0;
      if (!varint(size)) return false;
      if (size > static_cast<uint64_t>(end_ - at_)) return fail();
      field.bytes = {at_, static_cast<size_t>(size)};
      at_ += size;
      return true;
    }
  }
  return fail();
}

}  // namespace shardscape::wire

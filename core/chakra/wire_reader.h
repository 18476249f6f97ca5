// Reads the Protocol Buffers wire format (protobuf.dev/programming-guides/encoding) field by field, without a
// schema and without copies. Any bytes are safe to read: damage ends the message.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace shardscape::wire {

inline constexpr uint8_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

// Reads a varint at `at` and moves `at` behind it. Returns false, with `at` unchanged, if the varint is cut
// off or longer than 10 bytes.
inline bool read_varint(std::string_view bytes, size_t& at, uint64_t& value) {
  uint64_t out = 0;
  for (size_t k = 0; k < 10 && at + k < bytes.size(); ++k) {
    const auto byte = static_cast<uint8_t>(bytes[at + k]);
    out |= uint64_t{byte & 0x7fu} << (7 * k);
    if (byte >= 0x80) continue;
    at += k + 1;
    value = out;
    return true;
  }
  return false;
}

struct Field {
  uint32_t number = 0;
  uint8_t type = 0;
  uint64_t value = 0;      // kVarint, kFixed32, kFixed64: the bits
  std::string_view bytes;  // kBytes
};

class Fields {
 public:
  explicit Fields(std::string_view message) : message_(message) {}

  // Returns false at the end of the message, and where the message is damaged.
  bool next(Field& field) {
    if (at_ == message_.size()) return false;
    uint64_t tag = 0;
    if (!read_varint(message_, at_, tag) || tag >> 3 == 0 || tag > UINT32_MAX) return damaged();
    field.number = static_cast<uint32_t>(tag >> 3);
    field.type = tag & 7;
    switch (field.type) {
      case kVarint: return read_varint(message_, at_, field.value) || damaged();
      case kFixed64: return fixed<uint64_t>(field);
      case kFixed32: return fixed<uint32_t>(field);
      case kBytes: {
        uint64_t size = 0;
        if (!read_varint(message_, at_, size) || size > message_.size() - at_) return damaged();
        field.bytes = message_.substr(at_, size);
        at_ += size;
        return true;
      }
      default: return damaged();  // groups, which no schema of Chakra has
    }
  }
  bool good() const { return good_; }

 private:
  template <class T>
  bool fixed(Field& field) {
    if (message_.size() - at_ < sizeof(T)) return damaged();
    T bits;
    std::memcpy(&bits, message_.data() + at_, sizeof bits);
    field.value = bits;
    at_ += sizeof bits;
    return true;
  }
  bool damaged() {
    good_ = false;
    return false;
  }
  std::string_view message_;
  size_t at_ = 0;
  bool good_ = true;
};

}  // namespace shardscape::wire

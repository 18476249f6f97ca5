// Writes the Protocol Buffers wire format (protobuf.dev/programming-guides/encoding), as far as trace images
// need the format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shardscape::wire {

enum class Type : uint8_t { Varint = 0, Bytes = 2 };

inline size_t varint_size(uint64_t value) {
  size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

inline size_t put_varint(char* to, uint64_t value) {
  size_t n = 0;
  for (; value >= 0x80; value >>= 7) to[n++] = static_cast<char>(value | 0x80);
  to[n++] = static_cast<char>(value);
  return n;
}

// Appends fields to a string.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}
  void varint(uint64_t value) {
    char buffer[10];
    out_.append(buffer, put_varint(buffer, value));
  }
  void tag(uint32_t field, Type type) { varint(uint64_t{field} << 3 | static_cast<uint64_t>(type)); }
  void varint_field(uint32_t field, uint64_t value) {
    tag(field, Type::Varint);
    varint(value);
  }
  void bytes_field(uint32_t field, std::string_view bytes) {
    tag(field, Type::Bytes);
    varint(bytes.size());
    out_.append(bytes);
  }
  size_t size() const { return out_.size(); }

 private:
  std::string& out_;
};

}  // namespace shardscape::wire

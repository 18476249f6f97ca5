// Reads a Chakra trace node by node, with the attributes that simulators read.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chakra/wire.h"

namespace shardscape {

enum class Attr : uint8_t {
  IsCpuOp,
  NumOps,
  TensorSize,
  CommType,
  CommSize,
  CommSrc,
  CommDst,
  CommTag,
  CommPriority,
  PgName,
  InvolvedDim,
  Inputs,
  Outputs
};
inline constexpr int kAttrCount = 13;
std::string_view attr_name(Attr attr);  // "comm_size"

struct AttrValue {
  bool present = false, repeated = false;
  uint32_t kind = 0;       // field number of the value (chakra::attr_field); 0: no value
  int64_t integer = 0;     // integers and booleans
  std::string_view bytes;  // strings; for lists the encoded message
  bool is_integer() const;
};

struct RawNode {
  uint64_t id = 0;
  int64_t type = 0;
  uint64_t duration = 0;  // microseconds
  std::string_view name;
  std::vector<uint64_t> deps;  // ids of data and control dependencies, in file order
  std::array<AttrValue, kAttrCount> attrs;
  const AttrValue& attr(Attr a) const { return attrs[static_cast<size_t>(a)]; }
};

// The results are views into the file's bytes, which must outlive them.
class TraceReader {
 public:
  explicit TraceReader(std::string_view file) : file_(file) {}
  enum class Step : uint8_t { Node, End, Bad };
  // Reads the first message. Returns false if it is no GlobalMetadata. `version` stays empty if the message
  // has none.
  bool read_metadata(std::string& version);
  Step next(RawNode& node);
  const std::string& problem() const { return problem_; }  // after Bad

 private:
  bool next_message(std::string_view& message);
  bool bad(const std::string& what);
  bool parse_node(std::string_view message, RawNode& node);
  std::string_view file_;
  size_t at_ = 0;
  std::string problem_;
};

// The strings of a string_list value; empty for any other value.
std::vector<std::string_view> string_list(const AttrValue& value);
// Whether any value of a bool_list is true.
bool any_true(const AttrValue& value);

}  // namespace shardscape

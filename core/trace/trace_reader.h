// Reads a Chakra trace node by node, with the attributes that simulators look at.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/wire.h"

namespace shardscape {

enum class Attr : uint8_t {
  IsCpuOp, NumOps, TensorSize, CommType, CommSize, CommSrc, CommDst, CommTag, CommPriority, PgName, InvolvedDim,
  Inputs, Outputs
};
inline constexpr int kAttrCount = 13;
std::string_view attr_name(Attr attr);  // "comm_size"

struct AttrValue {
  bool present = false, repeated = false;
  uint32_t kind = 0;       // field number of the value (chakra::attr_field); 0: it has none
  int64_t integer = 0;     // integers and booleans
  std::string_view bytes;  // strings; of lists the encoded message
  bool is_integer() const;
};

struct RawNode {
  uint64_t id = 0;
  int64_t type = 0;
  uint64_t duration = 0;       // microseconds
  std::string_view name;
  std::vector<uint64_t> deps;  // data and control, as they stand
  std::array<AttrValue, kAttrCount> attrs;
  const AttrValue& attr(Attr a) const { return attrs[static_cast<size_t>(a)]; }
};

// Views into the file's bytes, which must outlive it.
class TraceReader {
 public:
  explicit TraceReader(std::string_view file) : file_(file) {}
  enum class Step : uint8_t { Node, End, Bad };
  // The first message; false where it is none. `version` may stay empty.
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

// Strings of a string_list; whether any value of a bool_list is true.
std::vector<std::string_view> string_list(const AttrValue& value);
bool any_true(const AttrValue& value);

}  // namespace shardscape

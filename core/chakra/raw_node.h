// A node of a trace, with the attributes that simulators read, whatever schema the trace has.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
  bool any_true = false;  // a bool_list with a true entry
  uint32_t kind = 0;      // field number of the value (chakra::attr_field); 0: no value
  int64_t integer = 0;    // integers and booleans; float and double: truncated
  std::string_view text;  // string_val
  bool is_integer() const;
};

struct RawNode {
  uint64_t id = 0;
  int64_t type = 0;                  // number of chakra::NodeType; other numbers are unknown types
  uint64_t start = 0, duration = 0;  // microseconds
  std::string_view name;
  std::vector<uint64_t> ctrl_deps, data_deps;  // ids
  std::array<AttrValue, kAttrCount> attrs;
  std::vector<std::string_view> inputs, outputs;  // entries of string_list: alternately names and bytes
  const AttrValue& attr(Attr a) const { return attrs[static_cast<size_t>(a)]; }
  AttrValue& attr(Attr a) { return attrs[static_cast<size_t>(a)]; }
  bool is_root() const { return ctrl_deps.empty() && data_deps.empty(); }
  void clear();
};

// The attribute with this name, or null.
AttrValue* find_attr(std::string_view name, RawNode& node);

}  // namespace shardscape

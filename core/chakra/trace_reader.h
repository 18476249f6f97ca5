// Reads a Chakra trace node by node, with the attributes that simulators read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
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
  int64_t integer = 0;    // integers and booleans
  std::string_view text;  // string_val
  bool is_integer() const;
};

struct RawNode {
  uint64_t id = 0;
  int64_t type = 0;
  uint64_t duration = 0;  // microseconds
  std::string_view name;
  std::vector<uint64_t> deps;  // ids of control dependencies, then of data dependencies
  std::array<AttrValue, kAttrCount> attrs;
  std::vector<std::string_view> inputs, outputs;  // entries of string_list: alternately names and bytes
  const AttrValue& attr(Attr a) const { return attrs[static_cast<size_t>(a)]; }
};

// Reads a file of messages, each after its length as a varint. The file's bytes must outlive the reader.
class TraceReader {
 public:
  explicit TraceReader(std::string_view file);
  ~TraceReader();
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;
  enum class Step : uint8_t { Node, End, Bad };
  // Reads the first message. Returns false if it is no GlobalMetadata. `version` stays empty if the message
  // has none.
  bool read_metadata(std::string& version);
  // The texts of the node are valid until the next call.
  Step next(RawNode& node);
  const std::string& problem() const { return problem_; }  // after Bad; names the byte of the file

 private:
  struct Messages;
  bool next_message(std::string_view& message);
  bool bad(const std::string& what);
  std::string_view file_;
  size_t at_ = 0;
  std::string problem_;
  std::unique_ptr<Messages> messages_;
};

}  // namespace shardscape

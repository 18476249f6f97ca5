// Trace nodes as length-delimited protobuf messages. What nodes of one op share is encoded once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/image.h"
#include "trace/rank_program.h"

namespace shardscape {

struct SlotPlace {
  uint32_t slot, offset;  // where a rank's number stands
};

class NodeEncoder {
 public:
  NodeEncoder(const RankProgram& program, const SlotTexts& texts);
  void put_header(std::string& out) const;        // the metadata message
  void put_node(size_t index, std::string& out);  // appends; places() are then those of this node
  const std::vector<SlotPlace>& places() const { return places_; }
  // Of all messages together, without writing any.
  int64_t file_size();

 private:
  struct OpCode {
    std::string head;               // type field
    std::string attrs;              // attributes that all nodes of the op share
    std::vector<SlotPlace> places;  // offsets into attrs
    bool message = false;           // has a tag of its own per node
  };
  OpCode encode_op(const TraceOp& op, const SlotTexts& texts) const;
  void node_name(const TraceNode& node, const TraceOp& op);
  void put_tensors(const TraceNode& node, const TraceOp& op, std::string& out) const;
  size_t body_size(size_t index);
  size_t duration_size(size_t index) const;

  const RankProgram& program_;
  std::vector<OpCode> codes_;
  std::vector<SlotPlace> places_;
  std::string name_, tensors_;
};

}  // namespace shardscape

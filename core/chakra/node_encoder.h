// Encodes trace nodes as length-delimited protobuf messages. The parts that all nodes of an op share are
// encoded once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chakra/image.h"
#include "chakra/rank_program.h"

namespace shardscape {

struct SlotPlace {
  uint32_t slot, offset;  // where a rank's number is
};

class NodeEncoder {
 public:
  NodeEncoder(const RankProgram& program, const SlotTexts& texts);
  // Appends the metadata message.
  void put_header(std::string& out) const;
  // Appends a node; places() then returns the places of this node.
  void put_node(size_t index, std::string& out);
  const std::vector<SlotPlace>& places() const { return places_; }
  // Size of all messages together, without encoding them. Throws LoweringError above 2 GiB.
  int64_t file_size();

 private:
  struct OpCode {
    std::string head;               // type field
    std::string attrs;              // attributes that all nodes of the op share
    std::vector<SlotPlace> places;  // offsets into attrs
    bool message = false;           // has a tag per node
  };
  OpCode encode_op(const TraceOp& op, const SlotTexts& texts) const;
  void node_name(const TraceNode& node, const TraceOp& op);
  static void put_tensors(const NodeTensors& tensors, std::string& out);
  size_t body_size(size_t index);
  size_t duration_size(size_t index) const;

  const RankProgram& program_;
  std::vector<OpCode> codes_;
  std::vector<SlotPlace> places_;
  std::string name_, tensors_;
};

}  // namespace shardscape

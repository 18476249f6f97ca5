// Names a node of the graph view: the root, a stage, a unit of a stage, a block or an op of a unit.
#pragma once

#include <compare>
#include <cstdint>

namespace shardscape::ui {

enum class NodeLevel : uint8_t { Root, Stage, Unit, Block, Op };

struct NodeId {
  NodeLevel level = NodeLevel::Root;
  int stage = -1;  // a run of equal stages has the number of its first stage
  int unit = -1;  // 0: the embedding, 1 + i: layer i, last: the head; a run of equal layers has the number of
                  // its first layer
  bool backward = false;  // of blocks and ops
  int block = -1;         // -1: an op outside of blocks
  int op = -1;            // OpId in the unit's segment
  auto operator<=>(const NodeId&) const = default;
};

// Which directions of a step are drawn.
enum class Passes : uint8_t { Forward, Backward, Both };
inline bool shows(Passes passes, bool backward) {
  return passes == Passes::Both || (passes == Passes::Backward) == backward;
}

}  // namespace shardscape::ui

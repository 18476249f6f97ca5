// Appends nodes to a rank's program, with the control dependencies that fix the order of execution for a
// simulator.
#pragma once

#include <cstdint>
#include <vector>

#include "chakra/rank_program.h"

namespace shardscape {

// All communication forms one chain in program order. The first compute node of an action follows the last
// compute node of the previous action, so that few nodes are ready at a time. So do all compute nodes of a
// replay. Control dependencies that
// follow from other dependencies are omitted.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(RankProgram& program) : program_(program) {}

  // name: of the action, such as "forward"; a literal.
  void begin_action(std::string_view name);
  // Compute nodes of a replay follow the last compute node before the replay. Their inputs alone would let a
  // simulator recompute a layer right after its forward.
  void begin_replay();
  void end_replay() { in_replay_ = false; }
  // Adds a data dependency of the next node; 0 (none) is ignored.
  void depend(uint32_t id);
  // Returns the node's id.
  uint32_t add(uint32_t op, int32_t microbatch, int32_t layer, int32_t position, int32_t chunk = -1,
               int32_t message = -1);

 private:
  struct Reach {
    // Position on the communication chain and on the chain of gates that this node transitively depends on.
    uint32_t comm = 0, gate = 0;
  };
  void set_gate();
  void control(uint32_t id);

  RankProgram& program_;
  std::vector<uint32_t> data_;
  std::vector<uint32_t> ctrl_;
  std::vector<Reach> reach_;  // by node id - 1
  uint32_t comm_count_ = 0, last_comm_ = 0;
  uint32_t gate_count_ = 0, gate_ = 0;  // last compute node before this action or replay
  uint32_t last_comp_ = 0;              // last compute node after the gate
  bool in_replay_ = false;
};

// Compute nodes without dependencies move at least these bytes. ASTRA-sim's event queue asserts where the
// first node of a rank takes no nanosecond (1 ns at 16 TB/s, above the memory rate of any accelerator).
inline constexpr int64_t kLeastFirstBytes = 16 * 1024;
void lengthen_first_nodes(RankProgram& program);

// Writes the seconds of the ops as whole microseconds per node. The remainder carries over to the next node,
// so that sums are right to a microsecond.
void write_durations(RankProgram& program);

}  // namespace shardscape

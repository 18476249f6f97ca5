// Appends nodes to a rank's program, with the control dependencies that fix the order of execution for a
// simulator.
#pragma once

#include <cstdint>
#include <vector>

#include "chakra/rank_program.h"

namespace shardscape {

// All communication forms one chain in program order. The first compute node of an action follows the last
// compute node of the previous action, so that few nodes are ready at a time. Control dependencies that
// follow from other dependencies are omitted.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(RankProgram& program) : program_(program) {}

  // name: of the action, such as "forward"; a literal.
  void begin_action(std::string_view name);
  // Adds a data dependency of the next node; 0 (none) is ignored.
  void depend(uint32_t id);
  // Returns the node's id.
  uint32_t add(uint32_t op, int32_t microbatch, int32_t layer, int32_t position, int32_t chunk = -1,
               int32_t message = -1);

 private:
  struct Reach {
    // Position on the communication chain and on the chain of actions that this node transitively depends on.
    uint32_t comm = 0, gate = 0;
  };
  void control(uint32_t id);

  RankProgram& program_;
  std::vector<uint32_t> data_;
  std::vector<uint32_t> ctrl_;
  std::vector<Reach> reach_;  // by node id - 1
  uint32_t comm_count_ = 0, last_comm_ = 0;
  uint32_t gate_count_ = 0, gate_ = 0;  // last compute node of the previous action
  uint32_t last_comp_ = 0;              // last compute node of this action
};

// Writes the seconds of the ops as whole microseconds per node. The remainder carries over to the next node,
// so that sums are right to a microsecond.
void write_durations(RankProgram& program);

}  // namespace shardscape

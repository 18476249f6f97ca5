#include "memory/peak_text.h"

#include "graph/kernel_label.h"

namespace shardscape {

std::string peak_text(const StageMemory& memory, const Graph& graph) {
  std::string out = std::string(action_label(memory.action.kind)) +
                    (memory.action.microbatch >= 0
                         ? " of microbatch " + std::to_string(memory.action.microbatch)
                         : "");
  if (memory.layer >= 0)
    out += ", layer " + std::to_string(memory.layer);
  else if (memory.segment >= 0)
    out += ", " + graph.segments[static_cast<size_t>(memory.segment)].name;
  if (memory.at.after_run)
    out += memory.at.part == SegmentLifetimes::Part::InputBackward
               ? ": end, with the saved tensors of deferred weight gradients"
               : ": reduction of gradients";
  if (memory.at.op >= 0)
    out += ": " + kernel_label(graph.segments[static_cast<size_t>(memory.segment)], memory.at.op);
  return out;
}

}  // namespace shardscape

// The knob table, from which form, flags, JSON keys, tooltips and help come.
#include "design/knob_writer.h"

namespace shardscape {

KnobTable make_knob_table() {
  KnobTable table;
  TableWriter writer(table);
  add_model(writer);
  add_parallelism(writer);
  add_workload(writer);
  add_cluster(writer);
  return table;
}

}  // namespace shardscape

// The knob table: the source of the form, the flags, the JSON keys, the tooltips and the help.
#include "design/knobs/knob_writer.h"

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

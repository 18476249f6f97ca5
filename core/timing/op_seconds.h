// Seconds of every op of a graph on a machine, once per design: expressions are compiled once per structure.
#pragma once

#include <memory>
#include <vector>

#include "mesh/mesh.h"
#include "performance/collective_time.h"
#include "timing/simulation.h"

namespace shardscape {

using CategorySeconds = std::array<double, kTimeCategoryCount>;

inline bool is_communication(TimeCategory c) {
  return c >= TimeCategory::TensorComm && c <= TimeCategory::DataComm;
}
double communication(const CategorySeconds& seconds);
// A quantity of the report as the machine wants it; parts of a whole are allowed.
double number(const Expr& expr, const Binding& binding);

struct OpTime {
  double seconds = 0;        // that the compute stream is taken, waits for communication included
  double exposed = 0;        // of a ring: what it waits for blocks
  double communication = 0;  // of collectives and of all messages of a ring, hidden or not
  TimeCategory category = TimeCategory::MemoryBound;
  TimeCategory waits = TimeCategory::ContextComm;  // category of `exposed`
  LinkShare links{};                               // of a collective, while it runs
  double skipped = 0;  // of an attention: the share of its counted FLOPs that no kernel computes, as masks
                       // cover it
};

TimeCategory comm_category(const MeshAxes& axes);

struct OpSeconds {
  std::vector<std::vector<OpTime>> ops;  // by segment, by op
};
// Of one microbatch in all replicas, forward and, in training, backward; see Simulation::model_tflops.
double model_flops(const Report& report);
// What seconds of a graph's ops, bytes that its layers offload and those of messages depend on: these symbols
// and the spans of these groups, beside the machine, the position in a ring and whether collectives run
// beside products.
struct OpReads {
  int64_t serial = 0;  // of the cache that holds these expressions
  std::vector<Symbol> symbols;
  std::vector<MeshAxes> groups;
};
std::shared_ptr<const OpReads> op_reads(const Report& report);
OpSeconds op_seconds(const Report& report, const Machine& machine);

}  // namespace shardscape

// Seconds of every op of a graph on a machine. Expressions are compiled once per structure and evaluated per
// design.
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
// Evaluates an expression as a floating-point number; fractions are allowed.
double number(const Expr& expr, const Binding& binding);

struct OpTime {
  double seconds = 0;        // time on the compute stream, including exposed communication
  double exposed = 0;        // part of `seconds` in category `waits`: ring blocks, or a packed exchange
  double communication = 0;  // seconds of collectives and of all ring messages, hidden or not
  TimeCategory category = TimeCategory::MemoryBound;
  TimeCategory waits = TimeCategory::ContextComm;  // category of `exposed`
  LinkShare links{};                               // collective: share of the links while it runs
  // Attention: the share of its counted FLOPs that no kernel computes because masks cover them.
  double skipped = 0;
};

TimeCategory comm_category(const MeshAxes& axes);

struct OpSeconds {
  std::vector<std::vector<OpTime>> ops;  // by segment, by op
};
// FLOPs of one microbatch of all replicas: the forward and, in training, the backward. See
// Simulation::model_tflops.
double model_flops(const Report& report);
// The inputs of op seconds, of offloaded bytes and of message bytes: the values of `symbols` and the spans of
// `groups`. Other inputs are the machine, the position in a ring and tp_comm_overlap.
struct OpReads {
  int64_t serial = 0;  // number in the cache that holds these expressions
  std::vector<Symbol> symbols;
  std::vector<MeshAxes> groups;
};
std::shared_ptr<const OpReads> op_reads(const Report& report);
OpSeconds op_seconds(const Report& report, const Machine& machine);

}  // namespace shardscape

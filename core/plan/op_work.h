// What ops compute and send: FLOPs by kind of op, elements by collective.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "plan/step_model.h"

namespace shardscape {

struct OpWork {
  std::map<std::tuple<Phase, OpKind, DType>, FlopsRow> flops;
  std::map<std::tuple<Phase, CommOp, std::string, DType>, CollectiveRow> collectives;

  void count(const Graph& graph, const Segment& segment, const Op& op);  // one run of the op
  void add(const OpWork& other, const Expr& times);
  // size: ranks of the group. elements: of all `count` calls.
  void collective(Phase phase, CommOp op, const std::string& group, const Expr& size, DType dtype,
                  const Expr& count, const Expr& elements);

 private:
  FlopsRow& flops_row(Phase phase, OpKind kind, DType compute);
};

// Of all layers of a stage in a step, as a function of the stage's numbers of layers.
OpWork work_of_layers(const Graph& graph);

}  // namespace shardscape

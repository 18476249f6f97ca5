#include "campaign/checkpoint.h"

#include <stdexcept>

#include "grad_sync/grad_plan.h"
#include "grad_sync/muon.h"
#include "grad_sync/sync_groups.h"

namespace shardscape {
namespace {

double number(const Expr& expr, const Binding& binding) {
  const auto value = evaluate(expr, binding);
  if (const auto* error = std::get_if<EvalError>(&value)) throw std::logic_error(error->message);
  return to_double(std::get<Wide>(value));
}

// Bytes of one parameter, scales included.
double mean_bytes(DType type) {
  constexpr int64_t kElements = int64_t{1} << 20;  // whole blocks of all types
  return static_cast<double>(storage_bytes(type, kElements)) / kElements;
}

// Bytes of one trained parameter with its states.
double state_bytes(const Structure& s, DType type, bool muon) {
  const double moments = (muon ? 1 : 2) * mean_bytes(s.moment_dtype);
  if (is_torch_fsdp(s.sync)) return 4 + moments;  // parameters in float32
  return dtype_bytes(type) + (s.master_weights && dtype_bytes(type) < 4 ? 4 : 0) + moments;
}

double rank_bytes(const Report& report, const StageReport& stage) {
  const Graph& graph = report.graph();
  const StageShape& shape = report.model->shapes[static_cast<size_t>(stage.shape)];
  const auto replicas = [&](const ReplicaGroup& group) {
    return number(group_size(graph.structure, group.axes), stage.binding);
  };
  // Frozen parameters have as many replicas as dense ones.
  const auto groups = replica_groups(graph);
  const double of_frozen = groups.empty() ? 1 : replicas(groups.front());
  double bytes = 0;
  for (const StageParam& p : stage_params(graph, shape.first, shape.last, shape.has_layers)) {
    const Tensor& tensor = p.segment->tensor(p.param->tensor);
    const bool trained = p.param->gradient >= 0;
    const double each = trained ? state_bytes(graph.structure, tensor.dtype,
                                              is_muon_matrix(graph.structure, *p.segment, *p.param))
                                : mean_bytes(tensor.dtype);
    const double ranks = trained
                             ? replicas(replica_group(graph.structure, p.segment->tensor(p.param->gradient)))
                             : of_frozen;
    bytes += number(p.count * local_elements(tensor), stage.binding) * each / ranks;
  }
  return bytes;
}

}  // namespace

CheckpointBytes checkpoint_bytes(const Report& report) {
  CheckpointBytes out;
  const double stage_ranks = static_cast<double>(report.ranks) / static_cast<double>(report.stages.size());
  // Two stages hold the same virtual stages and save half each.
  const double copies = report.graph().structure.layout == ChunkLayout::BothWays ? 2 : 1;
  for (const StageReport& stage : report.stages) {
    const double bytes = rank_bytes(report, stage) / copies;
    if (out.ranks.empty() || bytes > out.slowest()) out.slowest_stage = static_cast<int>(out.ranks.size());
    out.ranks.push_back(bytes);
    out.total += bytes * stage_ranks;
  }
  return out;
}

}  // namespace shardscape

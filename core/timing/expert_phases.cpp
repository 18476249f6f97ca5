#include "timing/expert_phases.h"

#include <algorithm>

#include "graph/op_traits.h"
#include "mesh/pipeline_layout.h"

namespace shardscape {
namespace {

bool is_expert_gemm(const Segment& segment, const Op& op) {
  return op.kind == OpKind::Einsum && std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId in) {
           return in >= 0 && !segment.tensor(in).axes.empty() &&
                  segment.tensor(in).axes.front() == Axis::Experts;
         });
}

double exchange_seconds(const OpTime& time) {
  return (time.category == TimeCategory::ExpertComm ? time.seconds - time.exposed : 0) +
         (time.waits == TimeCategory::ExpertComm ? time.exposed : 0);
}

// The first op of a part behind its first exchange or exchanges: in a backward the first GEMM of experts,
// otherwise the last one.
OpId second_exchanges(const Segment& segment, const std::vector<OpId>& ops, Part part) {
  const auto is_gemm = [&](OpId id) { return is_expert_gemm(segment, segment.op(id)); };
  const auto first = std::find_if(ops.begin(), ops.end(), is_gemm);
  if (first == ops.end()) return static_cast<OpId>(segment.ops.size());
  return part == Part::Backward ? *first : *std::find_if(ops.rbegin(), ops.rend(), is_gemm);
}

// An exchange and the shared experts next to it.
struct Concurrent {
  std::vector<OpId> exchanges, shared;
};

void run_concurrently(const Concurrent& of, double slower, std::vector<OpTime>& times) {
  double exchange = 0, shared = 0;
  for (const OpId id : of.exchanges) exchange += exchange_seconds(times[static_cast<size_t>(id)]);
  for (const OpId id : of.shared) shared += times[static_cast<size_t>(id)].seconds;
  if (exchange == 0 || shared == 0) return;
  const double slowed = shared * (1 + slower);
  // What is left of the shared experts after the exchange runs at full speed.
  const double computes = slowed <= exchange ? slowed : exchange + shared - exchange / (1 + slower);
  const double waits = std::max(0.0, exchange - slowed) / exchange;
  for (const OpId id : of.shared) times[static_cast<size_t>(id)].seconds *= computes / shared;
  for (const OpId id : of.exchanges) {
    OpTime& time = times[static_cast<size_t>(id)];
    time.seconds -= (1 - waits) * exchange_seconds(time);
    if (time.waits == TimeCategory::ExpertComm) time.exposed *= waits;
  }
}

}  // namespace

double slower_share(const Machine& machine, int64_t taken) {
  const int64_t all = machine.accelerator->processors;
  return all <= taken ? 0 : static_cast<double>(taken) / static_cast<double>(all - taken);
}

Part part_of(const Structure& structure, const Segment& segment, OpId op) {
  if (op < segment.backward_begin) return Part::Forward;
  if (op < segment.replay_end) return Part::Replay;
  return structure.split_backward && segment.op(op).deferrable ? Part::Weight : Part::Backward;
}

// Exchanges that the last GEMM of experts waits for in a forward are the dispatch; those before the first
// GEMM in a backward are the gradient of the combine.
ExpertPhases expert_phases(const Segment& segment, const std::vector<OpTime>& times,
                           const std::vector<OpId>& ops, Part part) {
  ExpertPhases out;
  const auto is_gemm = [&](OpId id) { return is_expert_gemm(segment, segment.op(id)); };
  const auto exchanges = [&](OpId id) { return exchange_seconds(times[static_cast<size_t>(id)]) > 0; };
  const OpId border = second_exchanges(segment, ops, part);
  const auto first = std::find_if(ops.begin(), ops.end(), exchanges);
  const auto last = std::find_if(ops.rbegin(), ops.rend(), exchanges);
  for (const OpId id : ops) {
    const OpTime& time = times[static_cast<size_t>(id)];
    const double exchanged = exchange_seconds(time), computed = time.seconds - exchanged;
    out.exchange[id < border ? 0 : 1] += exchanged;
    size_t phase = first == ops.end() || id <= *first ? 0 : id <= *last ? 1 : 2;
    if (part == Part::Weight) phase = is_gemm(id) ? 1 : 2;
    out.compute[phase] += computed;
    if (time.category == TimeCategory::MatrixProducts || time.category == TimeCategory::Attention)
      out.gemms[phase] += computed;
  }
  return out;
}

bool overlaps_shared_experts(const Design& design) {
  const ParallelSpec& p = design.parallel;
  return p.shared_expert_overlap && trains(design) && p.ep > 1 &&
         !schedule_traits(schedule_of(p)).overlaps_passes &&
         (p.dispatcher == Dispatcher::AllToAll || p.dispatcher == Dispatcher::Flex);
}

void overlap_shared_experts(const Report& report, const Machine& machine, const Segment& segment,
                            std::vector<OpTime>& times) {
  const Structure& structure = report.graph().structure;
  const auto is_shared = [&](OpId id) {
    return segment.op(forward_of(segment, id)).modules.has(RecomputeModule::SharedExperts) &&
           !is_collective(segment.op(id).kind);
  };
  OpId last_gemm = -1;  // of the forward
  for (OpId id = 0; id < segment.backward_begin; ++id)
    if (segment.op(id).kind == OpKind::Einsum && is_shared(id)) last_gemm = id;
  for (const Part part : {Part::Forward, Part::Backward}) {
    std::vector<OpId> ops;
    for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id)
      if (part_of(structure, segment, id) == part) ops.push_back(id);
    const OpId border = second_exchanges(segment, ops, part);
    Concurrent first, second;
    for (const OpId id : ops) {
      if (exchange_seconds(times[static_cast<size_t>(id)]) > 0)
        (id < border ? first : second).exchanges.push_back(id);
      else if (is_shared(id) && times[static_cast<size_t>(id)].seconds > 0)
        ((forward_of(segment, id) == last_gemm) == (part == Part::Backward) ? first : second)
            .shared.push_back(id);
    }
    const double slower = slower_share(machine, report.design.parallel.dispatch_sms);
    for (const Concurrent* of : {&first, &second}) run_concurrently(*of, slower, times);
  }
}

}  // namespace shardscape

#include "timing/row_times.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "graph/op_traits.h"
#include "graph/ring.h"
#include "performance/collective_time.h"
#include "plan/collective_rows.h"
#include "plan/rank_mesh.h"
#include "plan/stage_layout.h"

namespace shardscape {
namespace {

// A row's share of an op's communication.
struct RowShare {
  size_t row = 0;
  double share = 1;
};

// Adds up the rows of one stage.
class StageRows {
 public:
  StageRows(const Report& report, const LayerTable& table, const Simulation& simulation,
            const StageReport& stage)
      : report_(report),
        table_(table),
        simulation_(simulation),
        stage_(stage),
        times_(simulation.stages[static_cast<size_t>(stage.stage)]),
        rows_(stage.collectives.size()) {}

  void run(const StageLayout& layout) {
    using Key = std::tuple<int, LayerClass, Part, OverlapSlowdown>;
    std::map<Key, int64_t> parts;  // how often each part of a layer runs
    for (const SimulatedLayer& layer : times_.layers) {
      const StageInstance& at = layout.instances[static_cast<size_t>(layer.instance)];
      ++parts[{at.segment, at.of, layer.part, layer.overlap}];
    }
    for (const auto& [key, count] : parts) {
      const auto& [segment, of, part, overlap] = key;
      add_part(segment, of, part, overlap, count);
    }
    add_spans();
    if (const double updates = times_.seconds[static_cast<size_t>(TimeCategory::Optimizer)]; updates > 0) {
      int64_t spans = 0;
      for (const Span& span : times_.spans)
        spans += span.kind == SpanKind::Optimizer && span.end > span.begin;
      kernel(Phase::Step, OpKind::Optimizer, DType::FP32) = {Phase::Step, OpKind::Optimizer, DType::FP32,
                                                             updates, spans};
    }
  }
  std::vector<CollectiveTime>& rows() { return rows_; }
  std::vector<KernelTime> kernels() const {
    std::vector<KernelTime> out;
    for (const auto& [key, time] : kernels_) out.push_back(time);
    return out;
  }

 private:
  KernelTime& kernel(Phase phase, OpKind kind, DType compute) {
    return kernels_.try_emplace({phase, kind, compute}, KernelTime{phase, kind, compute}).first->second;
  }

  double bytes(size_t row) const { return to_double(stage_.collectives[row].bytes.value); }

  // Shares by the bytes of the rows.
  template <typename Counts>
  std::vector<RowShare> shares(Counts counts) const {
    std::vector<RowShare> out;
    double all = 0;
    for (size_t row = 0; row < rows_.size(); ++row)
      if (counts(stage_.collectives[row])) {
        out.push_back({row, bytes(row)});
        all += bytes(row);
      }
    for (RowShare& one : out) one.share = all > 0 ? one.share / all : 1 / static_cast<double>(out.size());
    return out;
  }

  // The rows that count the communication of an op. In a ring, messages of K and V, and of their gradients,
  // have rows of their own if their types differ.
  std::vector<RowShare> rows_of(const Segment& segment, OpId id, CommPart end) const {
    const Op& op = segment.op(id);
    if (is_collective(op.kind) && !is_ring(op.kind))
      return shares([&](const CollectiveValue& row) { return is_behind(segment, op, row); });
    const RingOps ring = ring_ops(segment, id);
    return shares([&](const CollectiveValue& row) {
      const auto behind = [&](OpId message) { return is_behind(segment, segment.op(message), row); };
      return row.op.part() == end && (std::any_of(ring.passes.begin(), ring.passes.end(), behind) ||
                                      std::any_of(ring.sums.begin(), ring.sums.end(), behind));
    });
  }

  // exposed < seconds where compute hides communication.
  void add_op(const Segment& segment, OpId id, double seconds, double exposed) {
    if (seconds <= 0 && exposed <= 0) return;
    const bool ring = !is_collective(segment.op(id).kind);
    for (const RowShare& of : rows_of(segment, id, CommPart::Receive)) {
      rows_[of.row].seconds += of.share * seconds;
      rows_[of.row].exposed += of.share * exposed;
    }
    if (!ring) return;
    for (const RowShare& of : rows_of(segment, id, CommPart::Send))
      rows_[of.row].seconds += of.share * seconds;
  }

  void add_kernel(const Segment& segment, OpId id, double seconds, int64_t count) {
    if (seconds == 0) return;
    const Op& op = segment.op(id);
    KernelTime& time = kernel(op.phase, op.kind, op.compute);
    time.seconds += seconds;
    time.kernels += count;
  }

  void add_part(int index, LayerClass of, Part part, const OverlapSlowdown& overlap, int64_t count) {
    const Segment& segment = report_.graph().segments[static_cast<size_t>(index)];
    const std::vector<OpTime>& times = table_.ops().ops[static_cast<size_t>(index)];
    const bool placed = has_concurrent_blocks(segment);
    const auto layers = static_cast<double>(count);
    for (OpId id = 0; id < static_cast<OpId>(times.size()); ++id) {
      const OpTime& time = times[static_cast<size_t>(id)];
      if ((time.seconds <= 0 && time.communication <= 0) || !runs(segment.op(id), of.checkpoint_policy) ||
          part_of(report_.graph().structure, segment, id) != part)
        continue;
      const double main = (time.seconds - time.exposed) * overlap.factor(time.category),
                   waits = time.exposed * overlap.factor(time.waits);
      const bool communicates = is_communication(time.category);
      if (placed) {
        add_op(segment, id, layers * time.communication, 0);
        continue;
      }
      add_op(segment, id, layers * time.communication, layers * (waits + (communicates ? main : 0)));
      if (!communicates) add_kernel(segment, id, layers * main, count);
    }
    if (!placed) return;
    for (const PlacedPartOp& op : table_.concurrent(index, of, part).ops) {
      const OpTime& time = times[static_cast<size_t>(op.op)];
      const TimeCategory comm = is_communication(time.category) ? time.category : time.waits;
      add_op(segment, op.op, 0, layers * op.exposed * overlap.factor(comm));
      if (op.concurrent || is_communication(time.category)) continue;
      const double computed = op.end - op.begin - op.exposed;
      add_kernel(segment, op.op, layers * computed * overlap.factor(time.category), count);
    }
  }

  // Messages between stages, and collectives outside of layers.
  void add_spans() {
    std::vector<double> by_name(simulation_.names.size(), 0);
    double sent = 0, received = 0;
    for (const Span& span : times_.spans) {
      if (span.kind == SpanKind::Collective) by_name[static_cast<size_t>(span.name)] += span.end - span.begin;
      if (span.kind == SpanKind::Send) sent += span.end - span.begin;
      if (span.kind != SpanKind::Receive) continue;
      const Span& message = simulation_.stages[static_cast<size_t>(span.waits_stage)]
                                .spans[static_cast<size_t>(span.waits_span)];
      received += message.end - message.begin;
    }
    for (size_t name = 0; name < by_name.size(); ++name) {
      const std::optional<SpanCollective>& of = simulation_.names[name].collective;
      if (!of) continue;
      for (const RowShare& one : shares([&](const CollectiveValue& row) { return is_row(row, *of); })) {
        rows_[one.row].seconds += one.share * by_name[name];
        rows_[one.row].exposed += one.share * times_.name_waits[name];
      }
    }
    const auto transfers = [&](CommOp op, double seconds, double exposed) {
      for (const RowShare& one :
           shares([&](const CollectiveValue& row) { return row.phase == Phase::Pipeline && row.op == op; })) {
        rows_[one.row].seconds += one.share * seconds;
        rows_[one.row].exposed += one.share * exposed;
      }
    };
    transfers(CommOp::send(), sent, 0);
    transfers(CommOp::receive(), received, times_.seconds[static_cast<size_t>(TimeCategory::PipelineComm)]);
    transfers(CollectiveKind::AllGather, times_.message_gathers, times_.message_gathers);
  }

  const Report& report_;
  const LayerTable& table_;
  const Simulation& simulation_;
  const StageReport& stage_;
  const StageTimes& times_;
  std::vector<CollectiveTime> rows_;
  std::map<std::tuple<Phase, OpKind, DType>, KernelTime> kernels_;
};

// The spans of the groups of rows.
class Spans {
 public:
  Spans(const Report& report, const Network& network)
      : report_(report), network_(network), mesh_(mesh_of(report)) {}

  GroupSpan of(const CollectiveValue& row, int64_t stage) {
    const std::string& group = row.group;
    const int64_t stages = mesh_.degree(MeshAxis::Pp);
    if (group == "embedding") return between(0, stages - 1);
    if (group == "mirror") return between(stage, stages - 1 - stage);
    if (row.phase == Phase::Pipeline && row.op.is_message()) {  // the slowest neighbour
      const GroupSpan next = between(stage, (stage + 1) % stages),
                      before = between((stage + stages - 1) % stages, stage);
      if (stage == 0 && !wraps()) return next;
      if (stage == stages - 1 && !wraps()) return before;
      return network_level(network_, next) < network_level(network_, before) ? before : next;
    }
    const auto [it, fresh] = known_.try_emplace(group);
    if (fresh)
      it->second = span_of(mesh_, axes_of_group(group, report_.design.parallel.folds_experts()), network_);
    return it->second;
  }

 private:
  // Whether the last stage sends to the first one.
  bool wraps() const {
    const Structure& structure = report_.graph().structure;
    return structure.interleaved && structure.layout == ChunkLayout::Round;
  }
  GroupSpan between(int64_t a, int64_t b) const {
    return span_of({mesh_.with(0, MeshAxis::Pp, std::min(a, b)), mesh_.with(0, MeshAxis::Pp, std::max(a, b))},
                   network_);
  }
  const Report& report_;
  const Network& network_;
  const DeviceMesh mesh_;
  std::map<std::string, GroupSpan> known_;
};

CollectiveKind kind_of(const CommOp& op) {
  return op.is_message() ? CollectiveKind::SendRecv : find_collective_kind(op.name()).value();
}

}  // namespace

bool is_row(const CollectiveValue& row, const SpanCollective& span) {
  return span.phase == row.phase && row.op == span.op && span.group == row.group && span.dtype == row.dtype;
}

void add_row_times(const Report& report, const LayerTable& table, Simulation& simulation) {
  const Network& network = simulation.machine.network;
  Spans spans(report, network);
  std::map<int, StageLayout> layouts;  // by representative
  for (const StageReport& stage : report.stages) {
    const auto [layout, fresh] = layouts.try_emplace(stage.representative);
    if (fresh) layout->second = stage_layout(report, stage);
    StageRows rows(report, table, simulation, stage);
    rows.run(layout->second);
    for (size_t i = 0; i < rows.rows().size(); ++i) {
      const CollectiveValue& of = stage.collectives[i];
      CollectiveTime& time = rows.rows()[i];
      time.span = spans.of(of, stage.stage);
      time.level = network_level(network, time.span);
      if (of.count.value > 0) time.per_call = time.seconds / to_double(of.count.value);
      if (time.seconds > 0)
        time.bus_rate = to_double(of.bytes.value) / time.seconds * bus_factor(kind_of(of.op), of.group_size);
    }
    StageTimes& times = simulation.stages[static_cast<size_t>(stage.stage)];
    times.collectives = std::move(rows.rows());
    times.kernels = rows.kernels();
  }
}

}  // namespace shardscape

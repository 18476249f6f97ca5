#include "bundle/trace_export.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/memory_limit.h"
#include "base/units.h"
#include "chakra/repeat_steps.h"
#include "model/parallel_loop.h"

namespace shardscape {

namespace {

int64_t count(const RankProgram& program, chakra::NodeType type) {
  return std::count_if(program.nodes.begin(), program.nodes.end(),
                       [&](const TraceNode& n) { return program.ops[n.op].type == type; });
}

// The slots that nodes of the program name.
std::vector<size_t> slots_of(const RankProgram& program) {
  std::set<size_t> slots;
  for (const TraceNode& node : program.nodes) {
    const TraceOp& op = program.ops[node.op];
    if (op.type == chakra::NodeType::Coll) slots.insert(static_cast<size_t>(op.role));
    if (op.type == chakra::NodeType::Send || op.type == chakra::NodeType::Recv)
      slots.insert({own_slot(program.roles), peer_slot(program.roles, op.peer)});
  }
  return {slots.begin(), slots.end()};
}

class ProgramEncoder : public TraceSource::Encoder {
 public:
  explicit ProgramEncoder(RankProgram program) : program_(std::move(program)) {}
  TraceImage image(const SlotTexts& texts, const std::stop_token& stop) const override {
    return TraceImage(program_, texts, stop);
  }

 private:
  RankProgram program_;
};

}  // namespace

TraceExport::TraceExport(const Report& report, const ExportOptions& options)
    : report_(report),
      options_(options),
      lowering_(std::in_place, report,
                options.launches    ? TraceTimes::Launches
                : options.durations ? TraceTimes::Durations
                                    : TraceTimes::Roofline),
      groups_(lowering_->mesh(), lowering_->roles()) {}

TraceExport::TraceExport(const StepWindow& window, const ExportOptions& options)
    : report_(window.reference().report()),
      options_(options),
      window_(&window),
      groups_(window.reference().mesh(), window.reference().roles()) {}

RankProgram TraceExport::program(const FileClass& of, const std::stop_token& stop) const {
  RankProgram made = window_ ? window_->stage(of.stage, options_.tensors, stop, of.position)
                             : lowering_->stage(of.stage, options_.tensors, stop, of.position);
  if (stop.stop_requested()) return made;
  return repeat_steps(merge_compute_nodes(std::move(made), options_.granularity), options_.steps,
                      lowering().schedule().microbatches);
}

RankNumbers TraceExport::numbers(int64_t rank) const {
  const int roles = static_cast<int>(lowering().roles().size());
  RankNumbers numbers;
  numbers.values.resize(slot_count(roles));
  for (int role = 0; role < roles; ++role) numbers.values[static_cast<size_t>(role)] = groups_.id(role, rank);
  const DeviceMesh& mesh = lowering().mesh();
  const int64_t stage = mesh.coordinate(rank, MeshAxis::Pp), stages = mesh.degree(MeshAxis::Pp);
  numbers.values[own_slot(roles)] = rank;
  // Only interleaved chunks send messages between the last stage and the first.
  const bool round = lowering().schedule().chunks > 1 && lowering().schedule().layout == ChunkLayout::Round;
  const int64_t previous = stage > 0 ? stage - 1 : round ? stages - 1 : 0;
  const int64_t next = stage + 1 < stages ? stage + 1 : round ? 0 : stages - 1;
  numbers.values[peer_slot(roles, Peer::PreviousStage)] = mesh.with(rank, MeshAxis::Pp, previous);
  numbers.values[peer_slot(roles, Peer::NextStage)] = mesh.with(rank, MeshAxis::Pp, next);
  for (const MeshAxis ring : ring_axes(report_.graph().structure)) {
    const int64_t at = mesh.coordinate(rank, ring), ranks = mesh.degree(ring);
    numbers.values[peer_slot(roles, Peer::PreviousInRing)] = mesh.with(rank, ring, (at + ranks - 1) % ranks);
    numbers.values[peer_slot(roles, Peer::NextInRing)] = mesh.with(rank, ring, (at + 1) % ranks);
  }
  return numbers;
}

std::vector<FileClass> TraceExport::classes() const {
  std::vector<FileClass> out;
  for (size_t s = 0; s < report_.stages.size(); ++s)
    for (int64_t position = 0; position < lowering().positions(); ++position) {
      out.emplace_back().stage = static_cast<int>(s);
      out.back().position = position;
    }
  for (int64_t rank = 0; rank < lowering().mesh().ranks(); ++rank) {
    const int64_t stage = lowering().mesh().coordinate(rank, MeshAxis::Pp);
    if (options_.part.has(rank, stage))
      out[static_cast<size_t>(stage * lowering().positions() + lowering().position_of(rank))].ranks.push_back(
          rank);
  }
  std::erase_if(out, [](const FileClass& c) { return c.ranks.empty(); });
  return out;
}

SlotTexts TraceExport::texts(const FileClass& of, size_t k) const {
  return slot_texts(numbers(of.ranks[k]), static_cast<int>(lowering().roles().size()));
}

std::unique_ptr<TraceSource::Encoder> TraceExport::encoder(FileClass& of, const std::stop_token& stop) const {
  RankProgram made = program(of, stop);
  of.nodes = static_cast<int64_t>(made.nodes.size());
  of.collectives = count(made, chakra::NodeType::Coll);
  of.sends = count(made, chakra::NodeType::Send);
  of.used_slots = slots_of(made);
  return std::make_unique<ProgramEncoder>(std::move(made));
}

int64_t TraceExport::ranks() const {
  const std::vector<FileClass> all = classes();
  return std::accumulate(all.begin(), all.end(), int64_t{0}, [](int64_t sum, const FileClass& c) {
    return sum + static_cast<int64_t>(c.ranks.size());
  });
}

std::optional<Problem> TraceExport::memory_problem() const {
  if (window_) return std::nullopt;
  constexpr Wide kBytesOfNode = 3 * sizeof(TraceNode);  // with its dependencies and the growth of the list
  const Graph& graph = report_.graph();
  const auto ops_of = [&](int segment) {
    return static_cast<Wide>(graph.segments[static_cast<size_t>(segment)].ops.size());
  };
  Wide most = 0, stages = 0;
  for (const StageReport& stage : report_.stages) {
    if (stage.representative != stage.stage) continue;
    ++stages;
    Wide ops = (stage.first.embedding ? ops_of(0) : 0) + (stage.last ? ops_of(graph.head()) : 0);
    for (const std::vector<int>& chunk : chunk_kinds(graph, stage, report_.design.model))
      for (const int kind : chunk) ops += ops_of(kind + 1);
    most = std::max(most, ops);
  }
  return memory_short({.what = "the trace of " + grouped(report_.microbatches) + " microbatches",
                       .bytes = report_.microbatches * most * kBytesOfNode *
                                std::min(stages, static_cast<Wide>(loop_threads())),
                       .where = "batch",
                       .accepted = "a smaller batch, a larger microbatch or more replicas"});
}

int64_t TraceExport::estimate(const std::stop_token& stop) const {
  const int roles = static_cast<int>(lowering().roles().size());
  const std::vector<FileClass> all = classes();
  std::vector<int64_t> bytes(all.size());
  parallel_loop(all.size(), [&](size_t c) {
    const int64_t first = lowering().mesh().with(0, MeshAxis::Pp, all[c].stage);
    const RankProgram made = program(all[c], stop);
    if (stop.stop_requested()) return;
    bytes[c] = image_size(made, slot_texts(numbers(first), roles)) *
               (options_.compact ? 1 : static_cast<int64_t>(all[c].ranks.size()));
  });
  return std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
}

Result<TraceTotals> TraceExport::write(ByteSink& sink, const ExportProgressFn& progress,
                                       std::stop_token stop) const {
  return write_traces(*this, {options_.name, options_.compact}, sink, progress, std::move(stop));
}

}  // namespace shardscape

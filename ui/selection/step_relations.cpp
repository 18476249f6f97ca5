#include "ui/selection/step_relations.h"

#include <algorithm>

#include "graph/chunk_layers.h"

namespace shardscape::ui {
namespace {

std::vector<TowerPart> tower_of(const Report& report) {
  return tower_parts(report.graph(), report.design.model);
}

}  // namespace

int embedding_unit(const Report& report) {
  int64_t units = 0;
  for (const TowerPart& part : tower_of(report)) units += part.copies;
  return static_cast<int>(units);
}

int units_in(const Report& report) {
  return embedding_unit(report) + static_cast<int>(report.design.model.layers) + 2;
}

int unit_of(const Report& report, int segment, int layer) {
  const int embedding = embedding_unit(report);
  if (layer >= 0) return embedding + layer + 1;
  if (segment == 0) return embedding;
  if (segment == report.graph().head()) return units_in(report) - 1;
  int64_t units = 0;
  for (const TowerPart& part : tower_of(report)) {
    if (part.segment == segment) break;
    units += part.copies;
  }
  return static_cast<int>(units);
}

int layer_of_unit(const Report& report, int unit) {
  const int layer = unit - embedding_unit(report) - 1;
  return layer < report.design.model.layers ? std::max(layer, -1) : -1;
}

int segment_of_unit(const Report& report, int unit) {
  if (unit >= units_in(report) - 1) return report.graph().head();
  if (const int layer = layer_of_unit(report, unit); layer >= 0)
    return 1 + report.graph().layer_kind(layer, report.design.model);
  int64_t end = 0;
  for (const TowerPart& part : tower_of(report))
    if (end += part.copies; unit >= 0 && unit < end) return part.segment;
  return 0;
}

int chunk_of(const Report& report, int stage, int segment, int layer) {
  const StageReport& of = report.stages[static_cast<size_t>(stage)];
  if (layer < 0)
    return segment == report.graph().head() ? (of.last ? static_cast<int>(of.chunks.size()) - 1 : -1)
           : (segment == 0 ? of.first.embedding : of.first.tower) ? 0
                                                                  : -1;
  for (size_t c = 0; c < of.chunks.size(); ++c)
    if (layer >= of.chunks[c].first_layer && layer < of.chunks[c].first_layer + of.chunks[c].layers)
      return static_cast<int>(c);
  return -1;
}

std::set<int> segments_of(const Report& report, int stage, int chunk) {
  const StageReport& of = report.stages[static_cast<size_t>(stage)];
  std::set<int> out;
  if (of.first.embedding && chunk == 0) out.insert(0);
  if (of.first.tower && chunk == 0)
    for (const TowerPart& part : tower_of(report))
      if (part.copies > 0) out.insert(part.segment);
  const auto kinds = chunk_kinds(report.graph(), of, report.design.model);
  if (chunk < static_cast<int>(kinds.size()))
    for (const int kind : kinds[static_cast<size_t>(chunk)]) out.insert(1 + kind);
  if (of.last && chunk + 1 == static_cast<int>(of.chunks.size())) out.insert(report.graph().head());
  return out;
}

std::set<int> segments_of(const Report& report, int stage) {
  std::set<int> out;
  const auto chunks = static_cast<int>(report.stages[static_cast<size_t>(stage)].chunks.size());
  for (int chunk = 0; chunk < chunks; ++chunk) out.merge(segments_of(report, stage, chunk));
  return out;
}

std::pair<int, int> units_of_chunk(const Report& report, int stage, int chunk) {
  const StageReport& of = report.stages[static_cast<size_t>(stage)];
  if (chunk < 0 || chunk >= static_cast<int>(of.chunks.size())) return {0, 0};
  const StageChunk& layers = of.chunks[static_cast<size_t>(chunk)];
  const std::set<int> segments = segments_of(report, stage, chunk);
  const int embedding = embedding_unit(report);
  int first = embedding + static_cast<int>(layers.first_layer) + 1,
      end = first + static_cast<int>(layers.layers);
  const bool tower = !segments.empty() && *segments.rbegin() > report.graph().head();
  if (segments.count(0)) first = embedding;
  if (tower && !segments.count(0)) end = embedding;
  if (tower) first = 0;
  if (segments.count(report.graph().head())) end = units_in(report);
  return {first, end};
}

bool runs_in(SpanKind kind, const Segment& segment, OpId id) {
  const bool backward = id >= segment.backward_begin;
  switch (kind) {
    case SpanKind::Forward: return !backward;
    case SpanKind::Recompute: return backward && id < segment.replay_end;
    case SpanKind::Backward: return backward;
    case SpanKind::BackwardInput: return backward && !segment.op(id).deferrable;
    case SpanKind::BackwardWeight: return backward && segment.op(id).deferrable;
    default: return false;
  }
}

bool counts_span(const CollectiveValue& row, const Simulation& simulation, const Span& span) {
  if (span.kind == SpanKind::Send) return row.phase == Phase::Pipeline && row.op == CommOp::send();
  if (span.kind == SpanKind::Receive) return row.phase == Phase::Pipeline && row.op == CommOp::receive();
  if (span.kind != SpanKind::Collective || span.name < 0) return false;
  const std::optional<SpanCollective>& of = simulation.names[static_cast<size_t>(span.name)].collective;
  return of && is_row(row, *of);
}

bool is_same(const CollectiveValue& a, const CollectiveValue& b) {
  return a.phase == b.phase && a.op == b.op && a.group == b.group && a.dtype == b.dtype;
}

uint32_t memory_of(const Segment& segment, OpId id) {
  const Op& op = segment.op(id);
  uint32_t bits = 0;
  for (const TensorId input : op.inputs) {
    const TensorRole role = segment.tensor(input).role;
    if (role == TensorRole::Parameter) bits |= bit_of(MemoryCategory::Parameters);
    if (role == TensorRole::Cache) bits |= bit_of(MemoryCategory::KvCache);
  }
  for (const TensorId output : op.outputs) {
    const Tensor& tensor = segment.tensor(output);
    if (tensor.role == TensorRole::ParameterGradient)
      bits |= bit_of(MemoryCategory::Gradients);
    else if (tensor.role == TensorRole::Cache)
      bits |= bit_of(MemoryCategory::KvCache);
    else if (is_loss(op.kind) ||
             std::find(tensor.axes.begin(), tensor.axes.end(), Axis::Vocab) != tensor.axes.end())
      bits |= bit_of(MemoryCategory::Logits);
  }
  for (const auto* saved : {&segment.saved, &segment.saved_without_recompute})
    for (const SavedStorage& one : *saved)
      if (one.saver == id)
        bits |= bit_of(is_loss(op.kind) ? MemoryCategory::Logits : MemoryCategory::Activations);
  return bits;
}

}  // namespace shardscape::ui

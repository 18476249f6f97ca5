#include "ui/views/graph/graph_search.h"

#include <QStringList>
#include <algorithm>

#include "ui/toolkit/graph_text.h"

namespace shardscape::ui {
namespace {

// All texts by which a person may search for the op.
QString haystack(const Segment& segment, OpId id, const NodeText& text) {
  const Op& op = segment.op(id);
  const auto kind = op_kind_name(op.kind);
  QStringList parts{op_title(op),
                    kernel_title(segment, id),
                    qtext(op.label),
                    qtext(op.name),
                    QString::fromUtf8(kind.data(), static_cast<qsizetype>(kind.size())),
                    qtext(op.spec)};
  if (const Redistribution* by = redistribution_of(op)) parts << qtext(group_name(by->group));
  if (op.block >= 0) parts << qtext(segment.blocks[static_cast<size_t>(op.block)].label);
  for (const TensorId tensor : op.outputs) {
    const Tensor& t = segment.tensor(tensor);
    parts << qtext(t.name) << qtext(local_shape_text(t)) << text.shape_numbers(t)
          << qtext(to_string(t.placement, t.axes));
  }
  return parts.join('\n').toLower();
}

}  // namespace

GraphSearchResult search_ops(const GraphTree& tree, const SheetOptions& options, const Expanded& expanded,
                             const QString& words) {
  GraphSearchResult result;
  const QStringList wanted = words.toLower().split(' ', Qt::SkipEmptyParts);
  if (wanted.isEmpty()) return result;
  const NodeText text(tree.report().binding, options.numbers, options.units);
  const int segments = static_cast<int>(tree.graph().segments.size());
  std::vector<std::vector<OpId>> found(static_cast<size_t>(segments));
  for (int s = 0; s < segments; ++s) {
    const Segment& segment = tree.segment(s);
    for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id) {
      const bool backward = id >= segment.backward_begin;
      if (!shows(options.passes, backward)) continue;
      const QString hay = haystack(segment, id, text);
      if (!std::all_of(wanted.begin(), wanted.end(), [&](const QString& word) { return hay.contains(word); }))
        continue;
      found[static_cast<size_t>(s)].push_back(id);
      result.hits.add(s, backward, segment.op(id).block, id);
    }
  }
  result.stops = stops_of(tree, expanded, found);
  return result;
}

std::vector<NodeId> stops_of(const GraphTree& tree, const Expanded& expanded,
                             const std::vector<std::vector<OpId>>& found) {
  std::vector<NodeId> stops;
  // A folded run of layers has a stop at its first layer only, because all layers are equal.
  bool in_run = false;
  int run_stage = -1;
  // Of a folded run of equal stages, only the first stage has stops.
  const auto folded_stage = [&](int stage) { return !expanded.count(tree.stage_node(stage)); };
  std::vector<bool> repeated(static_cast<size_t>(tree.stages()), false);
  for (int s = 1; s < tree.stages(); ++s)
    repeated[static_cast<size_t>(s)] = folded_stage(s - 1) && folded_stage(s) && tree.equal_stages(s - 1, s);
  for (int unit = 0; unit < tree.units(); ++unit) {
    const NodeId node = tree.unit_node(unit);
    if (repeated[static_cast<size_t>(node.stage)]) continue;
    const bool folded = tree.is_layer(unit) && !expanded.count(node);
    const bool repeats = folded && in_run && run_stage == node.stage && tree.graph().one_kind();
    in_run = folded;
    run_stage = node.stage;
    if (repeats) continue;
    for (const OpId op : found[static_cast<size_t>(tree.segment_of(unit))])
      stops.push_back(tree.op_node(unit, op));
  }
  return stops;
}

}  // namespace shardscape::ui

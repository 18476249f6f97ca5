#include "ui/views/graph/graph_difference.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "ui/toolkit/graph_text.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QString tr_difference(const char* text) { return QCoreApplication::translate("GraphDifference", text); }

int matching_segment(const Graph& graph, int segment, const Graph& other) {
  if (segment == 0) return 0;
  if (segment == graph.head()) return other.head();
  const std::string& name = graph.segments[static_cast<size_t>(segment)].name;
  for (int s = 1; s < other.head(); ++s)
    if (other.segments[static_cast<size_t>(s)].name == name) return s;
  return segment < other.head() ? segment : -1;
}

struct Side {
  const Segment& segment;
  const Op& op;
  const Binding& binding;
};

bool same_number(const Expr& a, const Side& of, const Expr& b, const Side& other) {
  const auto x = evaluate(a, of.binding), y = evaluate(b, other.binding);
  const Wide *p = std::get_if<Wide>(&x), *q = std::get_if<Wide>(&y);
  return p && q ? *p == *q : p == q && a == b;
}

MeshAxes group_of(const Op& op) {
  const Redistribution* by = redistribution_of(op);
  return by ? by->group : MeshAxes{};
}

OpDiffers compared_op(const Side& a, const Side& b) {
  const bool same_computation = a.op.kind == b.op.kind && group_of(a.op) == group_of(b.op) &&
                                a.op.compute == b.op.compute && a.op.spec == b.op.spec &&
                                ring_of(a.op) == ring_of(b.op) &&
                                a.op.recomputed_in_backward == b.op.recomputed_in_backward &&
                                a.op.inputs.size() == b.op.inputs.size() &&
                                a.op.outputs.size() == b.op.outputs.size();
  if (!same_computation) return OpDiffers::Placement;
  bool sizes = same_number(a.op.flops, a, b.op.flops, b) &&
               same_number(a.op.read_bytes + a.op.written_bytes, a, b.op.read_bytes + b.op.written_bytes, b);
  if (is_collective(a.op.kind))
    sizes = sizes && same_number(collective_bytes(a.segment, a.op), a, collective_bytes(b.segment, b.op), b);
  for (const auto side : {&Op::inputs, &Op::outputs})
    for (size_t i = 0; i < (a.op.*side).size(); ++i) {
      const Tensor &x = a.segment.tensor((a.op.*side)[i]), &y = b.segment.tensor((b.op.*side)[i]);
      if (x.dtype != y.dtype || x.axes != y.axes || !(x.placement == y.placement) ||
          local_shape_text(x) != local_shape_text(y))
        return OpDiffers::Placement;
      for (size_t dim = 0; dim < x.sizes.size(); ++dim)
        sizes = sizes &&
                same_number(local_size(x, static_cast<int>(dim)), a, local_size(y, static_cast<int>(dim)), b);
    }
  return sizes ? OpDiffers::No : OpDiffers::Size;
}

}  // namespace

GraphDifference graph_difference(const Report& of, const Report& other) {
  GraphDifference out;
  const Graph &graph = of.graph(), &there = other.graph();
  std::vector<size_t> found(there.segments.size(),
                            0);  // number of matched ops, per segment of the other graph
  for (int s = 0; s < static_cast<int>(graph.segments.size()); ++s) {
    const Segment& segment = graph.segments[static_cast<size_t>(s)];
    const int match = matching_segment(graph, s, there);
    out.segments.push_back(match);
    std::vector<OpDifference>& ops = out.ops.emplace_back(segment.ops.size());
    if (match >= 0) {
      const Segment& theirs = there.segments[static_cast<size_t>(match)];
      std::unordered_map<std::string_view, OpId> by_name;
      for (size_t i = 0; i < theirs.ops.size(); ++i)
        by_name.emplace(theirs.ops[i].name, static_cast<OpId>(i));
      size_t matched = 0;
      for (size_t i = 0; i < ops.size(); ++i) {
        const auto it = by_name.find(segment.ops[i].name);
        if (it == by_name.end()) continue;
        ops[i] = {compared_op({segment, segment.ops[i], of.binding},
                              {theirs, theirs.op(it->second), other.binding}),
                  it->second};
        ++matched;
      }
      found[static_cast<size_t>(match)] = std::max(found[static_cast<size_t>(match)], matched);
    }
    for (const OpDifference& op : ops) {
      out.sized += op.how == OpDiffers::Size;
      out.placed += op.how == OpDiffers::Placement;
      out.missing += op.how == OpDiffers::Missing;
    }
  }
  out.stages = static_cast<int>(of.stages.size());
  out.stages_there = static_cast<int>(other.stages.size());
  for (size_t s = 0; s < found.size(); ++s)
    out.more += static_cast<int>(there.segments[s].ops.size() - found[s]);
  return out;
}

QString difference_text(const QString& letter, const GraphDifference& difference) {
  QStringList parts;
  if (difference.same()) parts << tr_difference("the same ops");
  if (difference.placed > 0) parts << tr_difference("%1 placed differently").arg(difference.placed);
  if (difference.missing > 0) parts << tr_difference("%1 only here").arg(difference.missing);
  if (difference.more > 0) parts << tr_difference("%1 only in %2").arg(difference.more).arg(letter);
  if (difference.sized > 0) parts << tr_difference("%1 with other sizes").arg(difference.sized);
  if (difference.stages != difference.stages_there)
    parts << tr_difference("%1 stages").arg(difference.stages_there);
  return tr_difference("%1: %2").arg(letter, parts.join(QStringLiteral(", ")));
}

QString op_there_text(const Report& other, int segment, OpDifference op, UnitSystem units) {
  if (op.how == OpDiffers::Missing || segment < 0) return tr_difference("no such op");
  if (op.how == OpDiffers::No) return tr_difference("the same");
  const Segment& of = other.graph().segments[static_cast<size_t>(segment)];
  const Op& there = of.op(op.other);
  const NodeText numbers(other.binding, true, units);
  QStringList parts;
  if (is_redistribution(there.kind)) parts << redistribution_title(there);
  if (is_collective(there.kind)) parts << numbers.bytes(collective_bytes(of, there));
  if (const Tensor* tensor = main_tensor(of, there)) {
    parts << qtext(local_shape_text(*tensor));
    if (op.how == OpDiffers::Placement) parts << qtext(to_string(tensor->placement, tensor->axes));
    parts << numbers.shape(*tensor);
  }
  if (!there.flops.is_zero()) parts << numbers.flops(there.flops);
  return parts.join(u'\n');
}

}  // namespace shardscape::ui

#include "ui/inspector/node_inspection.h"

#include <QStringList>
#include <algorithm>
#include <map>
#include <vector>

#include "ui/inspector/node_times.h"
#include "ui/inspector/saved_edges.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/graph_text.h"
#include "ui/toolkit/stage_text.h"
#include "ui/toolkit/substituted_formula.h"
#include "ui/toolkit/tensor_words.h"

namespace shardscape::ui {
namespace {

enum class As { Flops, Bytes, Count };

class Values {
 public:
  Values(const GraphTree& tree, UnitSystem system) : binding_(tree.report().binding), system_(system) {}

  InspectedValue of(const QString& label, const Expr& expr, As as) const {
    InspectedValue value{label, qtext(expr.text()), substituted(expr, binding_), {}};
    const auto result = evaluate(expr, binding_);
    value.value = std::holds_alternative<Wide>(result) ? format(std::get<Wide>(result), as)
                                                       : qtext(std::get<EvalError>(result).message);
    if (value.substituted == value.formula) value.substituted.clear();
    return value;
  }
  void add(Inspection& to, const QString& label, const Expr& expr, As as) const {
    if (!expr.is_zero()) to.values.push_back(of(label, expr, as));
  }
  void add_flops(Inspection& to, const Expr& counted, const Expr& useful) const {
    if (counted == useful) {
      add(to, QStringLiteral("FLOPs, counted and useful"), counted, As::Flops);
      return;
    }
    add(to, QStringLiteral("FLOPs, counted by kernels"), counted, As::Flops);
    add(to, QStringLiteral("FLOPs, useful"), useful, As::Flops);
  }

 private:
  QString format(Wide value, As as) const {
    if (as == As::Flops) return qtext(format_flops(value));
    if (as == As::Bytes) return qtext(format_bytes(value, system_));
    return qtext(grouped(value));
  }
  const Binding& binding_;
  UnitSystem system_;
};

QString tensor_facts(const Tensor& tensor) {
  return qtext(local_shape_text(tensor)) + QStringLiteral("\n") +
         qtext(to_string(tensor.placement, tensor.axes));
}

QString short_words(const Tensor& tensor) { return tensor_words(tensor.name, false); }

void inspect_op(const GraphTree& tree, const NodeId& id, const Values& values, Inspection& out) {
  const Segment& segment = tree.segment(tree.segment_of(id.unit));
  const Op& op = segment.op(id.op);
  const bool collective = is_collective(op.kind);
  out.title = capitalized(op_title(op));
  values.add_flops(out, op.flops, op.useful_flops);
  if (collective) {
    const QString what = is_ring(op.kind) ? QStringLiteral("sent round the ring")
                                          : QStringLiteral("of the full buffer");
    if (is_ring(op.kind)) values.add(out, QStringLiteral("Messages sent"), ring_messages(op), As::Count);
    values.add(out, QStringLiteral("Elements ") + what, collective_elements(segment, op), As::Count);
    values.add(out, QStringLiteral("Bytes ") + what, collective_bytes(segment, op), As::Bytes);
    const MeshAxes& group = redistribution(op).group;
    values.add(out, QStringLiteral("Ranks in group %1").arg(qtext(group_name(group))), group_size(group),
               As::Count);
  }
  values.add(out, QStringLiteral("Bytes read"), op.read_bytes, As::Bytes);
  values.add(out, QStringLiteral("Bytes written"), op.written_bytes, As::Bytes);
  values.add(out, QStringLiteral("Saved for backward"), saved_bytes(segment, id.op), As::Bytes);
  for (const SavedStorage& saved : segment.saved)
    if (saved.saver == id.op)
      out.rows.push_back(
          {QStringLiteral("saves"), tensor_words(segment.storages[static_cast<size_t>(saved.storage)].name)});
  const auto kind = op_kind_name(op.kind);
  out.rows.push_back(
      {QStringLiteral("kind"), QString::fromUtf8(kind.data(), static_cast<qsizetype>(kind.size()))
                                   .replace('_', collective ? '-' : ' ')});
  if (const QString other_ops = otherOpsOfKernel(segment, id.op); !other_ops.isEmpty())
    out.rows.push_back(
        {QStringLiteral("fused with"), other_ops + QStringLiteral("\n") + kernel_title(segment, id.op)});
  // Only einsum ops have axis letters.
  const QString letters = op.kind == OpKind::Einsum ? QStringLiteral("einsum") : QStringLiteral("letters");
  if (!op.spec.empty())
    out.rows.push_back({letters, qtext(op.spec).replace(QLatin1String("->"), QStringLiteral("→"))});
  for (const TensorId tensor : op.inputs)
    out.rows.push_back({QStringLiteral("reads ") + short_words(segment.tensor(tensor)),
                        tensor_facts(segment.tensor(tensor))});
  for (const TensorId tensor : op.outputs)
    out.rows.push_back({QStringLiteral("makes ") + short_words(segment.tensor(tensor)),
                        tensor_facts(segment.tensor(tensor))});
  if (op.forward >= 0)
    out.rows.push_back({QStringLiteral("derivative of"), op_title(segment.op(op.forward))});
  if (const Redistribution* by = redistribution_of(op)) {
    out.why_title = collective ? QStringLiteral("Why is this collective here?")
                               : QStringLiteral("Why is this slice here?");
    // Tensors have short names without their block, as in the rows below.
    out.why = qtext(why_with_name(*by, short_words(segment.tensor(op.inputs.front())).toStdString()));
    out.why_first = collective;
  }
}

// Sums over the ops of a block or a unit.
void inspect_ops(const Segment& segment, const std::vector<OpId>& ops, const Values& values,
                 Inspection& out) {
  Expr counted, useful, saved;
  std::map<QString, int> collectives;
  for (const OpId id : ops) {
    const Op& op = segment.op(id);
    counted += op.flops;
    useful += op.useful_flops;
    saved += saved_bytes(segment, id);
    if (is_collective(op.kind)) ++collectives[redistribution_title(op)];
  }
  values.add_flops(out, counted, useful);
  values.add(out, QStringLiteral("Saved for backward"), saved, As::Bytes);
  out.rows.push_back({QStringLiteral("ops"), QString::number(ops.size())});
  for (const auto& [name, count] : collectives) out.rows.push_back({name, QStringLiteral("%1 ×").arg(count)});
}

// A folded run of layers of several kinds: the figures of one layer of each kind, and of all layers together.
void inspect_kinds(const GraphTree& tree, const NodeId& id, int units, Passes passes, const Values& values,
                   Inspection& out) {
  struct Kind {
    int segment, first, layers;
  };
  std::vector<Kind> kinds;
  for (int unit = id.unit; unit < id.unit + units; ++unit) {
    const int segment = tree.segment_of(unit);
    const auto known = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const Kind& kind) { return kind.segment == segment; });
    known == kinds.end() ? kinds.push_back({segment, unit, 1}) : static_cast<void>(++known->layers);
  }
  Expr counted, useful, saved;
  for (const Kind& kind : kinds) {
    const Segment& segment = tree.segment(kind.segment);
    const std::vector<OpId> ops = tree.ops_of({NodeLevel::Unit, id.stage, kind.first}, passes);
    Inspection one;
    inspect_ops(segment, ops, values, one);
    const QString name = qtext(segment.name);
    for (InspectedValue& value : one.values) {
      value.label = QStringLiteral("%1: %2").arg(name, value.label);
      out.values.push_back(value);
    }
    out.rows.push_back({name, QStringLiteral("%1 layers, %2 ops each").arg(kind.layers).arg(ops.size())});
    for (const auto& [label, text] : one.rows)
      if (label != QStringLiteral("ops"))
        out.rows.push_back({QStringLiteral("%1: %2").arg(name, label), text});
    const Expr layers(kind.layers);
    for (const OpId op : ops) {
      counted += layers * segment.op(op).flops;
      useful += layers * segment.op(op).useful_flops;
      saved += layers * saved_bytes(segment, op);
    }
  }
  Inspection all;
  values.add_flops(all, counted, useful);
  values.add(all, QStringLiteral("Saved for backward"), saved, As::Bytes);
  for (InspectedValue& value : all.values) {
    value.label = QStringLiteral("All %1 layers: %2").arg(units).arg(value.label);
    out.values.push_back(value);
  }
}

// count: of equal stages. They hold the same layers, but not as many microbatches, so that some figures are
// ranges.
void inspect_stage(const GraphTree& tree, int stage, int count, UnitSystem system, Inspection& out) {
  count = std::min(count, tree.stages() - stage);  // an edit may have shortened the run
  const auto begin = tree.report().stages.begin() + stage, end = begin + count;
  const StageReport& report = *begin;
  out.title = tree.stage_name(stage, count);
  out.subtitle = count > 1
                     ? QStringLiteral("each of %1 equal stages; formulas of stage %2").arg(count).arg(stage)
                     : QStringLiteral("one of %1").arg(tree.stages());
  const auto range = [&](auto number, auto text) {
    const auto [least, most] = std::minmax_element(
        begin, end, [&](const StageReport& a, const StageReport& b) { return number(a) < number(b); });
    const QString low = text(number(*least)), high = text(number(*most));
    return low == high ? low : QStringLiteral("%1 to %2").arg(low, high);
  };
  const auto bytes = [&](Wide value) { return qtext(format_bytes(value, system)); };
  const auto add = [&](const QString& label, const Quantity& quantity, const QString& value) {
    if (!quantity.formula || quantity.formula->is_zero()) return;
    out.values.push_back(
        {label, qtext(quantity.formula->text()), substituted(*quantity.formula, report.binding), value});
  };
  add(QStringLiteral("Parameters per rank"), report.parameters, qtext(grouped(report.parameters.value)));
  for (int i = 0; i < kMemoryCategoryCount; ++i) {
    const auto label = memory_category_label(static_cast<MemoryCategory>(i));
    add(QString::fromUtf8(label.data(), static_cast<qsizetype>(label.size())) +
            QStringLiteral(", bytes per rank"),
        report.memory[i], range([i](const StageReport& of) { return of.memory[i].value; }, bytes));
  }
  out.rows.push_back({QStringLiteral("layers"), QString::number(report.layers)});
  const bool chunks = report.chunks.size() > 1;
  if (chunks) out.rows.push_back({QStringLiteral("virtual stages"), layers_text(report)});
  out.rows.push_back(
      {chunks ? QStringLiteral("microbatch chunks in flight") : QStringLiteral("microbatches in flight"),
       range([](const StageReport& of) { return of.in_flight; },
             [](auto value) { return QString::number(value); })});
  out.rows.push_back({QStringLiteral("memory per rank"),
                      range([](const StageReport& of) { return of.memory_total; }, bytes)});
  out.rows.push_back({QStringLiteral("FLOPs per rank and step"),
                      range([](const StageReport& of) { return of.flops_total; },
                            [](Wide value) { return qtext(format_flops(value)); })});
}

}  // namespace

Inspection inspect_node(const GraphTree& tree, const NodeId& id, int units, Passes passes, UnitSystem system,
                        const Simulation* simulation) {
  Inspection out;
  if (id.level == NodeLevel::Root) return out;
  if (simulation) out.figures = time_figures(tree, id, units, passes, system, *simulation);
  if (id.level == NodeLevel::Stage) {
    inspect_stage(tree, id.stage, units, system, out);
    return out;
  }
  const Values values(tree, system);
  const Segment& segment = tree.segment(tree.segment_of(id.unit));
  out.subtitle = tree.place_text(id);
  if (id.level == NodeLevel::Op) {
    inspect_op(tree, id, values, out);
    return out;
  }
  if (id.level == NodeLevel::Block) {
    const BlockInstance& block = segment.blocks[static_cast<size_t>(id.block)];
    out.title = qtext(block.label.empty() ? block.name : block.label);
    out.rows.push_back({QStringLiteral("template"), qtext(block.template_id)});
  } else {
    out.title = capitalized(tree.unit_name(id.unit, units));
    out.subtitle = QStringLiteral("stage %1").arg(id.stage);
    bool one_kind = true;
    for (int unit = id.unit + 1; unit < id.unit + units; ++unit)
      one_kind = one_kind && tree.segment_of(unit) == tree.segment_of(id.unit);
    if (!one_kind) {
      out.subtitle += QStringLiteral(", ") + tree.sequence_text(id.unit, units);
      inspect_kinds(tree, id, units, passes, values, out);
      return out;
    }
    if (units > 1) out.subtitle += QStringLiteral(", each of %1 layers").arg(units);
  }
  inspect_ops(segment, tree.ops_of(id, passes), values, out);
  return out;
}

Inspection inspect_tensor(const GraphTree& tree, int segment, TensorId tensor, const QString& where,
                          bool sent, UnitSystem system) {
  const Segment& of = tree.segment(segment);
  const Tensor& t = of.tensor(tensor);
  const Values values(tree, system);
  Inspection out;
  out.title = tensor_words(t.name);
  if (out.title != qtext(t.name)) out.rows.push_back({QStringLiteral("name"), qtext(t.name)});
  out.subtitle = (sent ? QStringLiteral("sent between stages, ") : QStringLiteral("tensor, ")) + where;
  values.add(out, QStringLiteral("Elements on one rank"), local_elements(t), As::Count);
  values.add(out, QStringLiteral("Bytes on one rank"), local_bytes(t), As::Bytes);
  out.rows.push_back({QStringLiteral("shape on one rank"), qtext(local_shape_text(t))});
  out.rows.push_back({QStringLiteral("in numbers"), NodeText(tree.report().binding, true, system).shape(t)});
  QStringList whole, axes;
  for (size_t i = 0; i < t.sizes.size(); ++i) {
    whole << qtext(t.sizes[i].text());
    const auto name = axis_name(t.axes[i]);
    axes << QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
  }
  out.rows.push_back({QStringLiteral("whole tensor"), '[' + whole.join(QStringLiteral(", ")) + ']'});
  out.rows.push_back({QStringLiteral("axes"), axes.join(QStringLiteral(", "))});
  out.rows.push_back({QStringLiteral("placement"), qtext(to_string(t.placement, t.axes))});
  const auto type = dtype_name(t.dtype);
  out.rows.push_back(
      {QStringLiteral("type"), QString::fromUtf8(type.data(), static_cast<qsizetype>(type.size()))});
  if (t.producer >= 0) out.rows.push_back({QStringLiteral("made by"), op_title(of.op(t.producer))});
  QStringList readers;
  for (const Op& op : of.ops)
    for (const TensorId input : op.inputs)
      if (input == tensor && !readers.contains(op_title(op))) readers << op_title(op);
  if (!readers.isEmpty()) out.rows.push_back({QStringLiteral("read by"), readers.join(QStringLiteral(", "))});
  return out;
}

}  // namespace shardscape::ui

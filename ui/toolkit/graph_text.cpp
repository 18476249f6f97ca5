#include "ui/toolkit/graph_text.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "graph/kernel_label.h"

namespace shardscape::ui {
namespace {

// A long sum shows its leading term only. The inspector shows the whole sum.
QString short_formula(const Expr& expr) {
  constexpr qsizetype kRoom = 30;
  const QString whole = qtext(expr.text());
  if (whole.size() <= kRoom || expr.terms().size() < 2) return whole;
  const qsizetype plus = whole.indexOf(QLatin1String(" + "));
  return plus < 0 ? whole : whole.left(plus) + QStringLiteral(" + …");
}

// Only the axes that the redistribution changes. Otherwise every line would repeat the data-parallel shard of
// the batch.
QString placement_over(const Tensor& tensor, const MeshAxes& axes) {
  const auto is_changed = [&](MeshAxis axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  Placement placement = tensor.placement;
  for (MeshAxes& shard : placement.shards)
    std::erase_if(shard, [&](MeshAxis axis) { return !is_changed(axis); });
  std::erase_if(placement.partial, [&](MeshAxis axis) { return !is_changed(axis); });
  return qtext(to_string(placement, tensor.axes));
}

}  // namespace

QString qtext(const std::string& text) { return QString::fromStdString(text); }

QString redistribution_title(const Op& op) {
  const auto name = op_kind_name(op.kind);
  QString text = QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())).replace('_', '-');
  return text + ' ' + qtext(group_name(redistribution(op).group));
}

QString op_title(const Op& op) {
  if (is_redistribution(op.kind)) return redistribution_title(op);
  return qtext(op.label.empty() ? op.name : op.label);
}

QString kernel_title(const Segment& segment, OpId op) {
  if (segment.op(op).kind != OpKind::Einsum) return op_title(segment.op(op));
  return qtext(kernel_label(segment, op));
}

QString otherOpsOfKernel(const Segment& segment, OpId op) {
  QStringList out;
  if (const Kernel* kernel = segment.kernel(op))
    for (const OpId member : kernel->ops)
      if (member != op) out << op_title(segment.op(member));
  return out.join(QStringLiteral(", "));
}

const Tensor* main_tensor(const Segment& segment, const Op& op) {
  if (!op.outputs.empty()) return &segment.tensor(op.outputs.front());
  return op.inputs.empty() ? nullptr : &segment.tensor(op.inputs.front());
}

QString NodeText::shape_numbers(const Tensor& tensor) const {
  QStringList sizes;
  for (size_t dim = 0; dim < tensor.sizes.size(); ++dim) {
    const Expr size = local_size(tensor, static_cast<int>(dim));
    const auto value = evaluate(size, binding_);
    sizes << qtext(std::holds_alternative<Wide>(value) ? grouped(std::get<Wide>(value)) : size.text());
  }
  return '[' + sizes.join(QStringLiteral(", ")) + ']';
}

QString NodeText::shape(const Tensor& tensor) const {
  return numbers_ ? shape_numbers(tensor) : qtext(local_shape_text(tensor));
}

QString NodeText::flops(const Expr& flops) const {
  const auto value = evaluate(flops, binding_);
  if (numbers_ && std::holds_alternative<Wide>(value)) return qtext(format_flops(std::get<Wide>(value)));
  return short_formula(flops) + QStringLiteral(" FLOP");
}

QString NodeText::bytes(const Expr& bytes) const {
  const auto value = evaluate(bytes, binding_);
  if (numbers_ && std::holds_alternative<Wide>(value))
    return qtext(format_bytes(std::get<Wide>(value), units_));
  return short_formula(bytes);
}

QString NodeText::window(const Segment& segment, const Op& op) const {
  const AttentionAttributes* attention = attention_of(op);
  if (!attention || !attention->window) return {};
  const Expr width = window_width(segment);
  const auto value = evaluate(width, binding_);
  const bool number = numbers_ && std::holds_alternative<Wide>(value);
  return QCoreApplication::translate("NodeText", "window %1")
      .arg(qtext(number ? grouped(std::get<Wide>(value)) : width.text()));
}

bool NodeText::shows_shape(const Op& op) const { return numbers_ || op.kind != OpKind::Einsum; }

QString NodeText::detail(const Segment& segment, const Op& op) const {
  if (op.kind == OpKind::Slice) return {};
  if (is_collective(op.kind)) return bytes(collective_bytes(segment, op));
  if (!shows_shape(op) && !op.spec.empty())
    return qtext(op.spec).replace(QLatin1String("->"), QStringLiteral("→"));
  const Tensor* tensor = main_tensor(segment, op);
  if (!tensor) return {};
  const AttentionAttributes* attention = attention_of(op);
  const QString mask = !attention          ? QString()
                       : attention->window ? window(segment, op) + ' '
                       : attention->chunk  ? QStringLiteral("chunked ")
                       : attention->causal ? QStringLiteral("causal ")
                                           : QString();
  return mask + shape(*tensor);
}

QString NodeText::line(const Segment& segment, TensorId tensor, OpId reader) const {
  const Tensor& t = segment.tensor(tensor);
  for (const OpId side : {t.producer, reader})
    if (side >= 0 && is_redistribution(segment.op(side).kind))
      return placement_over(t, redistribution(segment.op(side)).group);
  if (t.producer >= 0 && shows_shape(segment.op(t.producer))) return {};
  return shape(t);
}

}  // namespace shardscape::ui

#include "ui/views/graph/graph_heat.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

QString tr_heat(const char* text) { return QCoreApplication::translate("GraphHeat", text); }

struct OkLab {
  double l, a, b;
};
// The ends of the ramp: close to the panel, and far from it.
constexpr OkLab kLightLow{0.965, -0.01, 0.04}, kLightHigh{0.36, 0.02, -0.14};
constexpr OkLab kDarkLow{0.29, 0, -0.03}, kDarkHigh{0.92, -0.02, 0.16};

double to_srgb(double linear) {
  const double c = std::clamp(linear, 0.0, 1.0);
  return c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
}

// Bjorn Ottosson, "A perceptual color space for image processing", 2020.
QColor rgb_of(const OkLab& lab) {
  const double l = std::pow(lab.l + 0.3963377774 * lab.a + 0.2158037573 * lab.b, 3),
               m = std::pow(lab.l - 0.1055613458 * lab.a - 0.0638541728 * lab.b, 3),
               s = std::pow(lab.l - 0.0894841775 * lab.a - 1.2914855480 * lab.b, 3);
  return QColor::fromRgbF(
      static_cast<float>(to_srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s)),
      static_cast<float>(to_srgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s)),
      static_cast<float>(to_srgb(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)));
}

constexpr double kRampWidth = 220, kRampHeight = 10, kPadding = 10, kGap = 16;
constexpr double kTicks[] = {0, 0.05, 0.2, 0.5, 1};

}  // namespace

GraphHeat::GraphHeat(std::shared_ptr<const GraphTree> tree, const OpSeconds* ops, HeatOf of, Passes passes)
    : tree_(std::move(tree)), of_(of), passes_(passes) {
  const Graph& graph = tree_->graph();
  const Binding& binding = tree_->report().stages.front().binding;
  for (size_t s = 0; s < graph.segments.size(); ++s) {
    const Segment& segment = graph.segments[s];
    std::vector<double>& values = ops_.emplace_back(segment.ops.size(), 0);
    for (size_t id = 0; id < values.size(); ++id) {
      const Kernel* kernel = segment.kernel(static_cast<OpId>(id));
      const bool own = kernel && kernel->op == static_cast<OpId>(id);
      if (of == HeatOf::Time && ops) values[id] = std::max(0.0, ops->ops[s][id].seconds);
      if (of == HeatOf::Bytes && own)
        values[id] = is_collective(segment.ops[id].kind)
                         ? number(collective_bytes(segment, segment.ops[id]), binding)
                         : number(kernel->moved_bytes, binding);
    }
  }
  std::vector<char> known(graph.segments.size(), 0);
  segments_.assign(graph.segments.size(), 0);
  for (int stage = 0; stage < tree_->stages(); ++stage) {
    double all = 0;
    for (const auto& [first, end] : tree_->units_of(stage))
      for (int unit = first; unit < end; ++unit) {
        const auto segment = static_cast<size_t>(tree_->segment_of(unit));
        if (!std::exchange(known[segment], 1))
          segments_[segment] = sum(static_cast<int>(segment),
                                   tree_->ops_of({NodeLevel::Unit, stage, unit}, passes_));
        all += segments_[segment];
      }
    stages_.push_back(all);
  }
}

double GraphHeat::sum(int segment, const std::vector<OpId>& ops) const {
  double out = 0;
  for (const OpId id : ops) out += ops_[static_cast<size_t>(segment)][static_cast<size_t>(id)];
  return out;
}

double GraphHeat::value(const NodeId& id) const {
  if (id.level == NodeLevel::Root) return 0;
  if (id.level == NodeLevel::Stage) return stages_[static_cast<size_t>(id.stage)];
  const int segment = tree_->segment_of(id.unit);
  if (id.level == NodeLevel::Op)
    return ops_[static_cast<size_t>(segment)][static_cast<size_t>(timed_op(tree_->segment(segment), id.op))];
  return id.level == NodeLevel::Unit ? segments_[static_cast<size_t>(segment)]
                                     : sum(segment, tree_->ops_of(id, passes_));
}

std::optional<double> GraphHeat::share(const Piece& piece, const NodeId& id) const {
  if (piece.inside || id.level == NodeLevel::Root) return std::nullopt;
  double own = value(id), whole = 0;
  if (id.level == NodeLevel::Stage) {
    own = std::accumulate(stages_.begin() + id.stage, stages_.begin() + id.stage + piece.units, 0.0);
    for (const double stage : stages_) whole += stage;
  } else if (id.level == NodeLevel::Unit) {
    own = 0;
    for (int unit = id.unit; unit < id.unit + piece.units; ++unit)
      own += segments_[static_cast<size_t>(tree_->segment_of(unit))];
    whole = stages_[static_cast<size_t>(id.stage)];
  } else {
    whole = segments_[static_cast<size_t>(tree_->segment_of(id.unit))];
  }
  return whole > 0 ? std::clamp(own / whole, 0.0, 1.0) : 0;
}

QColor heat_color(double share) {
  const bool dark = Theme::instance().mode() == Theme::Mode::Dark;
  const OkLab &low = dark ? kDarkLow : kLightLow, &high = dark ? kDarkHigh : kLightHigh;
  const double t = std::sqrt(std::clamp(share, 0.0, 1.0));
  const auto between = [&](double OkLab::*part) { return low.*part + t * (high.*part - low.*part); };
  return rgb_of({between(&OkLab::l), between(&OkLab::a), between(&OkLab::b)});
}

QColor heat_ink(const QColor& fill) {
  return contrast(Qt::black, fill) > contrast(Qt::white, fill) ? QColor(Qt::black) : QColor(Qt::white);
}

void paint_heat_legend(QPainter& painter, const QRectF& rect, HeatOf of) {
  const Colors& colors = Theme::instance().colors();
  const QString title = of == HeatOf::Time ? tr_heat("Share of time: op of its layer, layer of its stage")
                                           : tr_heat("Share of bytes: op of its layer, layer of its stage");
  const QFont font = Theme::instance().uiFont(11);
  const QFontMetricsF metrics(font);
  const double width = std::max(kRampWidth, metrics.horizontalAdvance(title)) + 2 * kPadding,
               height = 2 * metrics.height() + kRampHeight + 2 * kPadding + 6;
  const QRectF box(rect.left() + kGap, rect.bottom() - kGap - height, width, height);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(colors.line, 1));
  painter.setBrush(colors.panel);
  painter.drawRoundedRect(box, 6, 6);
  painter.setFont(font);
  painter.setPen(colors.secondary);
  const QRectF inner = box.adjusted(kPadding, kPadding, -kPadding, -kPadding);
  painter.drawText(inner, Qt::AlignLeft | Qt::AlignTop, title);
  const QRectF ramp(inner.left(), inner.top() + metrics.height() + 3, inner.width(), kRampHeight);
  painter.setRenderHint(QPainter::Antialiasing, false);
  for (int x = 0; x < static_cast<int>(ramp.width()); ++x) {
    const double t = x / ramp.width();
    painter.fillRect(QRectF(ramp.left() + x, ramp.top(), 1, ramp.height()), heat_color(t * t));
  }
  for (const double tick : kTicks) {
    const QString text = QStringLiteral("%1 %").arg(100 * tick);
    const double at = ramp.left() + std::sqrt(tick) * ramp.width(), wide = metrics.horizontalAdvance(text);
    const double left = std::clamp(at - wide / 2, ramp.left(), ramp.right() - wide);
    painter.drawText(QPointF(left, inner.bottom() - metrics.descent()), text);
  }
  painter.restore();
}

}  // namespace shardscape::ui

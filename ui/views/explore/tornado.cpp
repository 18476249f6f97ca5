#include "ui/views/explore/tornado.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/plot/design_overlay.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kRow = 30, kBar = 14;
constexpr double kMostLabel = 0.4, kMostWords = 0.22;  // the largest shares of the width for names, values
constexpr double kThin = 7, kThinBar = 5;  // heights of a row and a bar of a compared design, below the bar
constexpr double kLeastTime = 5e-4;        // smaller relative changes of time count as none
constexpr double kLeastMemory = 1 << 20;   // bytes; smaller changes count as none

}  // namespace

Tornado::Tornado(QWidget* parent)
    : BarRows(QStringLiteral("tornado"), tr("Effect of each setting"), parent) {}

// The change: of tokens per second as a share, of memory in bytes.
double Tornado::change(const Sensitivity& of, const Neighbour& neighbour) const {
  if (measure_ == SensitivityMeasure::Memory)
    return static_cast<double>(neighbour.evaluation.memory - of.now.memory);
  return neighbour.evaluation.timed() && of.now.tokens_per_second > 0
             ? neighbour.evaluation.tokens_per_second / of.now.tokens_per_second - 1
             : 0;
}

// Zero for a knob that the design lacks, or that has no effect on the design.
Tornado::Range Tornado::range(const Sensitivity& of, const Knob& knob) const {
  Range out;
  for (const KnobSensitivity& k : of.knobs)
    for (size_t n = 0; k.knob == &knob && n < k.neighbours.size(); ++n) {
      const double by = change(of, k.neighbours[n]);
      if (by < out.low) out = {by, out.high, static_cast<int>(n), out.high_at};
      if (by > out.high) out = {out.low, by, out.low_at, static_cast<int>(n)};
    }
  return out;
}

void Tornado::setSensitivity(std::shared_ptr<const Sensitivity> sensitivity, SensitivityMeasure measure,
                             UnitSystem units) {
  sensitivity_ = std::move(sensitivity);
  measure_ = measure;
  units_ = units;
  fillRows();
}

void Tornado::setComparedDesigns(std::vector<OtherDesign> others) {
  others_ = std::move(others);
  fillRows();
}

void Tornado::fillRows() {
  rows_.clear();
  setSelected(-1);
  const double least = measure_ == SensitivityMeasure::Time ? kLeastTime : kLeastMemory;
  const auto swing = [](const Range& of) { return std::max(of.high, -of.low); };
  for (size_t k = 0; sensitivity_ && k < sensitivity_->knobs.size(); ++k) {
    Row row;
    static_cast<Range&>(row) = range(*sensitivity_, *sensitivity_->knobs[k].knob);
    row.knob = static_cast<int>(k);
    for (const OtherDesign& other : others_)
      row.others.push_back(range(*other.sensitivity, *sensitivity_->knobs[k].knob));
    if (swing(row) >= least || std::any_of(row.others.begin(), row.others.end(),
                                           [&](const Range& of) { return swing(of) >= least; }))
      rows_.push_back(std::move(row));
  }
  std::stable_sort(rows_.begin(), rows_.end(),
                   [&](const Row& a, const Row& b) { return swing(a) > swing(b); });
  setMessage(sensitivity_ ? tr("No single setting changes this.") : QString());
}

double Tornado::rowHeight(double) const { return kRow + kThin * static_cast<double>(others_.size()); }

int Tornado::fullHeight() const { return static_cast<int>(std::ceil(kHeading + count() * rowHeight(0))); }

QString Tornado::changeText(double by) const {
  const QString sign = by < 0 ? QString(QChar(0x2212)) : QStringLiteral("+");
  if (measure_ == SensitivityMeasure::Memory)
    return sign + bytes_text(static_cast<Wide>(std::fabs(by)), units_);
  if (std::fabs(by) < kLeastTime) return QStringLiteral("< 0.1 %");
  return sign + QString::number(std::fabs(100 * by), 'f', std::fabs(by) < 0.0995 ? 1 : 0) +
         QStringLiteral(" %");
}

QString Tornado::nameOf(const Row& row) const {
  const KnobSensitivity& of = sensitivity_->knobs[static_cast<size_t>(row.knob)];
  return QString::fromStdString(of.knob->label) + QStringLiteral(": ") +
         displayText(*of.knob, QString::fromStdString(of.value));
}

QString Tornado::valueText(const Row& row, int neighbour, double by) const {
  const KnobSensitivity& of = sensitivity_->knobs[static_cast<size_t>(row.knob)];
  const Neighbour& what = of.neighbours[static_cast<size_t>(neighbour)];
  return displayText(*of.knob, QString::fromStdString(what.value)) + u' ' + changeText(by) +
         (what.evaluation.feasibility == Feasibility::Fits ? QString() : tr(", too large"));
}

const Neighbour* Tornado::best(int row) const {
  const KnobSensitivity& knob = sensitivity_
                                    ->knobs[static_cast<size_t>(rows_[static_cast<size_t>(row)].knob)];
  const Neighbour* found = nullptr;
  const auto gain = [&](const Neighbour& n) {
    return measure_ == SensitivityMeasure::Memory ? -change(*sensitivity_, n) : change(*sensitivity_, n);
  };
  for (const Neighbour& n : knob.neighbours) {
    const bool fits = n.evaluation.feasibility == Feasibility::Fits ||
                      sensitivity_->now.feasibility != Feasibility::Fits;
    if (fits && gain(n) > 0 && (!found || gain(n) > gain(*found))) found = &n;
  }
  return found;
}

// The widths of names and values, and the scale of the bars, for the first `count` rows.
Tornado::Axis Tornado::axisOf(int count, double width) const {
  const QFontMetricsF metrics(Theme::instance().uiFont(12)), small_metrics(Theme::instance().uiFont(11));
  double least = 0, most = 0;
  for (const Row& row : rows_) {
    least = std::min(least, row.low);
    most = std::max(most, row.high);
    for (const Range& other : row.others) {
      least = std::min(least, other.low);
      most = std::max(most, other.high);
    }
  }
  // Both ends have room for the texts of the values. Names and texts get the width of the widest, if there is
  // room.
  double widest = 0, widest_words = 0;
  for (int i = 0; i < count; ++i) {
    const Row& row = rows_[static_cast<size_t>(i)];
    widest = std::max(widest, metrics.horizontalAdvance(nameOf(row)));
    for (const auto& [by, at] : {std::pair(row.low, row.low_at), {row.high, row.high_at}})
      if (at >= 0)
        widest_words = std::max(widest_words, small_metrics.horizontalAdvance(valueText(row, at, by)));
  }
  const double label = std::min(widest + 18, width * kMostLabel),
               words = std::min(widest_words + 14, width * kMostWords);
  const double left = label + (least < 0 ? words : 10), right = width - (most > 0 ? words : 10);
  const double scale = (right - left) / std::max(1e-12, most - least), zero = left - least * scale;
  return {least, most, label, scale, zero};
}

// The heading: the meaning of the two sides, and the legend of compared designs.
void Tornado::paintHeading(QPainter& painter, const Axis& axis, double width) const {
  const Colors& colors = Theme::instance().colors();
  const QFont small = Theme::instance().uiFont(11);
  const QFontMetricsF small_metrics(small);
  const bool time = measure_ == SensitivityMeasure::Time;
  painter.setFont(small);
  painter.setPen(colors.secondary);
  if (axis.least < 0)
    painter.drawText(QRectF(axis.zero - 200, 0, 192, kHeading - 6), Qt::AlignRight | Qt::AlignVCenter,
                     time ? tr("fewer tokens per second") : tr("less memory"));
  if (axis.most > 0)
    painter.drawText(QRectF(axis.zero + 8, 0, 192, kHeading - 6), Qt::AlignLeft | Qt::AlignVCenter,
                     time ? tr("more tokens per second") : tr("more memory"));
  const std::vector<int> members = members_of(others_);
  paint_design_legend(painter, QPointF(width - design_legend_width(members.size()), (kHeading - 6) / 2),
                      members);
}

void Tornado::paintRow(QPainter& painter, int i, const QRectF& whole, const Axis& axis,
                       const QColor& ground) const {
  const Colors& colors = Theme::instance().colors();
  const QFont plain = Theme::instance().uiFont(12), small = Theme::instance().uiFont(11);
  const QFontMetricsF metrics(plain), small_metrics(small);
  const bool time = measure_ == SensitivityMeasure::Time;
  const QColor good = colors.parameters,
               bad = colors.activations;  // the side of a bar distinguishes them too
  const Row& row = rows_[static_cast<size_t>(i)];
  const KnobSensitivity& of = sensitivity_->knobs[static_cast<size_t>(row.knob)];
  const double width = whole.width();
  const QRectF line(0, whole.top(), width, kRow);
  if (i == selected()) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(colors.accent_soft);
    painter.drawRoundedRect(whole.adjusted(0, 1, 0, -1), 4, 4);
  }
  for (size_t b = 0; b < row.others.size(); ++b) {
    const Range& other = row.others[b];
    const QRectF thin(axis.zero + other.low * axis.scale,
                      line.center().y() + kBar / 2 + 2 + static_cast<double>(b) * kThin,
                      std::max(1.0, (other.high - other.low) * axis.scale), kThinBar);
    if (other.low < 0 || other.high > 0)
      painter.fillRect(thin, Theme::instance().designColor(others_[b].member));
  }
  painter.setFont(plain);
  painter.setPen(colors.text);
  painter.drawText(QRectF(6, line.top(), axis.label - 12, kRow), Qt::AlignLeft | Qt::AlignVCenter,
                   metrics.elidedText(nameOf(row), Qt::ElideRight, axis.label - 12));
  painter.setFont(small);
  const auto bar = [&](double by, int neighbour, bool to_right) {
    if (neighbour < 0) return;
    const double x = axis.zero + by * axis.scale;
    const Neighbour& what = of.neighbours[static_cast<size_t>(neighbour)];
    const bool fits = what.evaluation.feasibility == Feasibility::Fits;
    QColor ink = (by > 0) == time ? good : bad;
    if (!fits) ink = mixed(i == selected() ? colors.accent_soft : ground, ink, 0.4);
    painter.fillRect(QRectF(std::min(axis.zero, x), line.center().y() - kBar / 2,
                            std::max(1.0, std::fabs(x - axis.zero)), kBar),
                     ink);
    const QString text = valueText(row, neighbour, by);
    painter.setPen(colors.secondary);
    const double room = to_right ? width - x - 8 : x - axis.label - 6;
    const QString shown = small_metrics.elidedText(text, Qt::ElideMiddle, std::max(40.0, room));
    painter.drawText(
        to_right ? QRectF(x + 6, line.top(), room, kRow) : QRectF(x - 6 - room, line.top(), room, kRow),
        (to_right ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter, shown);
  };
  bar(row.low, row.low_at, false);
  bar(row.high, row.high_at, true);
}

void Tornado::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  if (rows_.empty()) return;
  const Colors& colors = Theme::instance().colors();
  painter.save();
  painter.translate(rect.topLeft());
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF whole(QPointF(), rect.size());
  const int shown = shownIn(whole);
  const Axis axis = axisOf(shown, whole.width());
  paintHeading(painter, axis, whole.width());
  for (int i = 0; i < shown; ++i) paintRow(painter, i, rowIn(whole, i), axis, ground);
  painter.fillRect(QRectF(std::round(axis.zero), kHeading - 2, 1, shown * rowHeight(0) + 4),
                   mixed(ground, colors.secondary, 0.6));
  painter.restore();
}

QString Tornado::rowTip(int at) const {
  const KnobSensitivity& of = sensitivity_->knobs[static_cast<size_t>(rows_[static_cast<size_t>(at)].knob)];
  QStringList lines{tr("%1 is %2. With")
                        .arg(QString::fromStdString(of.knob->label),
                             displayText(*of.knob, QString::fromStdString(of.value)))};
  for (const Neighbour& n : of.neighbours) {
    QString line = displayText(*of.knob, QString::fromStdString(n.value)) + QStringLiteral(": ");
    if (n.evaluation.timed() && sensitivity_->now.tokens_per_second > 0)
      line += tr("step %1, ").arg(QString::fromStdString(format_seconds(n.evaluation.step_seconds)));
    line += bytes_text(n.evaluation.memory, units_);
    if (n.evaluation.feasibility != Feasibility::Fits) line += tr(", does not fit");
    QStringList also;
    for (const auto& [id, value] : n.also) {
      const Knob* knob = find_knob(id);
      also << (knob ? QString::fromStdString(knob->label) + u' ' +
                          displayText(*knob, QString::fromStdString(value))
                    : QString::fromStdString(id + ' ' + value));
    }
    if (!also.isEmpty()) line += tr("; with %1").arg(also.join(QStringLiteral(", ")));
    lines << line;
  }
  for (size_t b = 0; b < others_.size(); ++b) {
    const Range& other = rows_[static_cast<size_t>(at)].others[b];
    const auto what = [&](int neighbour, double by) -> QString {
      for (const KnobSensitivity& k : others_[b].sensitivity->knobs)
        if (k.knob == of.knob && neighbour >= 0)
          return displayText(*k.knob,
                             QString::fromStdString(k.neighbours[static_cast<size_t>(neighbour)].value)) +
                 u' ' + changeText(by);
      return {};
    };
    QStringList parts{what(other.low_at, other.low), what(other.high_at, other.high)};
    parts.removeAll(QString());
    lines << of_design(others_[b].member,
                       parts.isEmpty() ? tr("no change") : parts.join(QStringLiteral(", ")));
  }
  if (best(at)) lines << tr("Double click or Enter applies the best of these that fits");
  return lines.join(u'\n');
}

}  // namespace shardscape::ui

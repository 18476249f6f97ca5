#include "ui/plot/stacked_bars.h"

#include <cmath>

#include "base/units.h"
#include "ui/plot/bar_paint.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr double kWideBar = 84, kWidestBar = 160;  // the second if few stages share a wide plot
constexpr double kLabelGap = 23;                   // from a bar to the labels of its segments
constexpr double kLeastLabelled = 2;               // thinner segments have no label
constexpr double kLeastTotal = 8;                  // slots too narrow for the total of any bar
constexpr double kAboveBar = 4;  // from the bar to its letter, beyond the outline of a selection
constexpr double kBetweenMembers = 2, kFoot = 3;  // between the bars of compared designs; their coloured foot

QFont label_font() { return Theme::instance().uiFont(12); }

}  // namespace

StackedBars::StackedBars(QCPAxis* key_axis, QCPAxis* value_axis)
    : QCPAbstractPlottable(key_axis, value_axis) {
  setSelectable(QCP::stNone);
}

void StackedBars::setSelection(BarHit selection, std::vector<BarMark> marked, bool focused) {
  selection_ = selection;
  marked_ = std::move(marked);
  focused_ = focused;
}

double StackedBars::slotWidth() const {
  return std::fabs(mKeyAxis->coordToPixel(1) - mKeyAxis->coordToPixel(0));
}

double StackedBars::barWidth() const {
  const double slot = slotWidth();
  const double widest = std::clamp(slot * 0.1, kWideBar, kWidestBar), members = data_ ? data_->members() : 1;
  return std::max(1.0, std::min(widest, slot * (slot < 14 * members ? 0.86 : 0.72) / members));
}

double StackedBars::tallest() const { return data_ ? data_->tallest() : 0; }

double StackedBars::top() const {
  const double top = data_ && data_->limitShown() ? std::max(tallest(), data_->limit->value) : tallest();
  return top > 0 ? top : 1;
}

QRectF StackedBars::barRect(int stage, double low, double high, int member) const {
  const int members = data_->members();
  // The bars of a stage stand around its number in the order of letters, also where a design has fewer
  // stages.
  const auto place = [&](int of) { return Comparisons::place(data_->letter(of)); };
  int here = 0, before = 0;
  for (int other = 0; other < members; ++other) {
    if (stage >= data_->stages(other)) continue;
    before += place(other) < place(member);
    ++here;
  }
  const double center = mKeyAxis->coordToPixel(stage) + (before - (here - 1) / 2.0) * barWidth();
  const double half = (barWidth() - (members > 1 ? std::min(kBetweenMembers, barWidth() / 4) : 0)) / 2;
  const double y_low = mValueAxis->coordToPixel(low / data_->divisor);
  const double y_high = mValueAxis->coordToPixel(high / data_->divisor);
  return QRectF(QPointF(center - half, y_high), QPointF(center + half, y_low));
}

QRectF StackedBars::segment(int stage, int series, int member) const {
  double low = 0;
  const std::vector<double>& values = data_->of(member)[static_cast<size_t>(stage)];
  for (int below = 0; below < series; ++below) low += values[static_cast<size_t>(below)];
  return barRect(stage, low, low + values[static_cast<size_t>(series)], member);
}

QRectF StackedBars::column(int stage, int member) const {
  return barRect(stage, 0, data_->total(stage, member), member);
}

BarHit StackedBars::hit(const QPointF& position) const {
  BarHit hit;
  if (!data_ || data_->stages() == 0) return hit;
  const QRect area = mKeyAxis->axisRect()->rect();
  // The stage number below the axis is part of the column.
  if (position.x() < area.left() || position.x() > area.right() || position.y() < area.top()) return hit;
  const int stage = static_cast<int>(std::floor(mKeyAxis->pixelToCoord(position.x()) + 0.5));
  for (int member = 0; stage >= 0 && member < data_->members(); ++member)
    for (int series = 0; stage < data_->stages(member) && series < static_cast<int>(data_->series.size());
         ++series) {
      const QRectF rect = segment(stage, series, member);
      if (rect.height() > 0 && rect.contains(position)) hit = {stage, series, member};
    }
  if (hit.stage < 0 && stage >= 0 && stage < data_->stages()) hit.stage = stage;
  return hit;
}

double StackedBars::selectTest(const QPointF&, bool, QVariant*) const { return -1; }

QCPRange StackedBars::getKeyRange(bool& found, QCP::SignDomain) const {
  found = data_ && data_->stages() > 0;
  return found ? QCPRange(-0.5, data_->most_stages() - 0.5) : QCPRange();
}

QCPRange StackedBars::getValueRange(bool& found, QCP::SignDomain, const QCPRange&) const {
  found = data_ && data_->stages() > 0;
  return found ? QCPRange(0, top() / data_->divisor) : QCPRange();
}

// Labels, the limit's text and the outline may reach past the axes.
QRect StackedBars::clipRect() const { return mParentPlot->viewport(); }

void StackedBars::draw(QCPPainter* painter) {
  if (!data_) return;
  if (tallest() == 0) {
    painter->setFont(Theme::instance().uiFont(13));
    painter->setPen(Theme::instance().colors().secondary);
    painter->drawText(mKeyAxis->axisRect()->rect(), Qt::AlignCenter | Qt::TextWordWrap, data_->nothing);
    return;
  }
  painter->setAntialiasing(false);
  painter->setPen(Qt::NoPen);
  for (int member = 0; member < data_->members(); ++member)
    for (const int stage : drawnStages(member))
      for (int series = 0; series < static_cast<int>(data_->series.size()); ++series) {
        QRectF rect = segment(stage, series, member);
        if (rect.height() <= 0) continue;
        // A hairline of the ground keeps neighbours apart; thin segments keep their whole height.
        if (rect.height() > 3 && rect.width() > 3) rect.setTop(rect.top() + 1);
        fill_bar(*painter, rect, data_->series[static_cast<size_t>(series)], ground_);
      }
  drawLimit(*painter);
  data_->members() > 1 ? drawLetters(*painter)
                       : drawTotals(*painter);  // after the limit's line, which may cross them
  drawSelection(*painter);
  if (roomForLabels()) {
    for (int stage = 0; stage < data_->stages(); ++stage) drawSegmentLabels(*painter, stage);
  }
}

// All stages, or where several share a pixel, the tallest of each pixel.
std::vector<int> StackedBars::drawnStages(int member) const {
  std::vector<int> out;
  double pixel = 0, tallest = 0;
  for (int stage = 0; stage < data_->stages(member); ++stage) {
    const double here = std::floor(mKeyAxis->coordToPixel(stage)), total = data_->total(stage, member);
    if (out.empty() || here != pixel) {
      out.push_back(stage);
      tallest = total;
    } else if (total > tallest) {
      out.back() = stage;
      tallest = total;
    }
    pixel = here;
  }
  return out;
}

void StackedBars::drawTotals(QCPPainter& painter) const {
  if (slotWidth() < kLeastTotal) return;
  painter.setFont(Theme::instance().uiFont(11));
  const QFontMetricsF metrics(painter.font());
  QStringList texts;
  double widest = 0;
  for (int stage = 0; stage < data_->stages(); ++stage) {
    texts.append(QString::fromStdString(significant(data_->total(stage) / data_->divisor)));
    widest = std::max(widest, metrics.horizontalAdvance(texts.back()));
  }
  // All totals or none: totals on some bars only would look like a mark.
  if (widest + 4 > slotWidth()) return;
  for (int stage = 0; stage < data_->stages(); ++stage) {
    const QRectF bar = column(stage);
    const QRectF place(bar.center().x() - widest / 2 - 2, bar.top() - metrics.height() - 4, widest + 4,
                       metrics.height());
    const double width = metrics.horizontalAdvance(texts[stage]) + 4;
    painter.fillRect(QRectF(place.center().x() - width / 2, place.top() + 1, width, place.height() - 2),
                     ground_);
    painter.setPen(Theme::instance().colors().secondary);
    painter.drawText(place, Qt::AlignCenter, texts[stage]);
  }
}

// Marks each bar with a foot in the design's colour, and a letter above if there is room.
void StackedBars::drawLetters(QCPPainter& painter) const {
  for (int member = 0; member < data_->members(); ++member)
    for (const int stage : drawnStages(member)) {
      const QRectF bar = column(stage, member);
      painter.fillRect(QRectF(bar.left(), bar.bottom() + 2, bar.width(), kFoot),
                       Theme::instance().designColor(data_->letter(member)));
    }
  painter.setFont(Theme::instance().uiFont(10, QFont::DemiBold));
  const QFontMetricsF metrics(painter.font());
  if (barWidth() < metrics.horizontalAdvance(u'W')) return;
  for (int member = 0; member < data_->members(); ++member)
    for (int stage = 0; stage < data_->stages(member); ++stage) {
      const QRectF bar = column(stage, member);
      const QRectF place(bar.center().x() - barWidth() / 2, bar.top() - metrics.height() - kAboveBar,
                         barWidth(), metrics.height());
      painter.setPen(readable(Theme::instance().designColor(data_->letter(member)), ground_));
      painter.drawText(place, Qt::AlignCenter, Comparisons::letter(data_->letter(member)));
    }
}

QString StackedBars::segmentLabel(int stage, size_t series) const {
  return data_->series[series].label + QStringLiteral("  ") +
         data_->text(data_->values[static_cast<size_t>(stage)][series]);
}

// Every label has to end before the next slot, or the edge of the plot, begins.
bool StackedBars::roomForLabels() const {
  if (data_->members() > 1) return false;
  const double room = (slotWidth() - barWidth()) / 2 - kLabelGap;
  if (room < 60) return false;
  const QFontMetricsF metrics(label_font());
  for (int stage = 0; stage < data_->stages(); ++stage) {
    for (size_t series = 0; series < data_->series.size(); ++series) {
      const bool labelled = segment(stage, static_cast<int>(series)).height() >= kLeastLabelled;
      if (labelled && metrics.horizontalAdvance(segmentLabel(stage, series)) > room) return false;
    }
  }
  return true;
}

void StackedBars::drawSegmentLabels(QCPPainter& painter, int stage) const {
  const Colors& colors = Theme::instance().colors();
  painter.setFont(label_font());
  const QFontMetricsF metrics(painter.font());
  const double line = metrics.height() + 1;
  double lowest = mKeyAxis->axisRect()->bottom();
  for (size_t series = 0; series < data_->series.size(); ++series) {
    const QRectF rect = segment(stage, static_cast<int>(series));
    if (rect.height() < kLeastLabelled) continue;
    // From the bottom up. Labels of segments thinner than a text line are stacked, with leader lines to their
    // segments.
    const double y = std::min(rect.center().y(), lowest - line / 2);
    lowest = y - line / 2;
    painter.setAntialiasing(true);
    painter.setPen(QPen(colors.secondary, 0.8));
    painter.drawPolyline(
        QPolygonF({{rect.right() + 5, rect.center().y()}, {rect.right() + 12, y}, {rect.right() + 18, y}}));
    const QString label = segmentLabel(stage, series);
    const QRectF place(rect.right() + kLabelGap, y - line / 2, metrics.horizontalAdvance(label) + 2, line);
    painter.fillRect(place.adjusted(-3, 0, 3, 0), ground_);  // grid lines do not run through the text
    painter.setPen(colors.text);
    painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip, label);
  }
}

// The legend names the limit, because a label at the line would cover bars.
void StackedBars::drawLimit(QCPPainter& painter) const {
  if (!data_->limitShown()) return;
  const QRectF area = mKeyAxis->axisRect()->rect();
  const double y = std::round(mValueAxis->coordToPixel(data_->limit->value / data_->divisor)) + 0.5;
  painter.setAntialiasing(true);
  painter.setPen(limit_pen());
  painter.drawLine(QLineF(area.left(), y, area.right(), y));
}

void StackedBars::drawSelection(QCPPainter& painter) const {
  if (selection_.stage < 0 || selection_.member >= data_->members() ||
      selection_.stage >= data_->stages(selection_.member))
    return;
  const Colors& colors = Theme::instance().colors();
  painter.setAntialiasing(true);
  painter.setBrush(Qt::NoBrush);
  const QRectF bar = column(selection_.stage, selection_.member);
  const double gap = slotWidth() < 14 * data_->members() ? 1 : 2.5;
  const QRectF outline = bar.adjusted(-gap, -gap, gap, gap);
  if (focused_) {
    QColor halo = colors.accent;
    halo.setAlphaF(0.25f);
    painter.setPen(QPen(halo, 5));
    painter.drawRoundedRect(outline, 3, 3);
  }
  painter.setPen(QPen(colors.accent, 2));
  painter.drawRoundedRect(outline, 3, 3);
  const auto frame = [&](const BarMark& mark) {
    if (mark.series < 0 || mark.series >= static_cast<int>(data_->series.size()) ||
        mark.member >= data_->members() || mark.stage >= data_->stages(mark.member))
      return;
    const QRectF part = segment(mark.stage, mark.series, mark.member);
    if (part.height() < 1) return;
    painter.setPen(QPen(colors.text, 1.6));
    painter.drawRect(part.adjusted(0.8, part.height() > 3 ? 1.3 : 0, -0.8, -0.3));
  };
  for (const BarMark& mark : marked_) frame(mark);
  frame({selection_.member, selection_.stage, selection_.series});
}

}  // namespace shardscape::ui

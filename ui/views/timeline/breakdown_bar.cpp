#include "ui/views/timeline/breakdown_bar.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/plot/bar_paint.h"
#include "ui/plot/design_overlay.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/timeline/span_text.h"

namespace shardscape::ui {
namespace {

constexpr double kSwatch = 10, kSwatchGap = 6, kEntryGap = 16, kLine = 20, kBar = 26, kBetween = 4;
constexpr double kThin = 12, kBetweenSteps = 5;  // bars of compared designs, below the bar
constexpr double kNames = 150;                   // width for the names of compared designs
constexpr double kLeastShown = 5e-4;  // share of the step; smaller categories are not in the legend

QString short_label(TimeCategory category) {
  switch (category) {
    case TimeCategory::MatrixProducts: return BreakdownBar::tr("GEMMs");
    case TimeCategory::Attention: return BreakdownBar::tr("attention");
    case TimeCategory::MemoryBound: return BreakdownBar::tr("memory-bound");
    case TimeCategory::TensorComm: return BreakdownBar::tr("exposed tp");
    case TimeCategory::ContextComm: return BreakdownBar::tr("exposed cp");
    case TimeCategory::ExpertComm: return BreakdownBar::tr("exposed ep");
    case TimeCategory::PipelineComm: return BreakdownBar::tr("exposed messages");
    case TimeCategory::DataComm: return BreakdownBar::tr("exposed sync");
    case TimeCategory::Host: return BreakdownBar::tr("host");
    case TimeCategory::Optimizer: return BreakdownBar::tr("optimizer");
    case TimeCategory::Bubble: return BreakdownBar::tr("bubble");
  }
  return {};
}

QFont legend_font() { return Theme::instance().uiFont(12); }

}  // namespace

BarSeries time_series(TimeCategory category) { return series_of(role_of(category), short_label(category)); }

BreakdownBar::BreakdownBar(QWidget* parent)
    : Canvas(QStringLiteral("breakdown"), tr("Where the time of a step goes"), parent) {
  setFocusPolicy(Qt::TabFocus);
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void BreakdownBar::setSeconds(const std::array<double, kTimeCategoryCount>& seconds, double step) {
  seconds_ = seconds;
  step_ = step;
  QStringList parts;
  for (const Place& place : places(QRectF(0, 0, 640, 0)))
    parts << QStringLiteral("%1 %2").arg(
        short_label(place.category),
        percent_text(seconds_[static_cast<size_t>(place.category)] / std::max(step_, 1e-12)));
  setAccessibleDescription(parts.join(QStringLiteral(", ")));
  updateGeometry();
  update();
}

void BreakdownBar::setComparedDesigns(std::vector<OtherDesign> others) {
  others_ = std::move(others);
  updateGeometry();
  update();
}

double BreakdownBar::longest() const {
  double longest = step_;
  for (const OtherDesign& other : others_) longest = std::max(longest, other.step);
  return longest;
}

// In a comparison, each bar is followed by the design's letter and step time.
double BreakdownBar::room(const QRectF& rect) const {
  return rect.width() - (others_.empty() ? 0 : std::min(kNames, rect.width() / 3));
}

QRectF BreakdownBar::comparedStepRect(int at) const {
  const std::vector<Place> all = places(QRectF(rect()));
  const OtherDesign& other = others_[static_cast<size_t>(at)];
  return {0, (all.empty() ? 0 : all.front().bar.bottom()) + kBetweenSteps + at * (kThin + kBetweenSteps),
          room(QRectF(rect())) * other.step / longest(), kThin};
}

double BreakdownBar::total() const {
  double sum = 0;
  for (const double seconds : seconds_) sum += seconds;
  return sum;
}

std::vector<BreakdownBar::Place> BreakdownBar::places(const QRectF& rect) const {
  std::vector<Place> out;
  if (step_ <= 0) return out;
  const QFontMetricsF metrics(legend_font());
  double x = rect.left(), y = rect.top();
  for (int c = 0; c < kTimeCategoryCount; ++c) {
    const double seconds = seconds_[static_cast<size_t>(c)];
    if (seconds <= 0) continue;
    const auto category = static_cast<TimeCategory>(c);
    Place place{category, {}, {}};
    if (seconds >= kLeastShown * step_) {
      const QString text = short_label(category) + u' ' + percent_text(seconds / step_);
      const double advance = kSwatch + kSwatchGap + metrics.horizontalAdvance(text);
      if (x > rect.left() && x + advance > rect.right()) {
        x = rect.left();
        y += kLine;
      }
      place.legend = QRectF(x, y, advance, kLine);
      x += advance + kEntryGap;
    }
    out.push_back(place);
  }
  const double top = y + kLine + kBetween, scale = room(rect) / longest();
  double from = 0;
  for (Place& place : out) {
    const double seconds = seconds_[static_cast<size_t>(place.category)];
    place.bar = QRectF(rect.left() + scale * from, top, scale * seconds, kBar);
    from += seconds;
  }
  return out;
}

double BreakdownBar::fullHeight(double width) const {
  const std::vector<Place> all = places(QRectF(0, 0, width, 0));
  if (all.empty()) return kLine + kBetween + kBar;
  return all.front().bar.bottom() + static_cast<double>(others_.size()) * (kThin + kBetweenSteps);
}

void BreakdownBar::paintLegend(QPainter& painter, const Place& place, const QColor& ground) const {
  const Colors& colors = Theme::instance().colors();
  const BarSeries series = time_series(place.category);
  fill_bar(painter, QRectF(place.legend.left(), place.legend.center().y() - kSwatch / 2, kSwatch, kSwatch),
           series, ground);
  painter.setPen(static_cast<int>(place.category) == selected_ ? colors.text : colors.secondary);
  painter.drawText(place.legend.adjusted(kSwatch + kSwatchGap, 0, 4, 0), Qt::AlignLeft | Qt::AlignVCenter,
                   series.label + u' ' + percent_text(seconds_[static_cast<size_t>(place.category)] / step_));
}

// The design's letter and step time after a bar.
void BreakdownBar::paintName(QPainter& painter, int member, double step, const QPointF& at,
                             const QColor& ground) const {
  const Colors& colors = Theme::instance().colors();
  const QString change = member > 0 ? QStringLiteral("  ") + signed_percent_text(step / step_ - 1)
                                    : QString();
  paint_letter_at(painter, at + QPointF(8, 4), member, ground);
  painter.setPen(member == 0 ? colors.text : colors.secondary);
  painter.drawText(at + QPointF(22, 4), seconds_text(step) + change);
}

void BreakdownBar::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  const std::vector<Place> all = places(rect);
  if (all.empty()) return;
  const QColor text = Theme::instance().colors().text;
  painter.setFont(legend_font());
  const QRectF first = all.front().bar;
  const double scale = room(rect) / longest(), most = rect.left() + scale * std::min(step_, total());
  for (const Place& place : all) {
    if (!place.legend.isNull()) paintLegend(painter, place, ground);
    QRectF bar = place.bar;
    if (bar.width() > 3 && bar.right() < most - 0.5) bar.setWidth(bar.width() - 1);
    fill_bar(painter, bar, time_series(place.category), ground);
  }
  if (!others_.empty())
    paintName(painter, 0, step_, QPointF(rect.left() + scale * step_, first.center().y()), ground);
  const auto outline = [&](TimeCategory category, const QRectF& bar) {
    const int c = static_cast<int>(category);
    if (bar.width() < 1 || (c != selected_ && std::find(marked_.begin(), marked_.end(), c) == marked_.end()))
      return;
    painter.setPen(QPen(text, 1.6));  // the accent colour is too similar to the colour of matrix products
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(bar.adjusted(0, 0, -1, 0));
  };
  for (size_t i = 0; i < others_.size(); ++i) {
    const std::vector<QRectF> bars = comparedBarRects(i, rect, first.bottom());
    for (int c = 0; c < kTimeCategoryCount; ++c) {
      const QRectF& bar = bars[static_cast<size_t>(c)];
      fill_bar(painter, bar.width() > 3 ? bar.adjusted(0, 0, -1, 0) : bar,
               time_series(static_cast<TimeCategory>(c)), ground);
    }
    for (int c = 0; c < kTimeCategoryCount; ++c)
      outline(static_cast<TimeCategory>(c), bars[static_cast<size_t>(c)]);
    paintName(painter, others_[i].member, others_[i].step,
              QPointF(rect.left() + scale * others_[i].step, bars.front().center().y()), ground);
  }
  for (const Place& place : all) outline(place.category, place.bar);
}

// The segments of a compared design's bar, by category.
std::vector<QRectF> BreakdownBar::comparedBarRects(size_t at, const QRectF& rect, double below) const {
  const double scale = room(rect) / longest(),
               y = below + kBetweenSteps + static_cast<double>(at) * (kThin + kBetweenSteps);
  std::vector<QRectF> out;
  double from = 0;
  for (const double seconds : others_[at].seconds) {
    out.emplace_back(rect.left() + scale * from, y, scale * seconds, kThin);
    from += seconds;
  }
  return out;
}

QRectF BreakdownBar::comparedSegmentRect(int at, TimeCategory category) const {
  const std::vector<Place> all = places(QRectF(rect()));
  return all.empty() ? QRectF()
                     : comparedBarRects(static_cast<size_t>(at), QRectF(rect()),
                                        all.front().bar.bottom())[static_cast<size_t>(category)];
}

int BreakdownBar::heightForWidth(int width) const {
  return static_cast<int>(std::ceil(fullHeight(width))) + 2;
}

QRectF BreakdownBar::segment(TimeCategory category) const {
  for (const Place& place : places(QRectF(rect())))
    if (place.category == category) return place.bar;
  return {};
}

void BreakdownBar::setSelected(int category) {
  if (category == selected_) return;
  selected_ = category;
  update();
}

void BreakdownBar::setMarked(std::vector<int> categories) {
  if (categories == marked_) return;
  marked_ = std::move(categories);
  update();
}

int BreakdownBar::at(const QPointF& point) const {
  for (const Place& place : places(QRectF(rect())))
    if (place.bar.contains(point) || place.legend.contains(point)) return static_cast<int>(place.category);
  for (int i = 0; i < static_cast<int>(others_.size()); ++i)
    for (int c = 0; c < kTimeCategoryCount; ++c)
      if (comparedSegmentRect(i, static_cast<TimeCategory>(c)).contains(point)) return c;
  return -1;
}

QRectF BreakdownBar::focusFrame() const {
  if (selected_ >= 0) return {};
  const double top = places(QRectF(rect())).front().bar.top();
  return {0.5, top - 0.5, width() - 2.0, kBar + 1};
}

void BreakdownBar::select(int category) {
  setSelected(category);
  Q_EMIT categorySelected(category);
}

void BreakdownBar::click(const QPointF& position, Qt::KeyboardModifiers) {
  if (const int category = at(position); category >= 0) select(category);
}

QString BreakdownBar::tipAt(const QPointF& point) const {
  const int category = at(point);
  if (category < 0) return {};
  const auto line = [&](double seconds, double step) {
    return QStringLiteral("%1, %2").arg(seconds_text(seconds), percent_text(seconds / std::max(step, 1e-12)));
  };
  QString tip = text_of(time_category_label(static_cast<TimeCategory>(category))) + u'\n' +
                line(seconds_[static_cast<size_t>(category)], step_);
  for (const OtherDesign& other : others_)
    tip += u'\n' + of_design(other.member, line(other.seconds[static_cast<size_t>(category)], other.step));
  return tip;
}

bool BreakdownBar::go(Way way, Qt::KeyboardModifiers) {
  const std::vector<Place> all = places(QRectF(rect()));
  const int last = static_cast<int>(all.size()) - 1;
  int at = -1;
  for (int i = 0; i <= last; ++i)
    if (static_cast<int>(all[static_cast<size_t>(i)].category) == selected_) at = i;
  switch (way) {
    case Way::Left: at = std::max(0, at - 1); break;
    case Way::Right: at = std::min(last, at + 1); break;
    case Way::First: at = 0; break;
    case Way::Last: at = last; break;
    case Way::Up:
    case Way::Down:
    case Way::PageUp:
    case Way::PageDown: return false;
  }
  select(static_cast<int>(all[static_cast<size_t>(at)].category));
  return true;
}

bool BreakdownBar::activate() {
  select(selected_ >= 0 ? selected_ : static_cast<int>(places(QRectF(rect())).front().category));
  return true;
}

}  // namespace shardscape::ui

#include "ui/views/timeline/breakdown_bar.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/plot/bar_paint.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/arrow_keys.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/timeline/span_text.h"

namespace shardscape::ui {
namespace {

constexpr double kSwatch = 10, kSwatchGap = 6, kEntryGap = 16, kLine = 20, kBar = 26, kBetween = 4;
constexpr double kThin = 12, kBetweenSteps = 5, kNames = 150;  // of the steps of other designs below
constexpr double kLeastShown = 5e-4;                           // of the step, in the legend; the bar has all

QString short_label(TimeCategory category) {
  switch (category) {
    case TimeCategory::Products: return BreakdownBar::tr("GEMMs");
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

BarSeries time_series(TimeCategory category) {
  const bool hatched = category == TimeCategory::ContextComm || category == TimeCategory::PipelineComm ||
                       category == TimeCategory::Host;
  return {short_label(category), Theme::instance().timeColor(category),
          hatched ? BarFill::Hatched : BarFill::Solid};
}

BreakdownBar::BreakdownBar(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::TabFocus);
  setMouseTracking(true);
  setObjectName(QStringLiteral("breakdown"));
  setAccessibleName(tr("Where the time of a step goes"));
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
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

// In a comparison a bar is followed by whose it is and how long it takes.
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

double BreakdownBar::paint(QPainter* painter, const QRectF& rect, const QColor& ground) const {
  const std::vector<Place> all = places(rect);
  if (all.empty()) return kLine + kBetween + kBar;
  const double bar_bottom = all.front().bar.bottom(),
               bottom = bar_bottom - rect.top() +
                        static_cast<double>(others_.size()) * (kThin + kBetweenSteps);
  if (!painter) return bottom;
  const Colors& colors = Theme::instance().colors();
  painter->setFont(legend_font());
  const double scale = room(rect) / longest(), most = rect.left() + scale * std::min(step_, total());
  for (const Place& place : all) {
    const BarSeries series = time_series(place.category);
    if (!place.legend.isNull()) {
      fill_bar(*painter,
               QRectF(place.legend.left(), place.legend.center().y() - kSwatch / 2, kSwatch, kSwatch), series,
               ground);
      painter->setPen(static_cast<int>(place.category) == selected_ ? colors.text : colors.secondary);
      painter->drawText(
          place.legend.adjusted(kSwatch + kSwatchGap, 0, 4, 0), Qt::AlignLeft | Qt::AlignVCenter,
          series.label + u' ' + percent_text(seconds_[static_cast<size_t>(place.category)] / step_));
    }
    QRectF bar = place.bar;
    if (bar.width() > 3 && bar.right() < most - 0.5) bar.setWidth(bar.width() - 1);
    fill_bar(*painter, bar, series, ground);
  }
  const auto name = [&](int member, double step, double y) {
    const double x = rect.left() + scale * step + 8;
    const QString change = member > 0 && step_ > 0
                               ? QStringLiteral("  ") + signed_percent_text(step / step_ - 1)
                               : QString();
    painter->setPen(readable(Theme::instance().designColor(member), ground));
    painter->drawText(QPointF(x, y + 4), Comparisons::letter(member));
    painter->setPen(member == 0 ? colors.text : colors.secondary);
    painter->drawText(QPointF(x + 14, y + 4), seconds_text(step) + change);
  };
  if (!others_.empty()) name(0, step_, all.front().bar.center().y());
  for (size_t i = 0; i < others_.size(); ++i) {
    const std::vector<QRectF> bars = comparedBarRects(i, rect, bar_bottom);
    for (int c = 0; c < kTimeCategoryCount; ++c) {
      const QRectF& bar = bars[static_cast<size_t>(c)];
      fill_bar(*painter, bar.width() > 3 ? bar.adjusted(0, 0, -1, 0) : bar,
               time_series(static_cast<TimeCategory>(c)), ground);
    }
    name(others_[i].member, others_[i].step, bars.front().center().y());
  }
  const auto is_marked = [&](TimeCategory category) {
    return static_cast<int>(category) == selected_ ||
           std::find(marked_.begin(), marked_.end(), static_cast<int>(category)) != marked_.end();
  };
  for (const Place& place : all)
    if (is_marked(place.category)) {
      painter->setPen(QPen(colors.text, 1.6));  // the accent is too near to the colour of products
      painter->setBrush(Qt::NoBrush);
      painter->drawRect(place.bar.adjusted(0, 0, -1, 0));
    }
  for (size_t i = 0; i < others_.size(); ++i) {
    const std::vector<QRectF> bars = comparedBarRects(i, rect, bar_bottom);
    for (int c = 0; c < kTimeCategoryCount; ++c)
      if (const QRectF& bar = bars[static_cast<size_t>(c)];
          bar.width() >= 1 && is_marked(static_cast<TimeCategory>(c))) {
        painter->setPen(QPen(colors.text, 1.4));
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(bar.adjusted(0, 0, -1, 0));
      }
  }
  return bottom;
}

// By category, of a step below the bar.
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
  return static_cast<int>(std::ceil(paint(nullptr, QRectF(0, 0, width, 0), {}))) + 2;
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

void BreakdownBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paint(&painter, QRectF(rect()).adjusted(0, 0, -1, 0), Theme::instance().colors().ground);
  if (hasFocus() && selected_ < 0 && step_ > 0) {
    painter.setPen(QPen(Theme::instance().colors().accent, 1));
    painter.setBrush(Qt::NoBrush);
    const double top = places(QRectF(rect())).front().bar.top();
    painter.drawRect(QRectF(0.5, top - 0.5, width() - 2, kBar + 1));
  }
}

void BreakdownBar::mousePressEvent(QMouseEvent* event) {
  const int category = at(event->position());
  if (event->button() != Qt::LeftButton || category < 0) return QWidget::mousePressEvent(event);
  setSelected(category);
  Q_EMIT categorySelected(category);
}

void BreakdownBar::mouseMoveEvent(QMouseEvent* event) {
  const int category = at(event->position());
  setCursor(category < 0 ? Qt::ArrowCursor : Qt::PointingHandCursor);
  if (category < 0) return QToolTip::hideText();
  const double seconds = seconds_[static_cast<size_t>(category)];
  QString tip = QStringLiteral("%1\n%2, %3")
                    .arg(text_of(time_category_label(static_cast<TimeCategory>(category))),
                         seconds_text(seconds), percent_text(seconds / step_));
  for (const OtherDesign& other : others_) {
    const double theirs = other.seconds[static_cast<size_t>(category)];
    tip += QStringLiteral("\n%1: %2, %3")
               .arg(Comparisons::letter(other.member), seconds_text(theirs),
                    percent_text(theirs / std::max(other.step, 1e-12)));
  }
  QToolTip::showText(event->globalPosition().toPoint(), tip, this);
}

void BreakdownBar::keyPressEvent(QKeyEvent* event) {
  const std::vector<Place> all = places(QRectF(rect()));
  if (all.empty()) return QWidget::keyPressEvent(event);
  int at = -1;
  for (size_t i = 0; i < all.size(); ++i)
    if (static_cast<int>(all[i].category) == selected_) at = static_cast<int>(i);
  const int last = static_cast<int>(all.size()) - 1;
  switch (event->key()) {
    case Qt::Key_Left: at = std::max(0, at - 1); break;
    case Qt::Key_Right: at = std::min(last, at + 1); break;
    case Qt::Key_Home: at = 0; break;
    case Qt::Key_End: at = last; break;
    case Qt::Key_Return:
    case Qt::Key_Space: at = std::max(0, at); break;
    default: return QWidget::keyPressEvent(event);
  }
  setSelected(static_cast<int>(all[static_cast<size_t>(at)].category));
  Q_EMIT categorySelected(selected_);
}

bool BreakdownBar::event(QEvent* event) {
  if (keep_arrow_keys(event)) return true;
  if (event->type() == QEvent::ToolTip) return true;  // shown by moving already
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) update();
  return QWidget::event(event);
}

}  // namespace shardscape::ui

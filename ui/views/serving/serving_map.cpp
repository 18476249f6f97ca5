#include "ui/views/serving/serving_map.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "serving/within_limits.h"
#include "ui/plot/axis_scale.h"
#include "ui/plot/bar_paint.h"
#include "ui/plot/point_shape.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kMapLeft = 62, kMapTop = 50, kMapRight = 4, kMapBottom = 30, kMostWidth = 64,
                 kMostHeight = 56, kGap = 2, kApart = 8;

void frame(QPainter& painter, const QRectF& box, const QColor& color, double width) {
  painter.setPen(QPen(color, width));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(box.adjusted(width / 2, width / 2, -width / 2, -width / 2));
}

// A triangle in the upper right corner of a cell that exceeds a limit.
void paint_corner(QPainter& painter, const QRectF& box, const QColor& color) {
  constexpr double kSide = 9;
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  const QPointF corner = box.topRight();
  painter.drawPolygon(QPolygonF({corner, corner - QPointF(kSide, 0), corner + QPointF(0, kSide)}));
}

}  // namespace

ServingMap::ServingMap(QWidget* parent)
    : ServingCanvas(QStringLiteral("serving_map"), tr("Batches across, contexts down"), parent) {}

QString ServingMap::label(ServingFigure figure) {
  switch (figure) {
    case ServingFigure::TokensPerGpu: return tr("Tokens/s per GPU");
    case ServingFigure::TimePerToken: return tr("Time per output token");
    case ServingFigure::FirstToken: return tr("Time to first token, last prompt");
    case ServingFigure::FirstTokenEarly: return tr("Time to first token, first prompt");
    case ServingFigure::Memory: return tr("Memory of the rank with most");
  }
  return {};
}

QString ServingMap::word(ServingFigure figure) {
  switch (figure) {
    case ServingFigure::TokensPerGpu: return tr("Tokens/s per GPU");
    case ServingFigure::TimePerToken: return tr("TPOT");
    case ServingFigure::FirstToken: return tr("TTFT, last prompt");
    case ServingFigure::FirstTokenEarly: return tr("TTFT, first prompt");
    case ServingFigure::Memory: return tr("Memory");
  }
  return {};
}

void ServingMap::setFigure(ServingFigure figure) {
  figure_ = figure;
  changed();
  update();
}

const SweptPhase& ServingMap::ofFigure(int at) const {
  switch (figure_) {
    case ServingFigure::TimePerToken: return point(at).decode;
    case ServingFigure::FirstToken:
    case ServingFigure::FirstTokenEarly: return point(at).prefill;
    case ServingFigure::TokensPerGpu:
    case ServingFigure::Memory: break;
  }
  return phase(at);
}

std::optional<double> ServingMap::value(int at) const {
  const SweptPhase& of = ofFigure(at);
  if (!of.valid()) return std::nullopt;
  switch (figure_) {
    case ServingFigure::TokensPerGpu: return of.figures.tokens_per_gpu;
    case ServingFigure::TimePerToken:
    case ServingFigure::FirstToken: return of.figures.seconds;
    case ServingFigure::FirstTokenEarly: return of.figures.first_seconds;
    case ServingFigure::Memory: return static_cast<double>(of.memory);
  }
  return std::nullopt;
}

bool ServingMap::fits(int at) const { return ofFigure(at).valid() && ofFigure(at).fits; }

// The common unit of all cells; the title shows it.
ValueScale ServingMap::unit() const {
  if (figure_ == ServingFigure::Memory) return byte_scale(high_, units());
  return figure_ == ServingFigure::TokensPerGpu ? ValueScale() : seconds_scale(high_);
}

QString ServingMap::title() const {
  const QString name = figure_ == ServingFigure::TokensPerGpu && !ServingCanvas::decodes()
                           ? tr("Prompt tokens/s per GPU")
                           : label(figure_);
  return unit().unit.isEmpty() ? name : name + QStringLiteral(", ") + unit().unit;
}

QString ServingMap::text(int at) const {
  const auto of = value(at);
  return of ? text_of(significant(*of / unit().divisor)) : QStringLiteral("–");
}

void ServingMap::changed() {
  batches_.clear();
  answers_.clear();
  if (sweep() && decodes() && contexts() > 0)
    answers_.push_back({tr("at most"), &ServedPoint::largest, sweep()->largest});
  if (sweep() && !sweep()->within.empty())
    answers_.push_back({tr("in limits"), &ServedPoint::within, sweep()->within});
  low_ = high_ = 0;
  for (int i = 0; i < points(); ++i) {
    if (point(i).requested && std::find(batches_.begin(), batches_.end(), point(i).batch) == batches_.end())
      batches_.push_back(point(i).batch);
  }
  // Colours span the points that fit, or all points if none fits.
  const bool any = [&] {
    for (int i = 0; i < points(); ++i)
      if (fits(i)) return true;
    return false;
  }();
  for (int i = 0; i < points(); ++i) {
    const auto of = value(i);
    if (!of || (any && !fits(i))) continue;
    low_ = high_ == 0 ? *of : std::min(low_, *of);
    high_ = std::max(high_, *of);
  }
}

std::vector<int> ServingMap::inOrder(int context) const {
  std::vector<int> out = ServingCanvas::inOrder(context);
  std::stable_partition(out.begin(), out.end(), [&](int at) { return point(at).requested; });
  return out;
}

int ServingMap::columnOf(int at) const {
  if (!point(at).requested) {
    const auto in = std::find_if(answers_.begin(), answers_.end(),
                                 [&](const Answers& of) { return point(at).*of.mark; });
    return static_cast<int>(batches_.size()) + static_cast<int>(in - answers_.begin());
  }
  return static_cast<int>(std::find(batches_.begin(), batches_.end(), point(at).batch) - batches_.begin());
}

QRectF ServingMap::cellIn(const QRectF& rect, int context, int column) const {
  const double most = answers_.empty() ? 0 : kMostWidth * static_cast<double>(answers_.size()) + kApart;
  const double width = (rect.width() - kMapLeft - kMapRight - most) /
                       std::max<double>(1, static_cast<double>(batches_.size()));
  const double height = std::min(kMostHeight,
                                 (rect.height() - kMapTop - kMapBottom) / std::max(1, contexts()));
  const int beyond = column - static_cast<int>(batches_.size());
  const double x = rect.left() + kMapLeft + width * (column - std::max(0, beyond)),
               y = rect.top() + kMapTop + height * context;
  if (beyond >= 0)
    return QRectF(x + kApart + beyond * kMostWidth, y, kMostWidth, height).adjusted(0, 0, -kGap, -kGap);
  return QRectF(x, y, width, height).adjusted(0, 0, -kGap, -kGap);
}

QRectF ServingMap::cellIn(const QRectF& rect, int at) const {
  return cellIn(rect, contextOf(at), columnOf(at));
}

int ServingMap::pointAt(const QPointF& at) const {
  for (int i = 0; i < points(); ++i)
    if (cell(i).contains(at)) return i;
  // An answer may be one of the batches. Its cell in the last columns is the same point.
  for (size_t column = 0; column < answers_.size(); ++column)
    for (int i = 0; i < points(); ++i)
      if (point(i).*answers_[column].mark &&
          cellIn(QRectF(rect()), contextOf(i), static_cast<int>(batches_.size() + column)).contains(at))
        return i;
  return -1;
}

void ServingMap::paintCell(QPainter& painter, const QRectF& box, int at, const QColor& ground) const {
  const Colors& colors = Theme::instance().colors();
  const auto of = value(at);
  QColor behind = ground;
  painter.setPen(Qt::NoPen);
  if (of && fits(at)) {
    const bool logarithmic = spans_decades(low_, high_);
    const auto place = [&](double v) { return logarithmic ? std::log(v) : v; };
    const double share = high_ > low_ ? (place(*of) - place(low_)) / (place(high_) - place(low_)) : 0.5;
    behind = mixed(ground, ramp_color(std::clamp(share, 0.0, 1.0)), 0.8);
    painter.fillRect(box, behind);
  } else if (of) {
    fill_bar(painter, box, {QString(), mixed(ground, colors.secondary, 0.35), BarFill::Hatched}, ground);
  } else {
    painter.setPen(QPen(colors.line, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
  }
  const QFontMetricsF metrics(Theme::instance().uiFont(11));
  const QString words = text(at);
  const double width = metrics.horizontalAdvance(words) + 6;
  if (of && !fits(at)) {
    QColor veil = ground;
    veil.setAlphaF(0.85f);
    painter.fillRect(QRectF(box.center().x() - std::min(width, box.width()) / 2, box.center().y() - 8,
                            std::min(width, box.width()), 16),
                     veil);
  }
  painter.setPen(of && fits(at) ? readable(colors.text, behind) : colors.secondary);
  const QString over = of ? overWord(at) : QString();
  const bool two_lines = !over.isEmpty() && box.height() >= 32;
  painter.drawText(two_lines ? box.adjusted(0, 0, 0, -13) : box, Qt::AlignCenter,
                   metrics.elidedText(words, Qt::ElideRight, box.width()));
  if (over.isEmpty()) return;
  paint_corner(painter, box, colors.bad);
  if (!two_lines) return;
  painter.setPen(of && fits(at) ? readable(colors.text, behind) : colors.secondary);
  painter.drawText(box.adjusted(0, 13, 0, 0), Qt::AlignCenter,
                   metrics.elidedText(over, Qt::ElideRight, box.width()));
}

// The limits that the point exceeds: "TTFT", "TPOT", "both".
QString ServingMap::overWord(int at) const {
  const bool first = breaks_ttft(point(at), limits()), each = breaks_tpot(point(at), limits());
  return first && each ? tr("> both") : first ? tr("> TTFT") : each ? tr("> TPOT") : QString();
}

// The legend of the colours, below the cells. now: the point of the present design, or -1.
void ServingMap::paintLegend(QPainter& painter, const QRectF& rect, const QColor& ground, int now) const {
  const Colors& colors = Theme::instance().colors();
  const QFontMetricsF metrics(Theme::instance().uiFont(11));
  const double below = cellIn(rect, contexts() - 1, 0).bottom() + 14;
  double x = rect.left() + kMapLeft;
  const auto word = [&](const QString& text) {
    painter.setPen(colors.secondary);
    painter.drawText(QPointF(x, below + 4), text);
    x += metrics.horizontalAdvance(text) + 6;
  };
  if (high_ > 0) {
    word(text_of(significant(low_ / unit().divisor)));
    for (int i = 0; i < kRampSteps; ++i)
      painter.fillRect(QRectF(x + 5.0 * i, below - 4, 5, 9),
                       mixed(ground, ramp_color(static_cast<double>(i) / (kRampSteps - 1)), 0.8));
    x += 5 * kRampSteps + 6;
    word(text_of(significant(high_ / unit().divisor)));
    x += 14;
  }
  painter.setPen(Qt::NoPen);
  fill_bar(painter, QRectF(x, below - 5, 16, 11),
           {QString(), mixed(ground, colors.secondary, 0.35), BarFill::Hatched}, ground);
  x += 22;
  word(tr("does not fit"));
  if (limits().any()) {
    x += 8;
    painter.setPen(QPen(colors.line, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(x, below - 5, 16, 11));
    paint_corner(painter, QRectF(x, below - 5, 16, 11), colors.bad);
    x += 22;
    word(tr("over a limit"));
  }
  if (present()) {
    x += 8;
    frame(painter, QRectF(x, below - 5, 16, 11), colors.text, 2);
    x += 22;
    word(now >= 0 ? tr("current")
                  : tr("current: %1 × %2, between")
                        .arg(grouped_text(present()->batch), grouped_text(present()->context)));
  }
}

void ServingMap::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  if (!sweep()) return;
  const Colors& colors = Theme::instance().colors();
  const QFont small = Theme::instance().uiFont(11), strong = Theme::instance().uiFont(11, QFont::DemiBold);
  painter.save();
  painter.setFont(small);
  painter.setPen(colors.secondary);
  const auto most = static_cast<int>(batches_.size());
  painter.drawText(QRectF(rect.left() + 4, rect.top() + 8, rect.width() - 8, 16),
                   Qt::AlignLeft | Qt::AlignVCenter, title());
  painter.drawText(QRectF(rect.left(), rect.top() + kMapTop - 20, kMapLeft - 8, 16),
                   Qt::AlignRight | Qt::AlignVCenter, tr("context"));
  for (size_t i = 0; i < answers_.size(); ++i) {
    const QRectF box = cellIn(rect, 0, most + static_cast<int>(i));
    painter.drawText(QRectF(box.left() - 20, rect.top() + kMapTop - 20, box.width() + 20, 16),
                     Qt::AlignRight | Qt::AlignVCenter, answers_[i].title);
  }
  for (int column = 0; column < most; ++column) {
    const QRectF box = cellIn(rect, 0, column);
    const bool now = present() && present()->batch == batches_[static_cast<size_t>(column)];
    painter.setFont(now ? strong : small);
    painter.setPen(now ? colors.text : colors.secondary);
    painter.drawText(QRectF(box.left() - 10, rect.top() + kMapTop - 20, box.width() + 20, 16),
                     Qt::AlignCenter, grouped_text(batches_[static_cast<size_t>(column)]));
  }
  painter.setFont(small);
  for (int i = 0; i < points(); ++i)
    if (point(i).requested) paintCell(painter, cellIn(rect, i), i, ground);
  for (int context = 0; context < contexts(); ++context) {
    const int64_t tokens = sweep()->largest[static_cast<size_t>(context)].first;
    const QRectF row = cellIn(rect, context, 0);
    const bool now = present() && present()->context == tokens;
    painter.setFont(now ? strong : small);
    painter.setPen(now ? colors.text : colors.secondary);
    painter.drawText(QRectF(rect.left(), row.top(), kMapLeft - 8, row.height()),
                     Qt::AlignRight | Qt::AlignVCenter, grouped_text(tokens));
    painter.setFont(strong);
    for (size_t i = 0; i < answers_.size(); ++i) {
      const int64_t batch = answers_[i].batches[static_cast<size_t>(context)].second;
      painter.setPen(batch > 0 ? colors.text : colors.bad);
      painter.drawText(cellIn(rect, context, most + static_cast<int>(i)), Qt::AlignRight | Qt::AlignVCenter,
                       batch > 0 ? grouped_text(batch) : tr("none"));
    }
  }
  painter.setFont(small);
  const int now = present() ? find(present()->batch, present()->context) : -1;
  paintLegend(painter, rect, ground, now);
  if (now >= 0) frame(painter, cellIn(rect, now), colors.text, 2);
  if (hovered() >= 0 && hovered() != selected()) frame(painter, cellIn(rect, hovered()), colors.accent, 1.4);
  if (selected() >= 0) {
    frame(painter, cellIn(rect, selected()), ground, 3.6);
    frame(painter, cellIn(rect, selected()).adjusted(-2, -2, 2, 2), colors.accent, 2.6);
  }
  painter.restore();
}

}  // namespace shardscape::ui

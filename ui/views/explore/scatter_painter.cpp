// Drawing of the scatter plot.
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/plot/axis_paint.h"
#include "ui/plot/design_overlay.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/explore/scatter_canvas.h"

namespace shardscape::ui {
namespace {

constexpr double kCell = 12, kEdge = 5;  // pixels of the grid, and around the plot in the image
constexpr double kOpacity = 0.82;

// The image of one point, with premultiplied alpha.
QImage sprite(int shape, double radius, const QColor& color, double scale) {
  const int size = 2 * static_cast<int>(std::ceil((1.35 * radius + 1) * scale)) + 1;
  QImage image(size, size, QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(size / 2.0, size / 2.0);
  painter.scale(scale, scale);
  painter.fillPath(point_shape(shape, radius), color);
  return image;
}

void blend(QImage& onto, const QImage& what, int x, int y) {
  const int left = std::max(0, -x), right = std::min(what.width(), onto.width() - x);
  const int top = std::max(0, -y), bottom = std::min(what.height(), onto.height() - y);
  for (int row = top; row < bottom; ++row) {
    const auto* from = reinterpret_cast<const QRgb*>(what.constScanLine(row));
    auto* to = reinterpret_cast<QRgb*>(onto.scanLine(y + row)) + x;
    for (int i = left; i < right; ++i) {
      const QRgb over = from[i];
      const uint alpha = qAlpha(over);
      if (alpha == 0) continue;
      const QRgb under = to[i];
      const uint rest = 255 - alpha;
      const uint rb = (((under & 0xff00ff) * rest) >> 8) & 0xff00ff,
                 ag = (((under >> 8) & 0xff00ff) * rest) & 0xff00ff00;
      to[i] = over + rb + ag;
    }
  }
}

}  // namespace

void ScatterCanvas::drawPoints(const QRectF& plot) const {
  const double scale = devicePixelRatioF();
  image_ = QImage((plot.size() + QSizeF(2 * kEdge, 2 * kEdge)).toSize() * scale,
                  QImage::Format_ARGB32_Premultiplied);
  image_.setDevicePixelRatio(scale);
  image_.fill(Qt::transparent);
  grid_columns_ = std::max(1, static_cast<int>(plot.width() / kCell));
  grid_rows_ = std::max(1, static_cast<int>(plot.height() / kCell));
  cell_.assign(static_cast<size_t>(grid_columns_ * grid_rows_), -1);
  next_.assign(xs_.size(), -1);
  const double r = radius();
  std::vector<QImage> sprites;
  for (int colour = 0; colour < style_.colours(); ++colour)
    for (int shape = 0; shape < kShapes; ++shape) {
      QColor ink = style_.color(colour);
      ink.setAlphaF(kOpacity);
      sprites.push_back(sprite(shape, r, ink, scale));
    }
  QColor faint = Theme::instance().colors().idle;
  faint.setAlphaF(0.7f);
  const QImage out = sprite(0, std::max(1.6, r - 1), faint, scale);
  const auto place_of = [&](size_t row) { return placeIn(plot, static_cast<int>(row)) - plot.topLeft(); };
  const auto put = [&](const QImage& what, const QPointF& at) {
    blend(image_, what, static_cast<int>(std::lround((at.x() + kEdge) * scale)) - what.width() / 2,
          static_cast<int>(std::lround((at.y() + kEdge) * scale)) - what.height() / 2);
  };
  const auto inside = [&](const QPointF& at) {
    return at.x() >= -0.5 && at.y() >= -0.5 && at.x() <= plot.width() + 0.5 && at.y() <= plot.height() + 0.5;
  };
  if (!passing_.empty())
    for (size_t row = xs_.size(); row-- > 0;) {
      if (passing_[row]) continue;
      if (const QPointF at = place_of(row); inside(at)) put(out, at);
    }
  for (size_t row = xs_.size(); row-- > 0;) {  // the best designs are drawn last, on top
    if (!passing_.empty() && !passing_[row]) continue;
    const QPointF at = place_of(row);
    if (!inside(at)) continue;
    put(sprites[static_cast<size_t>(style_.colour(static_cast<int>(row)) * kShapes +
                                    style_.shape(static_cast<int>(row)))],
        at);
    const int column = std::clamp(static_cast<int>(at.x() * grid_columns_ / plot.width()), 0,
                                  grid_columns_ - 1);
    const int line = std::clamp(static_cast<int>(at.y() * grid_rows_ / plot.height()), 0, grid_rows_ - 1);
    int& first = cell_[static_cast<size_t>(line * grid_columns_ + column)];
    next_[row] = first;
    first = static_cast<int>(row);
  }
}

void ScatterCanvas::paintWindow(QPainter& painter, const QRect&) {
  const QColor& ground = Theme::instance().colors().ground;
  const QRectF area = plot();
  if (image_.isNull()) drawPoints(area);
  paintAxes(painter, QRectF(rect()), area);
  paintLegend(painter, QRectF(rect()), area, ground);
  painter.drawImage(area.topLeft() - QPointF(kEdge, kEdge), image_);
  paintLimit(painter, area, ground);
  paintFront(painter, area, ground);
  paintMarks(painter, area, ground);
  paintDrawn(painter);
  const int shown = hovered_ >= 0 ? hovered_ : focusShown() ? selected_ : -1;
  if (shown >= 0 && area.adjusted(-2, -2, 2, 2).contains(place(shown))) paintCard(painter, area, shown);
}

void ScatterCanvas::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  if (!ready()) return;
  const QRectF area = plotOf(rect);
  paintAxes(painter, rect, area);
  paintLegend(painter, rect, area, ground);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setClipRect(area.adjusted(-kEdge, -kEdge, kEdge, kEdge));
  painter.setPen(Qt::NoPen);
  for (size_t row = xs_.size(); row-- > 0;) {
    if (!passes(static_cast<int>(row))) continue;
    const QPointF at = placeIn(area, static_cast<int>(row));
    if (!area.adjusted(-1, -1, 1, 1).contains(at)) continue;
    QColor ink = style_.color(style_.colour(static_cast<int>(row)));
    ink.setAlphaF(kOpacity);
    painter.setBrush(ink);
    painter.drawPath(point_shape(style_.shape(static_cast<int>(row)), radius()).translated(at));
  }
  painter.restore();
  paintLimit(painter, area, ground);
  paintFront(painter, area, ground);
  paintMarks(painter, area, ground);
}

void ScatterCanvas::paintAxes(QPainter& painter, const QRectF& rect, const QRectF& plot) const {
  constexpr double kLeastApart = 56, kMostApart = 140;
  const Colors& colors = Theme::instance().colors();
  painter.save();
  painter.setFont(Theme::instance().uiFont(11));
  const QFontMetricsF metrics(painter.font());
  double widest = kLeastApart;
  for (const QString& choice : x_.choices) widest = std::max(widest, metrics.horizontalAdvance(choice) + 12);
  paint_x_axis(painter, x_, plot, std::min(widest, kMostApart));
  paint_y_axis(painter, y_, plot, plot.left() - rect.left());
  painter.fillRect(QRectF(plot.left(), std::round(plot.bottom()), plot.width(), 1), colors.line);
  painter.fillRect(QRectF(std::round(plot.left()), plot.top(), 1, plot.height()), colors.line);
  painter.setPen(colors.secondary);
  painter.drawText(QRectF(plot.left(), plot.bottom() + 20, plot.width(), 16), Qt::AlignCenter, x_.title);
  painter.drawText(QRectF(rect.left() + 4, rect.top(), plot.width() / 2, 16),
                   Qt::AlignLeft | Qt::AlignVCenter, y_.title);
  painter.restore();
}

// The legend from the right: colours, then shapes, as far as there is room next to the title of the vertical
// axis.
void ScatterCanvas::paintLegend(QPainter& painter, const QRectF& rect, const QRectF& plot,
                                const QColor&) const {
  const Colors& colors = Theme::instance().colors();
  const QFont small = Theme::instance().uiFont(11);
  const QFontMetricsF metrics(small);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(small);
  const double y = rect.top() + 8;
  double x = plot.right();
  const auto word = [&](const QString& text, const QColor& ink) {
    x -= metrics.horizontalAdvance(text);
    painter.setPen(ink);
    painter.drawText(QPointF(x, y + 4), text);
  };
  const auto fits = [&](const QStringList& words, const QString& title) {
    double width = metrics.horizontalAdvance(title) + 16;
    for (const QString& text : words) width += metrics.horizontalAdvance(text) + 26;
    return x - width > rect.left() + 4 + metrics.horizontalAdvance(y_.title) + 16;
  };
  if (!style_.shapeWords().isEmpty() && fits(style_.shapeWords(), style_.shapeTitle())) {
    for (qsizetype i = style_.shapeWords().size(); i-- > 0;) {
      word(style_.shapeWords()[i], colors.secondary);
      x -= 9;
      painter.setPen(Qt::NoPen);
      painter.setBrush(colors.secondary);
      painter.drawPath(point_shape(static_cast<int>(i), 3.6).translated(x, y));
      x -= 13;
    }
    word(style_.shapeTitle(), colors.secondary);
    x -= 22;
  }
  if (!style_.colourWords().isEmpty() && fits(style_.colourWords(), style_.colourTitle())) {
    if (style_.ramp()) {
      word(style_.colourWords().back(), colors.secondary);
      x -= 6;
      const double width = 72;
      x -= width;
      for (int i = 0; i < kRampSteps; ++i)
        painter.fillRect(QRectF(x + width * i / kRampSteps, y - 4, width / kRampSteps + 0.5, 8),
                         style_.color(i));
      x -= 6;
      word(style_.colourWords().front(), colors.secondary);
      x -= 10;
    } else {
      for (qsizetype i = style_.colourWords().size(); i-- > 0;) {
        word(style_.colourWords()[i], colors.secondary);
        x -= 14;
        painter.setPen(Qt::NoPen);
        painter.setBrush(style_.color(static_cast<int>(i)));
        painter.drawRoundedRect(QRectF(x, y - 4.5, 9, 9), 2, 2);
        x -= 12;
      }
    }
    word(style_.colourTitle(), colors.secondary);
  }
  painter.restore();
}

void ScatterCanvas::paintFront(QPainter& painter, const QRectF& plot, const QColor& ground) const {
  if (front_.empty()) return;
  const Colors& colors = Theme::instance().colors();
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setClipRect(plot.adjusted(-kEdge, -kEdge, kEdge, kEdge));
  QPolygonF line;
  for (int row : front_) line << placeIn(plot, row);
  painter.setPen(QPen(colors.text, 1.4));
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline(line);
  painter.setBrush(ground);
  const double r = front_.size() < 30 ? 3.8 : 2.8;
  for (const QPointF& at : line) painter.drawEllipse(at, r, r);
  painter.restore();
}

// The line of the GPU's memory capacity, drawn above the points because they may be under its label.
void ScatterCanvas::paintLimit(QPainter& painter, const QRectF& plot, const QColor& ground) const {
  const QFont small = Theme::instance().uiFont(11);
  const QFontMetricsF metrics(small);
  const QColor bad = readable(Theme::instance().colors().bad, ground);
  painter.save();
  painter.setFont(small);
  const auto limit = [&](int column, bool upright) {
    if (column < 0 || rows_->column(column).id != QStringLiteral("memory") || capacity_ <= 0) return;
    const AxisScale& scale = upright ? x_ : y_;
    const double share = scale.share(capacity_);
    if (share < 0 || share > 1) return;
    const QString text = capacity_text(static_cast<Wide>(capacity_), units_);
    const double wide = metrics.horizontalAdvance(text) + 6;
    painter.setPen(QPen(bad, 1, Qt::DashLine));
    QRectF place;
    if (upright) {
      const double x = std::round(plot.left() + plot.width() * share) + 0.5;
      painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
      place = QRectF(x - wide - 3, plot.top(), wide, 15);
    } else {
      const double y = std::round(plot.bottom() - plot.height() * share) + 0.5;
      painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
      place = QRectF(plot.left() + 2, y + 2, wide, 15);
    }
    painter.setPen(bad);
    paint_veiled_text(painter, place, text, ground);
  };
  limit(columns_.x, true);
  limit(columns_.y, false);
  painter.restore();
}

void ScatterCanvas::paintMarks(QPainter& painter, const QRectF& plot, const QColor& ground) const {
  const Colors& colors = Theme::instance().colors();
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setClipRect(plot.adjusted(-10, -10, 10, 10));
  painter.setBrush(Qt::NoBrush);
  for (const Marked& marked : marked_) {
    // A design far outside the range of points is marked at the edge, because an axis up to it would squeeze
    // the points.
    const QPointF there = markedPlaceIn(plot, marked);
    const QPointF at(std::clamp(there.x(), plot.left(), plot.right()),
                     std::clamp(there.y(), plot.top(), plot.bottom()));
    const bool beyond = !plot.adjusted(-2, -2, 2, 2).contains(there);
    if (beyond && !at_home_) continue;
    if (marked_.size() > 1 || marked.member > 0) {
      paint_design_mark(painter, at, marked.member, ground);
    } else {
      paint_present_mark(painter, at, plot, beyond ? tr("current, beyond") : tr("current"), ground);
    }
  }
  painter.setBrush(Qt::NoBrush);
  const auto ring = [&](int row, double width, double gap) {
    painter.setPen(QPen(colors.accent, width));
    painter.drawEllipse(placeIn(plot, row), radius() + gap, radius() + gap);
  };
  for (const int row : chosen_)
    if (row != selected_ && passes(row)) ring(row, 1.6, 2.5);
  if (hovered_ >= 0 && hovered_ != selected_) ring(hovered_, 1.4, 2.5);
  if (selected_ >= 0) ring(selected_, 2.4, 4);
  painter.restore();
}

// The rectangle that the person draws.
void ScatterCanvas::paintDrawn(QPainter& painter) const {
  if (drawn_.isEmpty()) return;
  QColor fill = Theme::instance().colors().accent;
  painter.setPen(QPen(fill, 1));
  fill.setAlphaF(0.12);
  painter.setBrush(fill);
  painter.drawRect(drawn_);
}

void ScatterCanvas::paintCard(QPainter& painter, const QRectF& plot, int row) const {
  const Colors& colors = Theme::instance().colors();
  const QFont strong = Theme::instance().uiFont(12, QFont::DemiBold), plain = Theme::instance().uiFont(12);
  const QFontMetricsF strong_metrics(strong), plain_metrics(plain);
  QStringList lines{rows_->figures(row, units_)};
  const auto add = [&](int column) {
    if (column < 0) return;
    const ValueColumn& of = rows_->column(column);
    if (of.axis() || of.id == QStringLiteral("step_time") || of.id == QStringLiteral("memory") ||
        of.id == QStringLiteral("mfu"))
      return;
    lines << of.label + QStringLiteral(": ") + rows_->text(row, column, units_);
  };
  for (int column : {columns_.x, columns_.y, columns_.colour}) add(column);
  lines.removeDuplicates();
  if (std::find(front_.begin(), front_.end(), row) != front_.end())
    lines << tr("On the front: no kept design is better in both figures");
  // A name with many dimensions takes several lines.
  const double most = std::min(360.0, plot.width() - 60);
  QStringList name;
  for (const QString& part : rows_->name(row).split(QStringLiteral(" · "))) {
    const QString longer = name.isEmpty() ? part : name.back() + QStringLiteral(" · ") + part;
    if (!name.isEmpty() && strong_metrics.horizontalAdvance(longer) <= most)
      name.back() = longer;
    else
      name << part;
  }
  double width = 0;
  for (const QString& line : name) width = std::max(width, strong_metrics.horizontalAdvance(line));
  for (const QString& line : lines) width = std::max(width, plain_metrics.horizontalAdvance(line));
  constexpr double kLine = 18, kPad = 10;
  const QSizeF size(width + 2 * kPad, kLine * static_cast<double>(name.size() + lines.size()) + 2 * kPad - 4);
  const QPointF at = place(row);
  QRectF card(at + QPointF(14, -size.height() - 12), size);
  if (card.right() > plot.right()) card.moveRight(at.x() - 14);
  if (card.left() < plot.left()) card.moveLeft(plot.left() + 4);
  if (card.top() < 2) card.moveTop(at.y() + 14);
  if (card.bottom() > height() - 2) card.moveBottom(height() - 2);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(colors.line, 1));
  painter.setBrush(colors.panel);
  painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
  double y = card.top() + kPad - 2;
  painter.setFont(strong);
  painter.setPen(colors.text);
  for (const QString& line : name) {
    painter.drawText(QRectF(card.left() + kPad, y, size.width(), kLine), Qt::AlignLeft | Qt::AlignVCenter,
                     line);
    y += kLine;
  }
  painter.setFont(plain);
  painter.setPen(colors.secondary);
  for (const QString& line : lines) {
    painter.drawText(QRectF(card.left() + kPad, y, size.width(), kLine), Qt::AlignLeft | Qt::AlignVCenter,
                     line);
    y += kLine;
  }
  painter.restore();
}

}  // namespace shardscape::ui

#include "ui/views/graph/wire_labels.h"

#include <QFontMetricsF>
#include <algorithm>
#include <set>
#include <utility>

#include "ui/views/graph/flow_layout.h"

namespace shardscape::ui {
namespace {

// True if the line segment crosses the rectangle.
bool passes(QPointF a, QPointF b, const QRectF& rect) {
  if (a.y() > b.y()) std::swap(a, b);
  const double top = std::max(a.y(), rect.top()), bottom = std::min(b.y(), rect.bottom());
  if (top > bottom) return false;
  const double dy = b.y() - a.y();
  const auto x_at = [&](double y) { return a.x() + (b.x() - a.x()) * (y - a.y()) / dy; };
  const double first = dy > 0 ? x_at(top) : a.x(), second = dy > 0 ? x_at(bottom) : b.x();
  return std::max(first, second) >= rect.left() && std::min(first, second) <= rect.right();
}

// Obstacles for new labels: cards, placed labels and flattened wires.
struct Obstacles {
  std::vector<QRectF> boxes;
  std::vector<QPolygonF> lines;

  bool hit(const QRectF& rect) const {
    for (const QRectF& box : boxes)
      if (box.intersects(rect)) return true;
    for (const QPolygonF& line : lines) {
      if (!line.boundingRect().adjusted(-1, -1, 1, 1).intersects(rect)) continue;
      for (qsizetype i = 0; i + 1 < line.size(); ++i)
        if (passes(line[i], line[i + 1], rect)) return true;
    }
    return false;
  }
};

}  // namespace

void place_labels(Sheet& sheet, const std::vector<QString>& labels, const QFont& font) {
  const QFontMetricsF metrics(font);
  Obstacles obstacles;
  for (const Piece& piece : sheet.pieces) obstacles.boxes.push_back(piece.rect.adjusted(-2, 1, 2, -1));
  for (const Wire& wire : sheet.wires)
    for (const QPolygonF& line : wire.path.toSubpathPolygons()) obstacles.lines.push_back(line);
  std::set<std::pair<int, QString>> named;  // by source
  for (size_t i = 0; i < sheet.wires.size(); ++i) {
    Wire& wire = sheet.wires[i];
    if (labels[i].isEmpty() || named.count({wire.source(), labels[i]})) continue;
    const QSizeF size(metrics.horizontalAdvance(labels[i]), metrics.height());
    // Tries the middle of the line first, then towards both ends; first right of the line, then left.
    for (const double part : {0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8}) {
      QPointF on = wire.path.elementAt(0);
      const QPointF last(wire.bounds.center().x(), wire.bounds.bottom());
      const double y = wire.bounds.top() + (last.y() - wire.bounds.top()) * part;
      for (const QPolygonF& line : wire.path.toSubpathPolygons().mid(0, 1))
        for (qsizetype k = 0; k + 1 < line.size(); ++k)
          if ((line[k].y() - y) * (line[k + 1].y() - y) <= 0 && line[k].y() != line[k + 1].y())
            on = line[k] + (line[k + 1] - line[k]) * ((y - line[k].y()) / (line[k + 1].y() - line[k].y()));
      for (const double left : {on.x() + 7, on.x() - 7 - size.width()}) {
        const QRectF rect(QPointF(left, on.y() - size.height() / 2), size);
        if (left < 0 || obstacles.hit(rect)) continue;
        wire.label = make_line(labels[i], rect.topLeft());
        obstacles.boxes.push_back(rect);
        sheet.size.setWidth(std::max(sheet.size.width(), rect.right()));
        named.insert({wire.source(), labels[i]});
        break;
      }
      if (!wire.label.text.isEmpty()) break;
    }
  }
}

}  // namespace shardscape::ui

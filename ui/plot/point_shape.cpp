#include "ui/plot/point_shape.h"

#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {

// Yellow over green to blue. The ends and the middle are no colours of roles (toolkit/roles.h).
QColor ramp_color(double share) {
  const Colors& c = Theme::instance().colors();
  const bool dark = Theme::instance().mode() == Theme::Mode::Dark;
  const QColor toward = dark ? Qt::white : Qt::black;
  const QColor low = mixed(c.logits, toward, dark ? 0.2 : 0.15), middle = mixed(c.buffers, toward, 0.2),
               high = mixed(c.parameters, Qt::black, dark ? 0.1 : 0.35);
  return share < 0.5 ? mixed(low, middle, 2 * share) : mixed(middle, high, 2 * share - 1);
}

QPainterPath point_shape(int shape, double r) {
  QPainterPath path;
  switch (shape) {
    case 0: path.addEllipse(QPointF(0, 0), r, r); break;
    case 1: path.addRect(QRectF(-0.88 * r, -0.88 * r, 1.76 * r, 1.76 * r)); break;
    case 2:
      path.addPolygon(QPolygonF({{0, -1.3 * r}, {1.18 * r, 0.85 * r}, {-1.18 * r, 0.85 * r}, {0, -1.3 * r}}));
      break;
    case 3:
      path.addPolygon(QPolygonF({{0, -1.3 * r}, {1.3 * r, 0}, {0, 1.3 * r}, {-1.3 * r, 0}, {0, -1.3 * r}}));
      break;
    default: {
      const double a = 1.2 * r, b = 0.42 * r;
      path.addPolygon(QPolygonF({{-b, -a},
                                 {b, -a},
                                 {b, -b},
                                 {a, -b},
                                 {a, b},
                                 {b, b},
                                 {b, a},
                                 {-b, a},
                                 {-b, b},
                                 {-a, b},
                                 {-a, -b},
                                 {-b, -b},
                                 {-b, -a}}));
    }
  }
  return path;
}

}  // namespace shardscape::ui

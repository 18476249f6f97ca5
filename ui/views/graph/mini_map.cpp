#include "ui/views/graph/mini_map.h"

#include <QMouseEvent>
#include <algorithm>

#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {
constexpr double kMargin = 10, kShort = 150, kLong = 230, kLeast = 64;
}

MiniMap::MiniMap(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("mini_map"));
  setAccessibleName(tr("Overview of the graph"));
  setToolTip(tr("Overview: drag to move the view"));
  setCursor(Qt::PointingHandCursor);
}

void MiniMap::setSheet(std::shared_ptr<const Sheet> sheet, const SheetFonts& fonts) {
  sheet_ = std::move(sheet);
  fonts_ = fonts;
  picture_ = {};
  update();
}

void MiniMap::setShown(const QRectF& scene_rect) {
  if (shown_ == scene_rect) return;
  shown_ = scene_rect;
  update();
}

QSize MiniMap::wantedSize(const QSize& view) const {
  if (!sheet_ || sheet_->size.isEmpty()) return {};
  const bool lies = sheet_->size.width() > sheet_->size.height();
  const double most_width = std::min(lies ? kLong : kShort, view.width() * 0.18),
               most_height = std::min(lies ? kShort : kLong, view.height() * 0.4);
  const double scale = std::min(most_width / sheet_->size.width(), most_height / sheet_->size.height());
  const QSizeF drawn = sheet_->size * scale;
  return QSizeF((lies ? drawn.width() : std::max(kLeast, drawn.width())) + 2 * kMargin,
                (lies ? std::max(kLeast / 2, drawn.height()) : drawn.height()) + 2 * kMargin)
      .toSize();
}

ViewTransform MiniMap::transform() const {
  ViewTransform view;
  view.zoom = std::min((width() - 2 * kMargin) / sheet_->size.width(),
                       (height() - 2 * kMargin) / sheet_->size.height());
  view.origin = {(width() - sheet_->size.width() * view.zoom) / 2,
                 (height() - sheet_->size.height() * view.zoom) / 2};
  return view;
}

void MiniMap::paintEvent(QPaintEvent*) {
  if (!sheet_ || sheet_->size.isEmpty()) return;
  const Colors& colors = Theme::instance().colors();
  if (picture_.isNull()) {
    picture_ = QPixmap(size() * devicePixelRatioF());
    picture_.setDevicePixelRatio(devicePixelRatioF());
    picture_.fill(Qt::transparent);
    QPainter painter(&picture_);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(colors.line);
    painter.setBrush(colors.panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    painter.setRenderHint(QPainter::Antialiasing, false);
    paint_sheet(painter, *sheet_, transform(), rect(), fonts_, {});
  }
  QPainter painter(this);
  painter.drawPixmap(0, 0, picture_);
  painter.setRenderHint(QPainter::Antialiasing);
  QColor wash = colors.accent;
  wash.setAlphaF(0.1f);
  painter.setBrush(wash);
  painter.setPen(QPen(colors.accent, 1.5));
  const QRectF inside = QRectF(rect()).adjusted(2, 2, -2, -2);
  painter.drawRoundedRect(transform().map(shown_).intersected(inside), 3, 3);
}

void MiniMap::mousePressEvent(QMouseEvent* event) {
  if (sheet_ && event->button() == Qt::LeftButton)
    Q_EMIT centreRequested(transform().unmap(event->position()));
}

void MiniMap::mouseMoveEvent(QMouseEvent* event) {
  if (sheet_ && event->buttons() & Qt::LeftButton)
    Q_EMIT centreRequested(transform().unmap(event->position()));
}

}  // namespace shardscape::ui

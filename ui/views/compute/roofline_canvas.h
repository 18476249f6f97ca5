// The roofline chart: points are selected by mouse and keys; painted on any device.
#pragma once

#include <QFontMetricsF>
#include <QLineF>
#include <memory>
#include <optional>
#include <utility>

#include "ui/plot/canvas.h"
#include "ui/views/compute/roofline_data.h"

namespace shardscape::ui {

class RooflineCanvas : public Canvas {
  Q_OBJECT
 public:
  explicit RooflineCanvas(QWidget* parent = nullptr);
  void setRoofline(std::shared_ptr<const Report> report, Roofline roofline);
  void setComparedDesigns(std::vector<ComparedRoofline> others);  // outlined points on the same axes
  const std::vector<ComparedRoofline>& others() const { return others_; }
  const Roofline& data() const { return data_; }
  void setSelectedItem(int point);  // -1: none
  int selected() const { return selected_; }
  void setMarked(std::vector<int> points);  // points that belong to the selection of any view
  const std::vector<int>& marked() const { return marked_; }
  QPointF place(int point) const;
  QPointF comparedPointPlace(size_t others, int point) const;
  QString tipAt(const QPointF& point) const override;
  QString describe(const Report& report, const Roofline& roofline,
                   const RooflinePoint& of) const;  // a point as text
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {640, 320}; }
  QSize minimumSizeHint() const override { return {320, 180}; }

 Q_SIGNALS:
  void pointSelected(int point);

 protected:
  bool ready() const override { return !data_.points.empty(); }
  QRectF focusFrame() const override { return selected_ < 0 ? Canvas::focusFrame() : QRectF(); }
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;

 private:
  struct Axes;
  Axes axes(const QRectF& rect) const;
  void paintGrid(QPainter& painter, const QRectF& rect, const Axes& axes) const;
  void paintRoofs(QPainter& painter, const Axes& axes, const QColor& ground) const;
  void paintLegend(QPainter& painter, const QRectF& rect, const Axes& axes) const;
  void paintMark(QPainter& painter, const Axes& axes, const Report& report, const RooflinePoint& point) const;
  void paintComparedDesigns(QPainter& painter, const Axes& axes, const QColor& ground) const;
  void paintLinks(QPainter& painter, const Axes& axes, const QColor& ground) const;
  // The same op in the compared designs, a line for each.
  QString comparedText(const RooflinePoint& of) const;
  void paintNames(QPainter& painter, const Axes& axes, const QColor& ground) const;
  QString cacheLabel() const;
  std::optional<std::pair<QLineF, QRectF>> cacheRoof(const Axes& axes, const QFontMetricsF& metrics) const;
  double radius(const RooflinePoint& point) const;
  int at(const QPointF& point) const;
  std::optional<std::pair<size_t, int>> comparedPointAt(
      const QPointF& point) const;  // index of the compared design, and of its point
  void select(int point);           // emits pointSelected()
  int matchingPoint(size_t others, int point) const;
  std::shared_ptr<const Report> report_;
  Roofline data_;
  std::vector<ComparedRoofline> others_;
  int selected_ = -1;
  std::vector<int> marked_;
};

QString roofline_title(const Report& report, const RooflinePoint& point);  // "QKV projection"

}  // namespace shardscape::ui

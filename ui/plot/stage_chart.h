// A chart of stacked bars, one per pipeline stage: selected by mouse and keyboard, painted on any device.
#pragma once

#include <functional>
#include <memory>

#include "ui/plot/bar_data.h"
#include "ui/plot/canvas.h"

namespace shardscape::ui {

class StageChart : public Canvas {
  Q_OBJECT
 public:
  static constexpr int kWholeStage = -1;

  explicit StageChart(QWidget* parent = nullptr);
  ~StageChart() override;

  void setData(BarData data);
  const BarData& data() const;
  // Outlines the stage, and one of its segments; of a compared design, its bar.
  void setSelectedItem(int stage, int series, int member = 0);
  // Marks segments that belong to the selection of any view: of one stage, and of compared designs.
  void setMarked(int stage, std::vector<int> series, std::vector<BarMark> others);
  const std::vector<int>& marked() const;
  const std::vector<BarMark>& markedComparedBars() const;
  int selectedStage() const;
  int selectedSeries() const;
  int selectedMember() const;
  // Where a segment is drawn, in this widget's coordinates.
  QRectF segmentRect(int stage, int series, int member = 0) const;

  QSize sizeHint() const override { return {640, 320}; }
  QSize minimumSizeHint() const override { return {320, 150}; }
  // Paints title and background in this size; vector devices stay vectors. more: paints further content on
  // the device.
  void paintOn(QPaintDevice& device, QSize size, double scale = 1,
               const std::function<void(QPainter&)>& more = {}) const;
  QString tipAt(const QPointF& at) const override;

 Q_SIGNALS:
  void barSelected(int stage, int series);  // series: kWholeStage where no segment was hit
  void comparedItemSelected(int member, int stage, int series);  // a segment of another design

 protected:
  bool ready() const override;
  void themeChanged() override { restyle(); }
  QRectF focusFrame() const override { return {}; }  // the selected bar shows the focus
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  int nextSeries(int stage, int step) const;  // the next series with a value; past the ends: the whole stage
  void moveToDesign(int designs);             // selects the same segment of another design
  void restyle();
  void replot();
  void setGround(const QColor& ground) const;
  void fitTicks(QSize size) const;
  QString tipText(int stage, int series, int member = 0) const;
  std::vector<BarMark> marks() const;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace shardscape::ui

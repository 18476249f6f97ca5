// Figures of several designs as groups of bars, in columns: one kind of figures each, with one scale.
#pragma once

#include <QWidget>
#include <vector>

#include "base/units.h"
#include "explore/comparison.h"

namespace shardscape::ui {

// "9.84 s", "61.3 GiB"; "-" where a design has none.
QString figure_text(FigureKind kind, double value, UnitSystem units);

QString group_text(FigureGroup group);

class GroupedBars : public QWidget {
  Q_OBJECT
 public:
  explicit GroupedBars(QWidget* parent = nullptr);
  void setFigures(std::vector<ComparedFigure> figures, UnitSystem units);
  struct Row {
    int group = 0, figure = 0;  // places in groups(); in the figures given
    QRectF area;                // with its label, in the widget
    std::vector<QRectF> bars;   // one per design
  };
  std::vector<Row> rows() const;
  const std::vector<FigureGroup>& groups() const { return groups_; }
  QString tipAt(const QPointF& point) const;
  void setMarked(
      std::vector<int> figures);  // places in the figures given: that belong to what is selected in any view
  const std::vector<int>& marked() const { return marked_; }
  int fullHeight() const;
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const;  // for an export
  QSize sizeHint() const override { return {640, fullHeight()}; }
  QSize minimumSizeHint() const override { return {320, fullHeight()}; }

 Q_SIGNALS:
  void figureSelected(int figure);
  void cleared();

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  std::vector<Row> rowsIn(const QRectF& rect) const;
  double columnWidth(const QRectF& rect) const;
  int designs() const;
  double rowHeight() const;
  std::vector<ComparedFigure> figures_;
  std::vector<FigureGroup> groups_;
  std::vector<int> marked_;
  int here_ = -1;  // where the keys are: a place in rows()
  UnitSystem units_ = UnitSystem::Binary;
};

}  // namespace shardscape::ui

// Figures of several designs as groups of bars, in columns: one kind of figures each, with one scale.
// Painted: rows have words, letters and values, which QCustomPlot's bars have not.
#pragma once

#include <vector>

#include "base/units.h"
#include "explore/comparison.h"
#include "ui/plot/canvas.h"

namespace shardscape::ui {

// "9.84 s", "61.3 GiB"; "-" where a design has none.
QString figure_text(FigureKind kind, double value, UnitSystem units);

QString group_text(FigureGroup group);

class GroupedBars : public Canvas {
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
  QString tipAt(const QPointF& point) const override;
  void setMarked(
      std::vector<int> figures);  // places in the figures given: that belong to what is selected in any view
  const std::vector<int>& marked() const { return marked_; }
  int fullHeight() const;
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {640, fullHeight()}; }
  QSize minimumSizeHint() const override { return {320, fullHeight()}; }

 Q_SIGNALS:
  void figureSelected(int figure);
  void cleared();

 protected:
  bool ready() const override { return !groups_.empty(); }
  QRectF focusFrame() const override { return here_ < 0 ? Canvas::focusFrame() : QRectF(); }
  void paintWindow(QPainter& painter, const QRect& exposed) override;
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  bool clear() override;

 private:
  void goTo(int row);  // the nearest that there is
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

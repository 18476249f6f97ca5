// A treemap of the bytes of one stage at its peak: categories, in them groups of tensors, in them layers.
// Arrows go to the next tile in their direction, Home and End to the largest and the smallest tile.
#pragma once

#include <memory>
#include <vector>

#include "base/units.h"
#include "plan/report.h"
#include "ui/plot/canvas.h"
#include "ui/views/memory/peak_tiles.h"

namespace shardscape::ui {

struct BarSeries;

class MemoryTreemap : public Canvas {
  Q_OBJECT
 public:
  explicit MemoryTreemap(QWidget* parent);
  void setReport(std::shared_ptr<const Report> report, int stage, UnitSystem units);  // with memory
  bool shows(const Report* report) const { return report && report == report_.get(); }
  const StageMemory& memory() const { return report_->memory->stages[static_cast<size_t>(stage_)]; }
  const std::vector<PeakTile>& tiles() const { return tiles_; }
  std::vector<QRectF> tileRects(const QRectF& area) const;  // of tiles(), in the same order
  QString nameOf(const PeakTile& tile) const;               // "Attention, saved for the backward, layer 3"
  QString textOf(const PeakTile& tile) const;               // its bytes and its share of the peak
  QString tipAt(const QPointF& at) const override;
  int selected() const { return selected_; }
  void select(int tile);                     // -1: none
  void setMarked(std::vector<char> marked);  // of tiles(): belongs to the selection of any view
  const std::vector<char>& marked() const { return marked_; }
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {640, 340}; }
  QSize minimumSizeHint() const override { return {320, 140}; }

 Q_SIGNALS:
  void tileSelected(int tile);  // by mouse or keyboard; -1: cleared

 protected:
  bool ready() const override { return !tiles_.empty(); }
  QRectF focusFrame() const override { return selected_ < 0 ? Canvas::focusFrame() : QRectF(); }
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  bool clear() override;

 private:
  struct Box {  // a category or a contributor: its rectangle and its tiles
    QRectF rect, content;
    size_t first = 0, end = 0;
    QString title;  // empty: no room
  };
  struct Boxes {
    QRectF area;
    std::vector<Box> categories, contributors;
    std::vector<QRectF> tiles;
  };
  // Each contributor of a model of 16,384 layers may have a tile per layer, so the last boxes are kept for
  // mouse moves.
  const Boxes& boxes(const QRectF& area) const;
  std::vector<Box> split(size_t first, size_t end, const QRectF& area, bool by_category) const;
  const MemoryContributor& contributor(const PeakTile& tile) const;
  int tileAt(const QPointF& at) const;
  void choose(int tile);
  void paintTiles(QPainter& painter, const Boxes& boxes, const Box& of, const QColor& ground) const;
  // of_several: the tensors have tiles of several layers.
  void paintTile(QPainter& painter, const PeakTile& tile, const QRectF& rect, bool of_several,
                 const BarSeries& series, const QColor& ground) const;
  void paintMarks(QPainter& painter, const Boxes& boxes) const;
  std::shared_ptr<const Report> report_;
  int stage_ = 0, selected_ = -1;
  UnitSystem units_ = UnitSystem::Binary;
  std::vector<PeakTile> tiles_;
  mutable Boxes boxes_;
  std::vector<char> marked_;
};

}  // namespace shardscape::ui

// The mesh as a widget: ranks are selected by mouse and arrow keys; painted on any device.
#pragma once

#include <memory>

#include "ui/plot/canvas.h"
#include "ui/views/communication/mesh_painter.h"

namespace shardscape::ui {

class MeshCanvas : public Canvas {
  Q_OBJECT
 public:
  explicit MeshCanvas(QWidget* parent = nullptr);
  // groups: the groups of the selected rank. chosen: the index of the shown group; -1: none.
  void setMesh(std::shared_ptr<const Report> report, std::vector<RankGroup> groups, qint64 selected,
               int chosen);
  MeshLayout meshLayout() const;
  QString sentence() const;
  const std::vector<RankGroup>& groups() const { return groups_; }
  const MeshGrid* grid() const { return grid_.get(); }
  QString tipAt(const QPointF& point) const override;

  QSize sizeHint() const override { return {640, 320}; }
  QSize minimumSizeHint() const override { return {320, 160}; }
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;

 Q_SIGNALS:
  void rankSelected(qint64 rank);

 protected:
  bool ready() const override { return grid_ != nullptr; }
  void paintWindow(QPainter& painter, const QRect& exposed) override;
  QRectF focusFrame() const override { return {}; }  // the selected rank shows the focus
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;

 private:
  std::optional<qint64> rankAt(const QPointF& point) const;
  qint64 membersIn(const MeshBlock& block, const MeshLayout& layout, qint64* first) const;
  void goSideways(MeshPlace& place, const MeshLayout& layout, int64_t step) const;
  void goUpright(MeshPlace& place, const MeshLayout& layout, int64_t step) const;
  MeshDrawing drawing() const;
  std::shared_ptr<const Report> report_;
  std::unique_ptr<MeshGrid> grid_;
  std::vector<RankGroup> groups_;
  qint64 selected_ = 0;
  int chosen_ = -1;
  mutable MeshWindow window_;  // the last shown part, so that the picture does not jump
};

}  // namespace shardscape::ui

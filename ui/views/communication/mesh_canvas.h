// The picture of the mesh as a widget: selected by mouse and arrow keys, painted on any device.
#pragma once

#include <QWidget>
#include <memory>

#include "ui/views/communication/mesh_painter.h"

namespace shardscape::ui {

class MeshCanvas : public QWidget {
  Q_OBJECT
 public:
  explicit MeshCanvas(QWidget* parent = nullptr);
  // Groups: of the selected rank. chosen: index of the one that is shown, -1 where there is none.
  void setMesh(std::shared_ptr<const Report> report, std::vector<RankGroup> groups, qint64 selected,
               int chosen);
  MeshLayout meshLayout() const;
  QString sentence() const;
  const std::vector<RankGroup>& groups() const { return groups_; }
  const MeshGrid* grid() const { return grid_.get(); }
  QString tipAt(const QPointF& point) const;

  QSize sizeHint() const override { return {640, 320}; }
  QSize minimumSizeHint() const override { return {320, 160}; }
  void paint(QPaintDevice& device, QSize size, double scale, const QString& title) const;

 Q_SIGNALS:
  void rankSelected(qint64 rank);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  std::optional<qint64> rankAt(const QPointF& point) const;
  qint64 membersIn(const MeshBlock& block, const MeshLayout& layout, qint64* first) const;
  MeshDrawing drawing() const;
  std::shared_ptr<const Report> report_;
  std::unique_ptr<MeshGrid> grid_;
  std::vector<RankGroup> groups_;
  qint64 selected_ = 0;
  int chosen_ = -1;
  mutable MeshWindow window_;  // what was shown last stays in place
};

}  // namespace shardscape::ui

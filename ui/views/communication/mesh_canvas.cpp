#include "ui/views/communication/mesh_canvas.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QToolTip>
#include <algorithm>

#include "plan/rank_mesh.h"
#include "ui/toolkit/arrow_keys.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/communication/mesh_text.h"

namespace shardscape::ui {

MeshCanvas::MeshCanvas(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAccessibleName(tr("Mesh of all ranks"));
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void MeshCanvas::setMesh(std::shared_ptr<const Report> report, std::vector<RankGroup> groups, qint64 selected,
                         int chosen) {
  if (report != report_) {
    report_ = std::move(report);
    grid_ = report_ ? std::make_unique<MeshGrid>(mesh_of(*report_), report_->design.cluster.gpus_per_node)
                    : nullptr;
  }
  groups_ = std::move(groups);
  selected_ = selected;
  chosen_ = chosen;
  setAccessibleDescription(sentence());
  update();
}

QString MeshCanvas::sentence() const { return grid_ ? mesh_sentence(*grid_, selected_, groups_) : QString(); }

MeshDrawing MeshCanvas::drawing() const {
  return {grid_.get(), &groups_, selected_, chosen_, hasFocus(), Theme::instance().colors().ground, {}};
}

MeshLayout MeshCanvas::meshLayout() const {
  MeshLayout layout = paint_mesh(nullptr, rect(), drawing(), window_);
  window_ = layout.window();
  return layout;
}

void MeshCanvas::paint(QPaintDevice& device, QSize size, double scale, const QString& title) const {
  QPainter painter;
  if (!painter.begin(&device)) return;
  painter.scale(scale, scale);
  MeshDrawing of = drawing();
  of.title = title;
  of.focused = false;
  of.ground = Theme::instance().colors().panel;
  painter.fillRect(QRectF(QPointF(), QSizeF(size)), of.ground);
  if (grid_) paint_mesh(&painter, QRectF(QPointF(), QSizeF(size)).adjusted(16, 12, -16, -10), of, window_);
}

void MeshCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  if (!grid_) return;
  window_ = paint_mesh(&painter, rect(), drawing(), window_).window();
}

qint64 MeshCanvas::membersIn(const MeshBlock& block, const MeshLayout& layout, qint64* first) const {
  if (chosen_ < 0) return 0;
  qint64 count = 0;
  for (const int64_t rank : groups_[static_cast<size_t>(chosen_)].ranks) {
    if (!(layout.blockOf(rank) == block)) continue;
    if (count++ == 0 && first) *first = rank;
  }
  return count;
}

std::optional<qint64> MeshCanvas::rankAt(const QPointF& point) const {
  if (!grid_) return std::nullopt;
  const MeshLayout layout = meshLayout();
  if (const std::optional<int64_t> rank = layout.rankAt(point)) return *rank;
  const std::optional<MeshBlock> block = layout.blockAt(point);
  if (!block) return std::nullopt;
  qint64 rank = layout.firstRank(*block);
  membersIn(*block, layout, &rank);  // a member of the group where there is one
  return rank;
}

QString MeshCanvas::tipAt(const QPointF& point) const {
  if (!grid_) return {};
  const MeshLayout layout = meshLayout();
  if (const std::optional<int64_t> rank = layout.rankAt(point))
    return rank_tip(*report_, *grid_, *rank, selected_, groups_);
  const std::optional<MeshBlock> block = layout.blockAt(point);
  if (!block) return {};
  if (layout.ranksIn(*block) == 1)
    return rank_tip(*report_, *grid_, layout.firstRank(*block), selected_, groups_);
  const QString name = chosen_ < 0 ? QString() : text_of(groups_[static_cast<size_t>(chosen_)].name);
  return block_tip(*grid_, layout, *block, membersIn(*block, layout, nullptr), name);
}

bool MeshCanvas::event(QEvent* event) {
  if (keep_arrow_keys(event, {Qt::Key_PageUp, Qt::Key_PageDown})) return true;
  if (event->type() == QEvent::ToolTip) return true;  // shown by moving already
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) update();
  return QWidget::event(event);
}

void MeshCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
  if (const std::optional<qint64> rank = rankAt(event->position())) Q_EMIT rankSelected(*rank);
}

void MeshCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QString tip = tipAt(event->position());
  setCursor(tip.isEmpty() ? Qt::ArrowCursor : Qt::PointingHandCursor);
  if (tip.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(event->globalPosition().toPoint(),
                       QStringLiteral("<div style='white-space:pre'>%1</div>").arg(tip), this);
}

void MeshCanvas::leaveEvent(QEvent*) { QToolTip::hideText(); }

void MeshCanvas::keyPressEvent(QKeyEvent* event) {
  if (!grid_) return QWidget::keyPressEvent(event);
  const MeshLayout layout = meshLayout();
  const int64_t per_line = layout.cellsPerLine(), cells = grid_->cells(), columns = grid_->columns();
  MeshPlace place = grid_->place(selected_);
  // Left and right run along a line of cells and on into the next column; up and down along the lines and
  // stages.
  const auto sideways = [&](int64_t step) {
    const int64_t line = place.cell / per_line, end = std::min(cells, (line + 1) * per_line);
    place.cell += step;
    if (place.cell >= line * per_line && place.cell < end) return;
    const bool stays = place.column + step < 0 || place.column + step >= columns;
    if (!stays) place.column += step;
    place.cell = (step > 0) == stays ? end - 1 : line * per_line;
  };
  const auto upright = [&](int64_t step) {
    const int64_t next = place.cell + step * per_line, across = place.cell % per_line;
    if (next >= 0 && next < cells) {
      place.cell = next;
    } else if (place.stage + step >= 0 && place.stage + step < grid_->stages()) {
      place.stage += step;
      const int64_t last = (cells - 1 - across) / per_line * per_line + across;
      place.cell = step > 0 ? across : last;
    }
  };
  switch (event->key()) {
    case Qt::Key_Left: sideways(-1); break;
    case Qt::Key_Right: sideways(+1); break;
    case Qt::Key_Up: upright(-1); break;
    case Qt::Key_Down: upright(+1); break;
    case Qt::Key_PageUp: place.column = std::max<int64_t>(0, place.column - layout.shownColumns()); break;
    case Qt::Key_PageDown: place.column = std::min(columns - 1, place.column + layout.shownColumns()); break;
    case Qt::Key_Home: place.column = 0; break;
    case Qt::Key_End: place.column = columns - 1; break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space: break;  // shows the group in the inspector again
    default: return QWidget::keyPressEvent(event);
  }
  QToolTip::hideText();  // it tells of another rank soon
  Q_EMIT rankSelected(grid_->rank(place));
}

}  // namespace shardscape::ui

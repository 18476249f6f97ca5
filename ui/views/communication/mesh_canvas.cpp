#include "ui/views/communication/mesh_canvas.h"

#include <algorithm>

#include "design/cluster.h"
#include "plan/rank_mesh.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/communication/mesh_text.h"

namespace shardscape::ui {

MeshCanvas::MeshCanvas(QWidget* parent) : Canvas(QString(), tr("Mesh of all ranks"), parent) {}

void MeshCanvas::setMesh(std::shared_ptr<const Report> report, std::vector<RankGroup> groups, qint64 selected,
                         int chosen) {
  if (report != report_) {
    report_ = std::move(report);
    grid_ = report_ ? std::make_unique<MeshGrid>(mesh_of(*report_), report_->design.cluster.gpus_per_node,
                                                 scaleup_domain(report_->design))
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
  return {grid_.get(), &groups_, selected_, chosen_, hasFocus(), Theme::instance().colors().ground};
}

MeshLayout MeshCanvas::meshLayout() const {
  MeshLayout layout = paint_mesh(nullptr, rect(), drawing(), window_);
  window_ = layout.window();
  return layout;
}

void MeshCanvas::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  if (!grid_) return;
  MeshDrawing of = drawing();
  of.focused = false;
  of.ground = ground;
  paint_mesh(&painter, rect, of, window_);
}

void MeshCanvas::paintWindow(QPainter& painter, const QRect&) {
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
  membersIn(*block, layout, &rank);  // the first member of the shown group in the block, if any
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

void MeshCanvas::click(const QPointF& at, Qt::KeyboardModifiers) {
  if (const std::optional<qint64> rank = rankAt(at)) Q_EMIT rankSelected(*rank);
}

// Moves along a line of cells, and from its end into the next column.
void MeshCanvas::goSideways(MeshPlace& place, const MeshLayout& layout, int64_t step) const {
  const int64_t per_line = layout.cellsPerLine(), columns = grid_->columns(), line = place.cell / per_line,
                end = std::min<int64_t>(grid_->cells(), (line + 1) * per_line);
  place.cell += step;
  if (place.cell >= line * per_line && place.cell < end) return;
  const bool stays = place.column + step < 0 || place.column + step >= columns;
  if (!stays) place.column += step;
  place.cell = (step > 0) == stays ? end - 1 : line * per_line;
}

// Moves along lines of cells, and from the last line into the next stage.
void MeshCanvas::goUpright(MeshPlace& place, const MeshLayout& layout, int64_t step) const {
  const int64_t per_line = layout.cellsPerLine(), cells = grid_->cells(), next = place.cell + step * per_line,
                across = place.cell % per_line;
  if (next >= 0 && next < cells) {
    place.cell = next;
  } else if (place.stage + step >= 0 && place.stage + step < grid_->stages()) {
    place.stage += step;
    const int64_t last = (cells - 1 - across) / per_line * per_line + across;
    place.cell = step > 0 ? across : last;
  }
}

bool MeshCanvas::go(Way way, Qt::KeyboardModifiers) {
  const MeshLayout layout = meshLayout();
  const int64_t last = grid_->columns() - 1;
  MeshPlace place = grid_->place(selected_);
  switch (way) {
    case Way::Left: goSideways(place, layout, -1); break;
    case Way::Right: goSideways(place, layout, +1); break;
    case Way::Up: goUpright(place, layout, -1); break;
    case Way::Down: goUpright(place, layout, +1); break;
    case Way::PageUp: place.column = std::max<int64_t>(0, place.column - layout.shownColumns()); break;
    case Way::PageDown: place.column = std::min<int64_t>(last, place.column + layout.shownColumns()); break;
    case Way::First: place.column = 0; break;
    case Way::Last: place.column = last; break;
  }
  Q_EMIT rankSelected(grid_->rank(place));
  return true;
}

// Enter shows the group in the inspector again.
bool MeshCanvas::activate() {
  Q_EMIT rankSelected(selected_);
  return true;
}

}  // namespace shardscape::ui

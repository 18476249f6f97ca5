#include "ui/views/graph/graph_canvas.h"

#include <QPainter>
#include <QResizeEvent>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "ui/inspector/saved_edges.h"
#include "ui/toolkit/graph_text.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {
constexpr double kLeastZoom = 0.004, kMostZoom = 3, kMargin = 24;
}

GraphCanvas::GraphCanvas(GraphScene* scene, QWidget* parent)
    : Canvas(QStringLiteral("graph_canvas"), tr("Graph of the design"), parent),
      scene_(scene),
      mini_map_(new MiniMap(this)) {
  setMinimumSize(240, 160);
  mini_map_->hide();
  connect(scene_, &GraphScene::sheetChanged, this, &GraphCanvas::takeSheet);
  connect(scene_, &GraphScene::lateChanged, this, qOverload<>(&QWidget::update));
  connect(mini_map_, &MiniMap::centreRequested, this, [this](QPointF scene) {
    view_.origin = QRectF(rect()).center() - scene * view_.zoom;
    at_home_ = false;
    moved();
  });
}

void GraphCanvas::themeChanged() {
  mini_map_->setSheet(sheet_, scene_->fonts());
  update();
}

std::optional<Spot> GraphCanvas::exactly(const NodeId& id) const {
  if (!sheet_ || id.level == NodeLevel::Root) return std::nullopt;
  auto spot = locate(*sheet_, id);
  // A card of a run of layers or stages represents each of them.
  const bool in_run = spot && spot->id.level == id.level &&
                      (id.level == NodeLevel::Unit || id.level == NodeLevel::Stage);
  return spot && (spot->id == id || in_run) ? spot : std::nullopt;
}

QRectF GraphCanvas::nodeRect(const NodeId& id) const {
  const auto spot = exactly(id);
  return spot ? view_.map(spot->rect) : QRectF();
}

QPointF GraphCanvas::wirePoint(int segment, TensorId tensor) const {
  std::optional<QPointF> found;
  const auto search = [&](const auto& self, const Sheet& sheet, QPointF at) -> void {
    for (const Wire& wire : sheet.wires)
      if (!found && wire.segment == segment && wire.tensor == tensor)
        found = view_.map(at + wire.path.pointAtPercent(0.4));
    for (const Piece& piece : sheet.pieces)
      if (!found && piece.inside) self(self, *piece.inside, at + piece.rect.topLeft() + piece.inside_at);
  };
  if (sheet_) search(search, *sheet_, {});
  return found.value_or(QPointF());
}

void GraphCanvas::takeSheet(bool other_graph) {
  // Keeps a node in place: the node that was acted on, else the selected node, else the node in the middle.
  if (!anchor_ && sheet_ && !at_home_) {
    auto spot = exactly(selected_);
    if (!spot || !view_.map(spot->rect).intersects(QRectF(rect())))
      spot = spot_at(*sheet_, view_.unmap(QRectF(rect()).center()));
    if (spot) anchor_ = {spot->id, view_.map(QPointF(spot->rect.center().x(), spot->rect.top()))};
  }
  sheet_ = scene_->sheet();
  if (other_graph && renamed_) {
    if (anchor_ && anchor_->first == selected_ && renamed_->level != NodeLevel::Root)
      anchor_->first = *renamed_;
    selected_ = *std::exchange(renamed_, std::nullopt);
  }
  wire_.reset();
  mini_map_->setSheet(sheet_, scene_->fonts());
  if (at_home_ && !anchor_) {
    goHome();
  } else if (const auto held = std::exchange(anchor_, std::nullopt)) {
    if (const auto spot = locate(*sheet_, held->first)) {
      view_.origin = held->second - QPointF(spot->rect.center().x(), spot->rect.top()) * view_.zoom;
      at_home_ = false;
    }
  }
  if (std::exchange(reveal_next_, {}) == selected_ && selected_.level != NodeLevel::Root) {
    if (const auto spot = exactly(selected_)) bringIntoView(spot->rect);
  }
  // An unfolded run of layers or stages is replaced by its first one.
  if (const auto spot = exactly(selected_);
      spot && spot->id == selected_ &&
      spot->piece->units != std::exchange(selected_units_, spot->piece->units))
    Q_EMIT nodeSelected(selected_, selected_units_);
  moved();
}

void GraphCanvas::goHome() {
  if (!sheet_ || sheet_->size.isEmpty()) return;
  // At the start a large graph shows its first stage at a readable zoom, not the whole graph as dots.
  const double wide = (width() - 2 * kMargin) / sheet_->size.width(),
               high = (height() - 2 * kMargin) / sheet_->size.height();
  constexpr double kStillReadable = 0.8;
  const bool rightwards = scene_->options().rightwards;
  const double across = rightwards ? high : wide, along = rightwards ? wide : high;
  view_.zoom = std::clamp(std::min({1.0, across, along >= kStillReadable ? along : 1.0}), 0.5, 1.0);
  const QSizeF shown = sheet_->size * view_.zoom;
  const bool ends_in_view = shown.width() <= width() - 2 * kMargin;
  view_.origin = {rightwards && !ends_in_view ? kMargin : (width() - shown.width()) / 2, kMargin};
  at_home_ = true;
  moved();
}

void GraphCanvas::fit() {
  if (!sheet_ || sheet_->size.isEmpty()) return;
  const double wide = (width() - 2 * kMargin) / sheet_->size.width(),
               high = (height() - 2 * kMargin) / sheet_->size.height();
  view_.zoom = std::clamp(std::min({1.0, wide, high}), kLeastZoom, kMostZoom);
  view_.origin = QRectF(rect()).center() -
                 QPointF(sheet_->size.width(), sheet_->size.height()) / 2 * view_.zoom;
  at_home_ = false;
  moved();
}

void GraphCanvas::zoomBy(double factor) { zoomAt(factor, QRectF(rect()).center()); }

void GraphCanvas::zoomAt(double factor, const QPointF& at) {
  const double zoom = std::clamp(view_.zoom * factor, kLeastZoom, kMostZoom);
  // Zoom 1 is sharpest: a zoom step across 1 stops at 1.
  const double settled = (view_.zoom < 1 && zoom > 1) || (view_.zoom > 1 && zoom < 1) ||
                                 std::abs(zoom - 1) < 0.02
                             ? 1
                             : zoom;
  const QPointF scene = view_.unmap(at);
  view_.zoom = settled;
  view_.origin = at - scene * settled;
  at_home_ = false;
  moved();
}

void GraphCanvas::keepInReach() {
  if (!sheet_) return;
  const QRectF shown = view_.map(QRectF(QPointF(), sheet_->size));
  const double keep = 80;
  view_.origin.rx() += std::max(0.0, keep - shown.right()) - std::max(0.0, shown.left() - (width() - keep));
  view_.origin.ry() += std::max(0.0, keep - shown.bottom()) - std::max(0.0, shown.top() - (height() - keep));
  view_.origin = {std::round(view_.origin.x()), std::round(view_.origin.y())};
}

void GraphCanvas::moved() {
  keepInReach();
  placeMiniMap();
  Q_EMIT zoomChanged(view_.zoom);
  update();
}

void GraphCanvas::placeMiniMap() {
  if (!sheet_) return;
  const QRectF scene(QPointF(), sheet_->size), shown(view_.unmap(QPointF()), QSizeF(size()) / view_.zoom);
  const QSize wanted = mini_map_->wantedSize(size());
  const bool useful = !shown.contains(scene) && width() > 3 * wanted.width() &&
                      height() > wanted.height() + 2 * kMargin;
  // The first corner without a node under the map.
  constexpr int kGap = 16;
  const int right = width() - wanted.width() - kGap, bottom = height() - wanted.height() - kGap;
  const QPoint corners[] = {{right, kGap}, {right, bottom}, {kGap, kGap}, {kGap, bottom}};
  const auto* free = std::find_if(std::begin(corners), std::end(corners), [&](const QPoint& at) {
    return !has_card_in(*sheet_, {view_.unmap(QPointF(at)), QSizeF(wanted) / view_.zoom});
  });
  const bool fits = useful && free != std::end(corners);
  mini_map_->setVisible(fits);
  if (!fits) return;
  mini_map_->setGeometry(QRect(*free, wanted));
  mini_map_->setShown(shown);
}

void GraphCanvas::bringIntoView(const QRectF& scene) {
  const QRectF target = view_.map(scene),
               room = QRectF(rect()).adjusted(kMargin, kMargin, -kMargin, -kMargin);
  if (room.contains(target)) return;
  const bool far = !QRectF(rect()).intersects(target);
  QPointF shift;
  if (far) {
    shift = room.center() - target.center();
  } else {  // a short move; if the node does not fit, its upper left corner is shown
    if (target.right() > room.right()) shift.setX(room.right() - target.right());
    if (target.left() + shift.x() < room.left()) shift.setX(room.left() - target.left());
    if (target.bottom() > room.bottom()) shift.setY(room.bottom() - target.bottom());
    if (target.top() + shift.y() < room.top()) shift.setY(room.top() - target.top());
  }
  view_.origin += shift;
  at_home_ = false;
  moved();
}

void GraphCanvas::keepInPlace(const NodeId& id) {
  if (const auto spot = exactly(id))
    anchor_ = {id, view_.map(QPointF(spot->rect.center().x(), spot->rect.top()))};
}

void GraphCanvas::setHits(const SearchHits& hits) {
  hits_ = hits;
  update();
}

void GraphCanvas::setSelectedOps(SelectedOps ops) {
  selected_ops_ = std::move(ops);
  update();
}

void GraphCanvas::setDifferences(std::vector<DifferenceMarks> differences) {
  differences_ = std::move(differences);
  update();
}

void GraphCanvas::setHeat(std::shared_ptr<const GraphHeat> heat) {
  heat_ = std::move(heat);
  update();
}

void GraphCanvas::toggle(const NodeId& id) {
  keepInPlace(id);
  if (scene_->isExpanded(id))
    scene_->collapse(id);
  else
    scene_->expand(id);
  if (!scene_->pending()) anchor_.reset();
}

void GraphCanvas::select(const NodeId& id) {
  const auto spot = exactly(id);
  if (!spot) return;
  selected_ = spot->id;
  selected_units_ = spot->piece->units;
  wire_.reset();
  describe(*spot);
  update();
  Q_EMIT nodeSelected(spot->id, spot->piece->units);
}

void GraphCanvas::clearSelection() {
  selected_ = {};
  wire_.reset();
  update();
  Q_EMIT selectionCleared();
}

void GraphCanvas::reveal(const NodeId& id) {
  scene_->expandPath(id);
  if (!scene_->pending()) {
    select(id);
    if (const auto spot = exactly(id)) bringIntoView(spot->rect);
    return;
  }
  selected_ = reveal_next_ = id;
  selected_units_ = 1;
  // The inspector's text does not depend on the sheet.
  Q_EMIT nodeSelected(id, 1);
}

void GraphCanvas::describe(const Spot& spot) {
  QString text = spot.piece->title.text;
  if (!spot.piece->detail.text.isEmpty()) text += QStringLiteral(", ") + spot.piece->detail.text;
  if (scene_->tree() && spot.id.level != NodeLevel::Stage)
    text += QStringLiteral(", ") + scene_->tree()->place_text(spot.id);
  if (const auto share = heat_ ? heat_->share(*spot.piece, spot.id) : std::nullopt)
    text += (heat_->of() == HeatOf::Time ? tr(", %1 of the time") : tr(", %1 of the bytes"))
                .arg(percent_text(*share));
  if (spot.id.level == NodeLevel::Op)
    for (const DifferenceMarks& marks : differences_) {
      if (marks.otherwise.has_op(spot.piece->segment, spot.id.op))
        text += tr(", different or missing in %1").arg(marks.letter);
      else if (marks.sized.has_op(spot.piece->segment, spot.id.op))
        text += tr(", other size in %1").arg(marks.letter);
    }
  if (spot.piece->expandable) text += spot.piece->inside ? tr(", unfolded") : tr(", folded");
  setAccessibleDescription(text);
}

void GraphCanvas::resizeEvent(QResizeEvent* event) {
  scene_->setViewport(size());
  if (at_home_) return goHome();
  // A wider view shows more on both sides of its centre.
  if (event->oldSize().width() > 0)
    view_.origin.rx() += (event->size().width() - event->oldSize().width()) / 2.0;
  moved();
}

void GraphCanvas::paintWindow(QPainter& painter, const QRect& exposed) {
  const Colors& colors = Theme::instance().colors();
  painter.fillRect(exposed, colors.ground);
  PaintMarks marks{selected_, hovered_,      hasFocus(),     nullptr,    {},
                   &hits_,    &differences_, &selected_ops_, heat_.get()};
  if (wire_) {
    marks.selected_wire = wire_->wire;
    marks.selected_wire_around = wire_->around;
  }
  paint_sheet(painter, *sheet_, view_, exposed, scene_->fonts(), marks);
  paintSavedEdges(painter);
  if (heat_) paint_heat_legend(painter, rect(), heat_->of());
  if (scene_->late()) {  // the shown sheet is older than the last request
    QColor veil = colors.ground;
    veil.setAlphaF(0.5f);
    painter.fillRect(exposed, veil);
  }
}

QRectF GraphCanvas::focusFrame() const {
  return selected_.level == NodeLevel::Root && !wire_ ? Canvas::focusFrame() : QRectF();
}

void GraphCanvas::paintSavedEdges(QPainter& painter) const {
  if (selected_.level != NodeLevel::Op || !scene_->tree() || selected_.unit >= scene_->tree()->units())
    return;
  const GraphTree& tree = *scene_->tree();
  const Segment& segment = tree.segment(tree.segment_of(selected_.unit));
  if (selected_.op >= static_cast<OpId>(segment.ops.size())) return;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  QPen pen(Theme::instance().colors().activations, 1.4);
  pen.setDashPattern({4, 3});
  painter.setPen(pen);
  for (const SavedEdge& edge : saved_edges(segment, selected_.op)) {
    const auto from = locate(*sheet_, tree.op_node(selected_.unit, edge.from, selected_.stage)),
               to = locate(*sheet_, tree.op_node(selected_.unit, edge.to, selected_.stage));
    // Both ends must be on the sheet, on different cards.
    if (!from || !to || from->piece == to->piece || from->id.level <= NodeLevel::Unit ||
        to->id.level <= NodeLevel::Unit)
      continue;
    const QRectF a = view_.map(from->rect), b = view_.map(to->rect);
    const bool rightwards = a.center().x() < b.center().x();
    const QPointF start(rightwards ? a.right() : a.left(), a.center().y()),
        end(rightwards ? b.left() : b.right(), b.center().y());
    const double reach = std::max(24.0, std::abs(end.x() - start.x()) / 2) * (rightwards ? 1 : -1);
    QPainterPath path(start);
    path.cubicTo(start + QPointF(reach, 0), end - QPointF(reach, 0), end);
    const double back = rightwards ? -6 : 6;
    painter.drawPath(path);
    painter.drawLine(end, end + QPointF(back, -4));
    painter.drawLine(end, end + QPointF(back, 4));
  }
  painter.restore();
}

}  // namespace shardscape::ui

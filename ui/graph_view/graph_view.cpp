#include "ui/graph_view/graph_view.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QShowEvent>
#include <QShortcut>
#include <QVBoxLayout>

#include "ui/charts/chart_notice.h"
#include "ui/charts/communication_inspection.h"
#include "ui/graph_view/inspect.h"
#include "ui/graph_view/segments.h"
#include "ui/widgets/search_field.h"

namespace shardscape::ui {

GraphView::GraphView(Session* session, QWidget* parent)
    : QWidget(parent), session_(session), scene_(new GraphScene(this)), canvas_(new GraphCanvas(scene_, this)) {
  setObjectName(QStringLiteral("graph_view"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeBar());
  auto* hairline = new QFrame(this);
  hairline->setObjectName(QStringLiteral("hairline"));
  hairline->setFixedHeight(1);
  column->addWidget(hairline);
  column->addWidget(canvas_, 1);
  new ChartNotice(session_, canvas_);

  connect(session_, &Session::reportChanged, this, &GraphView::takeReport);
  connect(session_, &Session::unitsChanged, this, [this] {
    scene_->setUnits(session_->units());
    inspectAgain();
  });
  connect(scene_, &GraphScene::sheetChanged, this, [this](bool other_graph) {
    inspected_wire_ = {};  // the canvas lets go of it too
    if (!other_graph) return;
    search();
    inspectAgain();
  });
  connect(canvas_, &GraphCanvas::nodeSelected, this, &GraphView::inspectNode);
  connect(canvas_, &GraphCanvas::wireSelected, this, &GraphView::inspectWire);
  connect(canvas_, &GraphCanvas::selectionCleared, this, [this] {
    inspected_ = {};
    inspected_wire_ = {};
    session_->setPick({}, this);
    session_->inspect({});
  });
  connect(session_, &Session::pickChanged, this, &GraphView::followPick);
  connect(canvas_, &GraphCanvas::searchRequested, this, &GraphView::activateSearch);
  auto* find = new QShortcut(QKeySequence::Find, this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
  connect(find, &QShortcut::activated, this, &GraphView::activateSearch);
  scene_->setUnits(session_->units());
  takeReport();
}

QWidget* GraphView::makeBar() {
  auto* bar = new QWidget(this);
  bar->setAutoFillBackground(true);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(16, 8, 16, 8);
  row->setSpacing(12);

  auto* passes = new Segments(tr("Direction"), {tr("Forward"), tr("Backward"), tr("Both")}, bar);
  passes->setObjectName(QStringLiteral("passes"));
  connect(passes, &Segments::chosen, this, [this](int index) { scene_->setPasses(static_cast<Passes>(index)); });
  row->addWidget(passes);

  auto* notation = new Segments(tr("Notation"), {tr("Symbols"), tr("Numbers")}, bar);
  notation->setObjectName(QStringLiteral("notation"));
  connect(notation, &Segments::chosen, this, [this](int index) { scene_->setNumbers(index == 1); });
  row->addWidget(notation);

  search_field_ = new SearchField({tr("Search ops, shapes, groups"), tr("Search")}, bar);
  search_field_->setObjectName(QStringLiteral("graph_search"));
  search_field_->setAccessibleName(tr("Search in the graph"));
  search_field_->setMinimumWidth(110);
  search_field_->setMaximumWidth(260);
  connect(search_field_, &SearchField::searched, this, &GraphView::search);
  // Unfolding a layer makes the next folded one a stop of its own; the list is kept until the words change.
  connect(search_field_, &SearchField::entered, this, [this](int match) { canvas_->reveal(found_.stops[static_cast<size_t>(match)]); });
  connect(search_field_, &SearchField::left, canvas_, [this] { canvas_->setFocus(Qt::OtherFocusReason); });
  row->addWidget(search_field_, 1);
  row->addStretch(0);

  const auto add_button = [&](const QString& text, const QString& name, const QString& tip, auto action) {
    auto* button = new QPushButton(text, bar);
    button->setObjectName(name);
    button->setAccessibleName(tip);
    button->setToolTip(tip);
    // A sign needs no room for words.
    if (text.size() == 1) button->setStyleSheet(QStringLiteral("QPushButton { padding: 0; min-width: 28px; max-width: 28px; }"));
    connect(button, &QPushButton::clicked, this, action);
    row->addWidget(button);
  };
  row->setSpacing(8);
  add_button(QString(QChar(0x2212)), QStringLiteral("zoom_out"), tr("Zoom out (-)"), [this] { zoomOut(); });
  add_button(QStringLiteral("+"), QStringLiteral("zoom_in"), tr("Zoom in (+)"), [this] { zoomIn(); });
  add_button(tr("Fit"), QStringLiteral("fit"), tr("Fit the whole graph (F)"), [this] { fit(); });
  return bar;
}

void GraphView::zoomIn() { canvas_->zoomBy(1.25); }
void GraphView::zoomOut() { canvas_->zoomBy(1 / 1.25); }

void GraphView::activateSearch() { search_field_->activate(); }

void GraphView::takeReport() {
  if (session_->report()) scene_->setReport(session_->report());
}

void GraphView::search() {
  found_ = {};
  if (scene_->outline()) found_ = search_ops(*scene_->outline(), scene_->options(), scene_->expanded(), search_field_->text());
  canvas_->setHits(found_.hits);
  search_field_->setMatches(static_cast<int>(found_.stops.size()));
}

void GraphView::inspectNode(const NodeId& id, int units) {
  if (!scene_->outline()) return;
  inspected_ = id;
  inspected_units_ = units;
  inspected_wire_ = {};
  if (id.level == NodeLevel::Op && !following_ && isVisible()) {
    Pick pick;
    pick.kind = PickKind::Op;
    pick.stage = id.stage;
    pick.unit = id.unit;
    pick.op = id.op;
    session_->setPick(pick, this);
  }
  if (!isVisible()) return;  // the inspector is another view's
  session_->inspect(inspect_node(*scene_->outline(), id, units, scene_->options().passes, session_->units()));
}

void GraphView::followPick(const QObject* by) {
  if (by == this || !scene_->outline()) return;
  const Pick& pick = session_->pick();
  const Outline& outline = *scene_->outline();
  int unit = pick.unit, op = pick.op;
  if (pick.kind == PickKind::Collective) {
    const StageReport* stage = pick.stage < outline.stages() ? &outline.report().stages[static_cast<size_t>(pick.stage)] : nullptr;
    const auto found = stage ? first_op_behind(outline.report(), *stage, pick) : std::nullopt;
    if (!found) return;
    op = found->second;
    unit = -1;
    for (const auto& [first, end] : outline.units_of(pick.stage))
      for (int u = first; u < end && unit < 0; ++u)
        if (outline.segment_of(u) == found->first) unit = u;
  } else if (pick.kind != PickKind::Op) {
    return;
  }
  if (unit < 0 || unit >= outline.units() || op < 0 || op >= static_cast<int>(outline.segment(outline.segment_of(unit)).ops.size())) return;
  const QScopedValueRollback<bool> guard(following_, true);
  canvas_->reveal(outline.op_node(unit, op, pick.stage));
}

void GraphView::inspectWire(const WireSpot& spot) {
  if (!scene_->outline()) return;
  inspected_ = {};
  const QString where = spot.around.stage >= 0 ? scene_->outline()->place_text(spot.around) : tr("between stages");
  inspected_wire_ = inspect_tensor(*scene_->outline(), spot.wire->segment, spot.wire->tensor, where, spot.wire->transfer, session_->units());
  session_->inspect(inspected_wire_);
}

void GraphView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (!event->spontaneous()) showSelection();
}

void GraphView::showSelection() {
  // A line is a thing of the drawing it was picked in; its words hold as long as the drawing.
  session_->inspect(inspected_.level == NodeLevel::Root ? inspected_wire_ : Inspection{});
  inspectAgain();
}

void GraphView::inspectAgain() {
  if (inspected_.level == NodeLevel::Root || !scene_->outline()) return;
  const Outline& outline = *scene_->outline();
  if (inspected_.stage >= outline.stages() || inspected_.unit >= outline.units()) return;
  if (inspected_.unit >= 0) {
    const Segment& segment = outline.segment(outline.segment_of(inspected_.unit));
    if (inspected_.op >= static_cast<int>(segment.ops.size()) || inspected_.block >= static_cast<int>(segment.blocks.size())) return;
  }
  inspectNode(inspected_, inspected_units_);
}

}  // namespace shardscape::ui

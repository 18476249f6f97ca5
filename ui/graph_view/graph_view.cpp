#include "ui/graph_view/graph_view.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QShowEvent>
#include <QShortcut>
#include <QVBoxLayout>

#include "ui/charts/chart_notice.h"
#include "ui/charts/communication_inspection.h"
#include "ui/graph_view/inspect.h"
#include "ui/graph_view/segments.h"

namespace shardscape::ui {
namespace {

constexpr int kRoomySearch = 200;  // a narrower field has a bare number of matches, and no button that clears it

}  // namespace

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

  search_field_ = new QLineEdit(bar);
  search_field_->setObjectName(QStringLiteral("graph_search"));
  search_field_->setAccessibleName(tr("Search in the graph"));
  search_field_->setToolTip(tr("Enter goes to the next match, Shift+Enter to the one before"));
  search_field_->setMinimumWidth(110);
  search_field_->setMaximumWidth(260);
  search_field_->installEventFilter(this);
  connect(search_field_, &QLineEdit::textChanged, this, [this] {
    at_match_ = -1;
    search();
  });
  row->addWidget(search_field_, 1);
  match_count_ = new QLabel(search_field_);  // inside: the bar has no room to spare
  match_count_->setObjectName(QStringLiteral("match_count"));
  match_count_->setProperty("role", QStringLiteral("small"));
  match_count_->setAttribute(Qt::WA_TransparentForMouseEvents);
  match_count_->hide();
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

void GraphView::activateSearch() {
  search_field_->setFocus(Qt::ShortcutFocusReason);
  search_field_->selectAll();
}

void GraphView::takeReport() {
  if (session_->report()) scene_->setReport(session_->report());
}

void GraphView::search() {
  found_ = {};
  if (scene_->outline()) found_ = search_ops(*scene_->outline(), scene_->options(), scene_->expanded(), search_field_->text());
  canvas_->setHits(found_.hits);
  showMatchCount();
}

void GraphView::showMatchCount() {
  const auto count = static_cast<int>(found_.stops.size());
  const bool roomy = search_field_->width() >= kRoomySearch;
  QString words;
  if (search_field_->text().trimmed().isEmpty()) words.clear();
  else if (at_match_ >= 0) words = (roomy ? tr("%1 of %2") : tr("%1/%2")).arg(at_match_ + 1).arg(count);
  else if (!roomy) words = QString::number(count);
  else if (count == 0) words = tr("no match");
  else words = count == 1 ? tr("1 match") : tr("%1 matches").arg(count);
  match_count_->setText(words);
  match_count_->setVisible(!words.isEmpty());
  placeMatchCount();
}

void GraphView::placeMatchCount() {
  constexpr int kEdge = 9, kClearButton = 24;
  const bool clear = search_field_->width() >= kRoomySearch;  // Escape clears too
  if (search_field_->isClearButtonEnabled() != clear) search_field_->setClearButtonEnabled(clear);
  const QSize size = match_count_->sizeHint();
  const int right = search_field_->width() - kEdge - (clear ? kClearButton : 0);
  match_count_->setGeometry(right - size.width(), (search_field_->height() - size.height()) / 2, size.width(), size.height());
  const int taken = match_count_->isHidden() ? 0 : size.width() + 4;
  if (search_field_->textMargins().right() != taken) search_field_->setTextMargins(0, 0, taken, 0);
}

void GraphView::findAgain(int step) {
  if (found_.stops.empty()) return;
  const auto count = static_cast<int>(found_.stops.size());
  at_match_ = at_match_ < 0 ? (step > 0 ? 0 : count - 1) : (at_match_ + step + count) % count;
  const NodeId match = found_.stops[static_cast<size_t>(at_match_)];
  canvas_->reveal(match);
  // Unfolding a layer makes the next folded one a stop of its own; the list is kept until the words change.
  showMatchCount();
}

bool GraphView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == search_field_ && event->type() == QEvent::Resize) {
    // The short word where the long one would be cut.
    const QString hint = tr("Search ops, shapes, groups");
    constexpr int kPadding = 44;  // margins and the clear button
    const bool fits = search_field_->fontMetrics().horizontalAdvance(hint) + kPadding <= search_field_->width();
    search_field_->setPlaceholderText(fits ? hint : tr("Search"));
    if (match_count_) showMatchCount();
  }
  if (watched == search_field_ && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
      findAgain(key->modifiers() & Qt::ShiftModifier ? -1 : 1);
      return true;
    }
    if (key->key() == Qt::Key_Escape) {
      search_field_->clear();
      canvas_->setFocus(Qt::OtherFocusReason);
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
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
  canvas_->reveal(outline.op_node(unit, op));
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

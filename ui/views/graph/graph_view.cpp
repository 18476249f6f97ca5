#include "ui/views/graph/graph_view.h"

#include <QActionGroup>
#include <QComboBox>
#include <QFrame>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QShortcut>
#include <QShowEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <tuple>
#include <utility>

#include "ui/inspector/node_inspection.h"
#include "ui/plot/chart_notice.h"
#include "ui/plot/design_choice.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/icons.h"
#include "ui/toolkit/search_field.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/wrapping_bar.h"

namespace shardscape::ui {

GraphView::GraphView(SelectionState* state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      session_(state->session()),
      scene_(new GraphScene(this)),
      canvas_(new GraphCanvas(scene_, this)),
      comparison_(
          state->session()->comparisons(), this,
          [](const ComparedDesign& of, const std::shared_ptr<const Report>& present, std::stop_token) {
            return std::make_shared<const Differences>(
                Differences{graph_difference(*present, *of.report), graph_difference(*of.report, *present)});
          },
          [this] { markDifferences(); }) {
  setObjectName(QStringLiteral("graph_view"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeBar());
  difference_bar_ = makeDifferenceBar();
  column->addWidget(difference_bar_);
  auto* hairline = new QFrame(this);
  hairline->setObjectName(QStringLiteral("hairline"));
  hairline->setFixedHeight(1);
  column->addWidget(hairline);
  column->addWidget(canvas_, 1);
  new ChartNotice(session_, canvas_);

  connect(session_, &Session::reportChanged, this, &GraphView::takeReport);
  connect(session_, &Session::estimateChanged, this, [this] {
    colourNodes();
    inspectAgain();
  });
  connect(session_, &Session::unitsChanged, this, [this] {
    scene_->setUnits(session_->units());
    inspectAgain();
  });
  connect(scene_, &GraphScene::sheetChanged, this, [this](bool other_graph) {
    inspected_wire_ = {};  // the canvas clears its selected line too
    if (!other_graph) return;
    if (showsPresent()) {  // the node may have moved or vanished
      const NodeLevel before = std::exchange(inspected_, canvas_->selected()).level;
      if (before != NodeLevel::Root && inspected_.level == NodeLevel::Root && isVisible())
        state_->inspect({});
    }
    search();
    markDifferences();
    markSelected();
    colourNodes();
    if (const auto node = std::exchange(select_next_, std::nullopt)) {
      const QScopedValueRollback<bool> guard(following_, true);
      canvas_->reveal(*node);
    }
    if (std::exchange(follow_next_, false)) followSelection(nullptr);
    inspectAgain();
  });
  connect(canvas_, &GraphCanvas::differenceRequested, this, &GraphView::stepDifference);
  connect(choice_, &DesignChoice::changed, this, &GraphView::showChosen);
  connect(canvas_, &GraphCanvas::nodeSelected, this, &GraphView::selectNode);
  connect(canvas_, &GraphCanvas::wireSelected, this, &GraphView::inspectWire);
  connect(canvas_, &GraphCanvas::selectionCleared, this, [this] {
    inspected_ = {};
    inspected_wire_ = {};
    if (following_) return;
    if (!follow_next_) state_->selectInAllViews({}, this);
    state_->inspect({});
  });
  connect(state_, &SelectionState::selectionChanged, this, &GraphView::followSelection);
  connect(canvas_, &GraphCanvas::searchRequested, this, &GraphView::activateSearch);
  auto* find = new QShortcut(QKeySequence::Find, this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
  connect(find, &QShortcut::activated, this, &GraphView::activateSearch);
  scene_->setUnits(session_->units());
  takeReport();
}

QWidget* GraphView::makeBar() {
  auto* bar = new WrappingBar({12, 8, 12, 8}, this);
  bar->setAutoFillBackground(true);
  bar->add(makeChoices(bar), 0);
  bar->add(makeTools(bar), 1);
  return bar;
}

// What the nodes show.
QLayout* GraphView::makeChoices(QWidget* bar) {
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  passes_ = new SegmentedControl(tr("Direction"), {tr("Forward"), tr("Backward"), tr("Both")}, bar);
  passes_->setObjectName(QStringLiteral("passes"));
  connect(passes_, &SegmentedControl::chosen, this,
          [this](int index) { scene_->setPasses(static_cast<Passes>(index)); });
  row->addWidget(passes_);

  auto* notation = new SegmentedControl(tr("Notation"), {tr("Symbols"), tr("Numbers")}, bar);
  notation->setObjectName(QStringLiteral("notation"));
  connect(notation, &SegmentedControl::chosen, this, [this](int index) { scene_->setNumbers(index == 1); });
  row->addWidget(notation);

  heat_choice_ = new QComboBox(bar);
  heat_choice_->setObjectName(QStringLiteral("heat"));
  heat_choice_->setAccessibleName(tr("Colour of nodes"));
  heat_choice_->setToolTip(
      tr("Colours nodes by kind, or by their share of time or of bytes that they move (memory or links)"));
  heat_choice_->addItems({tr("Kind"), tr("Time"), tr("Bytes")});
  connect(heat_choice_, &QComboBox::currentIndexChanged, this, &GraphView::colourNodes);
  row->addWidget(heat_choice_);
  return row;
}

// Search, direction and zoom.
QLayout* GraphView::makeTools(QWidget* bar) {
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  search_field_ = new SearchField({tr("Search ops, shapes, groups"), tr("Search")}, bar);
  search_field_->setObjectName(QStringLiteral("graph_search"));
  search_field_->setAccessibleName(tr("Search in the graph"));
  search_field_->setMinimumWidth(60);
  search_field_->setMaximumWidth(260);
  connect(search_field_, &SearchField::searched, this, &GraphView::search);
  // Unfolding a layer adds a stop at the next folded layer. The list of stops is kept until the search text
  // changes.
  connect(search_field_, &SearchField::entered, this,
          [this](int match) { canvas_->reveal(found_.stops[static_cast<size_t>(match)]); });
  connect(search_field_, &SearchField::left, canvas_, [this] { canvas_->setFocus(Qt::OtherFocusReason); });
  row->addWidget(search_field_, 1);
  row->addStretch(0);

  const auto add_button = [&](const QString& text, const QString& name, const QString& tip, auto action) {
    auto* button = new QPushButton(text, bar);
    button->setObjectName(name);
    button->setAccessibleName(tip);
    button->setToolTip(tip);
    button->setProperty("narrow", text.size() == 1);
    connect(button, &QPushButton::clicked, this, action);
    row->addWidget(button);
  };
  row->addWidget(makeFlowButton(bar));
  add_button(QString(QChar(0x2212)), QStringLiteral("zoom_out"), tr("Zoom out (-)"), [this] { zoomOut(); });
  add_button(QStringLiteral("+"), QStringLiteral("zoom_in"), tr("Zoom in (+)"), [this] { zoomIn(); });
  add_button(tr("Fit"), QStringLiteral("fit"), tr("Fit the whole graph (F)"), [this] { fit(); });
  return row;
}

// A menu: Auto, Top to bottom, Left to right. The icon shows the current direction.
QPushButton* GraphView::makeFlowButton(QWidget* bar) {
  flow_button_ = new QPushButton(bar);
  flow_button_->setObjectName(QStringLiteral("flow"));
  flow_button_->setAccessibleName(tr("Direction of stages"));
  flow_button_->setProperty("narrow", true);
  auto* menu = new QMenu(flow_button_);
  auto* group = new QActionGroup(menu);
  const QString names[] = {tr("Auto: by the shape of the view"), tr("Top to bottom"), tr("Left to right")};
  for (int i = 0; i < 3; ++i) {
    QAction* action = group->addAction(menu->addAction(names[i]));
    action->setCheckable(true);
    connect(action, &QAction::triggered, this, [this, i] { setFlow(static_cast<FlowChoice>(i)); });
  }
  connect(menu, &QMenu::aboutToShow, this,
          [this, group] { group->actions()[static_cast<int>(scene_->flowChoice())]->setChecked(true); });
  flow_button_->setMenu(menu);
  const auto show = [this] {
    const bool rightwards = scene_->options().rightwards;
    setThemedIcon(flow_button_, rightwards ? QStringLiteral("flow_right") : QStringLiteral("flow_down"));
    flow_button_->setToolTip(rightwards ? tr("Stages run from left to right")
                                        : tr("Stages run from top to bottom"));
  };
  connect(scene_, &GraphScene::flowChanged, flow_button_, show);
  show();
  return flow_button_;
}

void GraphView::setFlow(FlowChoice flow) { scene_->setFlow(flow); }

// Without an estimate, nodes have no times; colours by kind stay until it arrives.
void GraphView::colourNodes() {
  const auto of = static_cast<HeatOf>(heat_choice_->currentIndex());
  const GraphTree* tree = scene_->tree();
  const Simulation* simulation = tree ? session_->simulationOf(tree->report()) : nullptr;
  if (!tree || of == HeatOf::Kind || (of == HeatOf::Time && !simulation)) return canvas_->setHeat(nullptr);
  canvas_->setHeat(std::make_shared<const GraphHeat>(
      scene_->sharedTree(), simulation ? simulation->ops.get() : nullptr, of, scene_->options().passes));
}

QWidget* GraphView::makeDifferenceBar() {
  auto* bar = new QWidget(this);
  bar->setObjectName(QStringLiteral("difference_bar"));
  bar->setAutoFillBackground(true);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(16, 0, 16, 8);
  row->setSpacing(12);
  choice_ = new DesignChoice(session_, tr("Graph of"), bar);
  row->addWidget(choice_);
  difference_words_ = new ElidedLabel(bar, Theme::instance().uiFont(12));
  difference_words_->setObjectName(QStringLiteral("difference_words"));
  row->addWidget(difference_words_, 1);
  row->setSpacing(8);
  const auto add = [&](const QString& text, const QString& tip, int by) {
    auto* button = new QPushButton(text, bar);
    button->setAccessibleName(tip);
    button->setToolTip(tip);
    button->setProperty("narrow", true);
    connect(button, &QPushButton::clicked, this, [this, by] { stepDifference(by); });
    row->addWidget(button);
    return button;
  };
  previous_ = add(QString(QChar(0x2191)), tr("The previous difference (Shift+N)"), -1);
  next_ = add(QString(QChar(0x2193)), tr("The next difference (N)"), 1);
  return bar;
}

// The report of the drawn graph; null while the chosen design's graph is being laid out.
std::shared_ptr<const Report> GraphView::shown() const {
  for (const auto& report : {session_->report(), choice_->report()})
    if (scene_->tree() && report.get() == &scene_->tree()->report()) return report;
  return nullptr;
}

bool GraphView::showsPresent() const {
  return scene_->tree() && &scene_->tree()->report() == session_->report().get();
}

std::vector<GraphView::ComparedGraph> GraphView::comparedGraphs() const {
  std::vector<ComparedGraph> out;
  const Report* shown = scene_->tree() ? &scene_->tree()->report() : nullptr;
  for (const auto& one : comparison_.all()) {
    if (shown == compared_.get())
      out.push_back({one.member, &one.result->from, one.design.report});
    else if (shown == one.design.report.get())
      return {{0, &one.result->to, compared_}};
  }
  return out;
}

// Shows the chosen design's graph and selects the same node, if the graph has it.
void GraphView::showChosen() {
  const std::shared_ptr<const Report> report = choice_->report();
  if (!report || !report->valid()) return;
  offerPasses();
  const GraphTree* before = scene_->tree();
  select_next_.reset();
  if (before && &before->report() != report.get()) {
    const Selection there = remapToDesign(selectionFor(inspected_, inspected_units_),
                                          {&before->report(), nullptr}, {report.get(), nullptr}, 0);
    if (const NodeId node = nodeOf(there, GraphTree(report)); node.level != NodeLevel::Root) {
      select_next_ = node;
      canvas_->rename(node);
    } else {
      const QScopedValueRollback<bool> guard(following_, true);  // the selection of other views stays
      canvas_->clearSelection();
      state_->inspect({});
    }
  }
  inspected_ = {};
  scene_->setReport(report);
}

void GraphView::markDifferences() {
  const bool pinned = session_->comparisons()->size() > 0;
  difference_bar_->setVisible(pinned);
  if (pinned && isVisible() && session_->report() && session_->report()->valid()) {
    compared_ = session_->report();
    comparison_.show(compared_);
  }
  std::vector<DifferenceMarks> marks;
  QStringList words;
  stops_.clear();
  const std::vector<ComparedGraph> others = comparedGraphs();
  if (const GraphTree* tree = scene_->tree(); tree && !others.empty()) {
    const auto segments = tree->graph().segments.size();
    std::vector<std::vector<OpId>> otherwise(segments), sized(segments);
    for (const ComparedGraph& other : others) {
      DifferenceMarks of{
          Comparisons::letter(other.member), Theme::instance().designColor(other.member), {}, {}};
      words << difference_text(of.letter, *other.difference);
      for (size_t s = 0; s < segments; ++s)
        for (size_t i = 0; i < other.difference->ops[s].size(); ++i) {
          const OpDiffers how = other.difference->ops[s][i].how;
          const auto op = static_cast<OpId>(i);
          const bool backward = op >= tree->segment(static_cast<int>(s)).backward_begin;
          if (how == OpDiffers::No || !shows(scene_->options().passes, backward)) continue;
          const bool size = how == OpDiffers::Size;
          (size ? of.sized : of.otherwise)
              .add(static_cast<int>(s), backward, tree->segment(static_cast<int>(s)).op(op).block, op);
          std::vector<OpId>& list = (size ? sized : otherwise)[s];
          if (std::find(list.begin(), list.end(), op) == list.end()) list.push_back(op);
        }
      marks.push_back(std::move(of));
    }
    // N steps through size differences only if there are no other differences.
    stops_ = stops_of(*tree, scene_->expanded(), otherwise);
    if (stops_.empty()) stops_ = stops_of(*tree, scene_->expanded(), sized);
  }
  canvas_->setDifferences(std::move(marks));
  for (QPushButton* button : {previous_, next_}) button->setEnabled(!stops_.empty());
  difference_words_->setText(words.isEmpty() ? tr("Comparing…") : words.join(QStringLiteral("  ·  ")));
}

void GraphView::stepDifference(int by) {
  if (stops_.empty()) return;
  const auto at = std::find(stops_.begin(), stops_.end(), canvas_->selected());
  const auto count = static_cast<int>(stops_.size());
  const int next = at == stops_.end() ? (by > 0 ? 0 : count - 1)
                                      : (static_cast<int>(at - stops_.begin()) + by + count) % count;
  const NodeId node = stops_[static_cast<size_t>(next)];  // reveal() rebuilds the list
  canvas_->reveal(node);
}

void GraphView::addComparedValues(Inspection& to, const NodeId& id) const {
  if (id.level != NodeLevel::Op) return;
  const GraphTree& tree = *scene_->tree();
  const int segment = tree.segment_of(id.unit);
  for (const ComparedGraph& other : comparedGraphs()) {
    to.more_title = tr("In the other designs");
    to.more.append(
        {Comparisons::letter(other.member),
         op_there_text(*other.report, other.difference->segments[static_cast<size_t>(segment)],
                       other.difference->ops[static_cast<size_t>(segment)][static_cast<size_t>(id.op)],
                       session_->units())});
  }
}

void GraphView::zoomIn() { canvas_->zoomBy(1.25); }
void GraphView::zoomOut() { canvas_->zoomBy(1 / 1.25); }

void GraphView::activateSearch() { search_field_->activate(); }

// The graph of a pinned design stays while the present design is edited.
void GraphView::takeReport() {
  offerPasses();
  const std::shared_ptr<const Report> report = session_->report();
  if (!report || choice_->member() > 0) return markDifferences();
  if (report->valid() && !(scene_->tree() && showsPresent())) {
    const GraphTree tree(report);
    const bool stage = inspected_.level == NodeLevel::Stage && inspected_.stage < tree.stages();
    canvas_->rename(stage ? inspected_ : nodeOf(state_->selection(), tree));
  }
  scene_->setReport(report);
}

NodeId GraphView::nodeOf(const Selection& selection, const GraphTree& tree) {
  if (selection.unit < 0 || selection.unit >= tree.units()) return {};
  const Segment& segment = tree.segment(tree.segment_of(selection.unit));
  NodeId node = tree.unit_node(selection.unit, selection.stage);
  switch (selection.kind) {
    case SelectionKind::Op:
      return selection.op >= 0 && selection.op < static_cast<int>(segment.ops.size())
                 ? tree.op_node(selection.unit, selection.op, selection.stage)
                 : NodeId();
    case SelectionKind::Block:
      node.level = NodeLevel::Block;
      node.block = selection.block;
      node.backward = selection.backward;
      return selection.block >= 0 && selection.block < static_cast<int>(segment.blocks.size()) ? node
                                                                                               : NodeId();
    case SelectionKind::Unit: return node;
    default: return {};
  }
}

// Marks every op that belongs to the selection. A selected node has its own frame instead. In the graph of
// another design, marks the same ops.
void GraphView::markSelected() {
  SelectedOps marks;
  std::shared_ptr<const ResolvedSelection> resolved = state_->sharedResolvedSelection();
  const std::shared_ptr<const Report> report = scene_->tree() ? shown() : nullptr;
  if (report && !showsPresent() && session_->report()) {
    const int stage = Comparisons::sameStagePlace(state_->stage(),
                                                  static_cast<int>(session_->report()->stages.size()),
                                                  static_cast<int>(report->stages.size()));
    resolved = std::make_shared<const ResolvedSelection>(
        remapToDesign(state_->selection(), {session_->report().get(), nullptr}, {report.get(), nullptr},
                      stage),
        report, nullptr);
  }
  const Selection& selection = resolved->selection();
  const bool node = selection.kind == SelectionKind::Block || selection.kind == SelectionKind::Unit ||
                    (selection.kind == SelectionKind::Op && selection.units == 1 && !selection.kernel);
  if (report && resolved->report() == report.get() && !resolved->nothing() && !node) {
    const GraphTree& tree = *scene_->tree();
    marks.stage = selection.stage;
    std::tie(marks.first_unit, marks.end_unit) = resolved->units();
    for (int s = 0; s < static_cast<int>(tree.graph().segments.size()); ++s)
      for (OpId id = 0; id < static_cast<OpId>(tree.segment(s).ops.size()); ++id)
        if (resolved->op(s, id))
          marks.ops.add(s, id >= tree.segment(s).backward_begin, tree.segment(s).op(id).block, id);
  }
  canvas_->setSelectedOps(std::move(marks));
}

// Inference has forward passes only.
void GraphView::offerPasses() {
  const std::shared_ptr<const Report> report = choice_->member() == 0 ? session_->report()
                                                                      : choice_->report();
  const bool backward = !report || trains(report->design);
  for (const Passes passes : {Passes::Backward, Passes::Both}) {
    QPushButton* button = passes_->button(static_cast<int>(passes));
    button->setEnabled(backward);
    button->setToolTip(backward ? QString() : tr("Inference has no backward pass"));
  }
  if (backward || passes_->current() == static_cast<int>(Passes::Forward)) return;
  passes_->setCurrent(static_cast<int>(Passes::Forward));
  scene_->setPasses(Passes::Forward);
}

void GraphView::search() {
  found_ = {};
  if (scene_->tree())
    found_ = search_ops(*scene_->tree(), scene_->options(), scene_->expanded(), search_field_->text());
  canvas_->setHits(found_.hits);
  search_field_->setMatches(static_cast<int>(found_.stops.size()));
}

Selection GraphView::selectionFor(const NodeId& id, int units) {
  Selection selection;
  selection.kind = id.level == NodeLevel::Op      ? SelectionKind::Op
                   : id.level == NodeLevel::Block ? SelectionKind::Block
                   : id.level == NodeLevel::Unit  ? SelectionKind::Unit
                                                  : SelectionKind::Nothing;
  if (selection.kind == SelectionKind::Nothing) return selection;
  selection.stage = id.stage;
  selection.unit = id.unit;
  selection.units = units;
  selection.op = id.op;
  selection.block = selection.kind == SelectionKind::Block ? id.block : -1;
  selection.backward = selection.kind == SelectionKind::Block && id.backward;
  return selection;
}

void GraphView::selectNode(const NodeId& id, int units) {
  if (!scene_->tree()) return;
  if (!following_ && isVisible() && showsPresent()) {
    inspected_ = id;
    state_->selectInAllViews(selectionFor(id, units), this);
    if (id.level == NodeLevel::Stage) state_->setStage(id.stage);
  } else if (!following_ && isVisible() && choice_->member() > 0 &&
             shown().get() == choice_->report().get()) {
    // Selects the same node of the present design in all views. A selection of this node stays, because it
    // may also cover equal layers.
    inspected_ = id;
    const Selection here = remapToDesign(selectionFor(id, units), {shown().get(), nullptr},
                                         {session_->report().get(), nullptr}, 0);
    if (const Selection& now = state_->selection(); now.kind != here.kind || now.unit != here.unit ||
                                                    now.op != here.op || now.block != here.block ||
                                                    now.backward != here.backward)
      state_->selectInAllViews(here, this);
  }
  inspectNode(id, units);
}

void GraphView::inspectNode(const NodeId& id, int units) {
  if (!scene_->tree()) return;
  inspected_ = id;
  inspected_units_ = units;
  inspected_wire_ = {};
  if (!isVisible()) return;  // another view fills the inspector
  Inspection of = inspect_node(*scene_->tree(), id, units, scene_->options().passes, session_->units(),
                               session_->simulationOf(scene_->tree()->report()));
  if (!difference_bar_->isHidden() && choice_->member() > 0)
    of.title = QStringLiteral("%1: %2").arg(Comparisons::letter(choice_->member()), of.title);
  addComparedValues(of, id);
  state_->inspect(of);
}

void GraphView::followSelection(const QObject* by) {
  markSelected();
  if (by == this || by == state_ || !scene_->tree()) return;  // state_: takeReport() has handled this
  const ResolvedSelection& resolved = state_->resolvedSelection();
  const Selection& selection = resolved.selection();
  const bool leads = selection.kind == SelectionKind::Op || selection.kind == SelectionKind::Block ||
                     selection.kind == SelectionKind::Unit || selection.kind == SelectionKind::Collective;
  if (choice_->member() > 0) {  // the selection is of the present design
    if (!leads) return;
    follow_next_ = true;
    choice_->setMember(0);
    return;
  }
  if (!showsPresent()) {  // the present graph is still being laid out
    follow_next_ = true;
    return;
  }
  const GraphTree& tree = *scene_->tree();
  NodeId node = nodeOf(selection, tree);
  if (const auto first = resolved.firstOp(); first && selection.kind == SelectionKind::Collective) {
    for (const auto& [begin, end] : tree.units_of(selection.stage))
      for (int u = begin; u < end && node.level == NodeLevel::Root; ++u)
        if (tree.segment_of(u) == first->first) node = tree.op_node(u, first->second, selection.stage);
  }
  const QScopedValueRollback<bool> guard(following_, true);
  if (node.level != NodeLevel::Root)
    canvas_->reveal(node);
  else if (!leads)
    canvas_->clearSelection();
}

void GraphView::inspectWire(const WireSpot& spot) {
  if (!scene_->tree()) return;
  inspected_ = {};
  const QString where = spot.around.stage >= 0 ? scene_->tree()->place_text(spot.around)
                                               : tr("between stages");
  inspected_wire_ = inspect_tensor(*scene_->tree(), spot.wire->segment, spot.wire->tensor, where,
                                   spot.wire->transfer, session_->units());
  state_->inspect(inspected_wire_);
}

void GraphView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  markDifferences();
  if (!event->spontaneous()) showSelection();
}

void GraphView::showSelection() {
  // A selected line belongs to the current drawing. Its text is valid as long as the drawing.
  state_->inspect(inspected_.level == NodeLevel::Root ? inspected_wire_ : Inspection{});
  inspectAgain();
}

void GraphView::inspectAgain() {
  if (inspected_.level == NodeLevel::Root || !scene_->tree()) return;
  const GraphTree& tree = *scene_->tree();
  if (inspected_.stage >= tree.stages() || inspected_.unit >= tree.units()) return;
  if (inspected_.unit >= 0) {
    const Segment& segment = tree.segment(tree.segment_of(inspected_.unit));
    if (inspected_.op >= static_cast<int>(segment.ops.size()) ||
        inspected_.block >= static_cast<int>(segment.blocks.size()))
      return;
  }
  inspectNode(inspected_, inspected_units_);
}

}  // namespace shardscape::ui

// Selection in the timeline, and its text in the inspector.
#include <QVector>
#include <algorithm>
#include <utility>

#include "ui/inspector/node_inspection.h"
#include "ui/inspector/step_inspection.h"
#include "ui/plot/chart_table.h"
#include "ui/selection/step_relations.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/timeline/breakdown_bar.h"
#include "ui/views/timeline/gantt_canvas.h"
#include "ui/views/timeline/matching_item.h"
#include "ui/views/timeline/span_text.h"
#include "ui/views/timeline/spans_model.h"
#include "ui/views/timeline/timeline_view.h"

namespace shardscape::ui {

void TimelineView::selectBox(int stage, int span, int op) {
  shown_ = Shown::Box;
  Selection selection;
  selection.kind = SelectionKind::Span;
  selection.stage = stage;
  selection.span = span;
  const ItemRef ref = lanes_->of_span(stage, span);
  if (const auto ops = canvas_->opsShown(ref); op >= 0 && op < static_cast<int>(ops.size())) {
    selection.kind = SelectionKind::Op;
    selection.unit = unit_of(*estimate_->report, ops[static_cast<size_t>(op)].segment,
                             ops[static_cast<size_t>(op)].layer);
    selection.op = ops[static_cast<size_t>(op)].op;
    selection.kernel = true;
  }
  // While a new step is simulated, boxes belong to the earlier step and do not match the new graph.
  if (estimate_->report == session_->report()) state_->selectInAllViews(selection, this);
  selection_highlight_ = {};
  applyHighlight();
  markBreakdown();
  markRows();
  explain();
}

// A box of a compared design: selects the matching box of the present design in all views.
void TimelineView::selectComparedBox() {
  shown_ = Shown::Box;
  selection_highlight_ = {};
  const ItemRef ref = canvas_->selected();
  const auto same = std::find_if(canvas_->matching().begin(), canvas_->matching().end(),
                                 [](const ItemRef& one) { return one.member == 0; });
  const ItemRef here = same == canvas_->matching().end() ? ItemRef() : *same;
  if (estimate_->report == session_->report())
    state_->selectInAllViews(selectionInComparedDesign(ref, here), this);
  applyHighlight();
  markBreakdown();
  markRows();
  explain();
}

Selection TimelineView::selectionInComparedDesign(const ItemRef& ref, const ItemRef& here) const {
  Selection selection;
  const GanttStep& step = canvas_->stepOf(ref);
  const auto ops = canvas_->opsShown(ref);
  if (const int op = canvas_->selectedOp(); op >= 0 && op < static_cast<int>(ops.size())) {
    selection.kind = SelectionKind::Op;
    selection.stage = ref.stage;
    selection.unit = unit_of(*step.report, ops[static_cast<size_t>(op)].segment,
                             ops[static_cast<size_t>(op)].layer);
    selection.op = ops[static_cast<size_t>(op)].op;
    selection.kernel = true;
    return remapToDesign(selection, {step.report.get(), nullptr}, {session_->report().get(), nullptr},
                         state_->stage());
  }
  if (!here.valid()) return selection;
  selection.kind = SelectionKind::Span;
  selection.stage = here.stage;
  selection.span = lanes_->span_index(here);
  return selection;
}

void TimelineView::showRange() {
  if (state_->selection().kind != SelectionKind::Nothing) state_->selectInAllViews({}, this);
  shown_ = Shown::Range;
  selection_highlight_ = {};
  applyHighlight();
  markBreakdown();
  markRows();
  explain();
}

void TimelineView::selectTableRow(int row) {
  const ItemRef ref = model_->at(row);
  canvas_->select(ref);
  canvas_->reveal(ref);
}

void TimelineView::followSelection(const QObject* by) {
  if (by != this && isVisible()) showSharedSelection();
}

// Shows the selection of any view.
void TimelineView::showSharedSelection() {
  const Selection& selection = state_->selection();
  if (!lanes_ || estimate_->report != session_->report()) return;
  markBreakdown();
  if (selection.kind == SelectionKind::Span) {
    const ItemRef ref = lanes_->of_span(selection.stage, selection.span);
    if (!ref.valid()) return;
    selection_highlight_ = {};
    shown_ = Shown::Box;
    canvas_->setSelected(ref);
    canvas_->reveal(ref);
    markRows();
    applyHighlight();
    explain();
    return;
  }
  if (selection.kind == SelectionKind::Op && selection.span >= 0 && canvas_->selected().valid())
    return;  // this view made the selection
  selection_highlight_ = selectionHighlight();
  canvas_->setSelected({});
  shown_ = selection.kind == SelectionKind::Time ? Shown::Category
           : canvas_->range()                    ? Shown::Range
                                                 : Shown::Step;
  applyHighlight();
  markRows();
  explain();
}

// Marks the row of the selected box (or of its match in the present design), or all rows of another view's
// selection.
void TimelineView::markRows() {
  if (const ItemRef& box = canvas_->selected(); box.valid()) {
    const auto same = std::find_if(canvas_->matching().begin(), canvas_->matching().end(),
                                   [](const ItemRef& one) { return one.member == 0; });
    const ItemRef here = box.member == 0 ? box : same == canvas_->matching().end() ? ItemRef() : *same;
    return table_->showRow(here.valid() ? model_->rowOf(here) : -1);
  }
  std::vector<int> rows;
  const int all = model_->rowCount();
  for (int row = 0; selection_highlight_.items && row < all; ++row)
    if (selection_highlight_.items(model_->at(row))) rows.push_back(row);
  table_->showRow(-1, static_cast<int>(rows.size()) < all ? rows : std::vector<int>());
}

// The selection in a compared design: on the stage at the same relative place, for nodes of the graph in the
// same layer.
std::shared_ptr<const ResolvedSelection> TimelineView::resolvedSelectionIn(const GanttStep& step) const {
  if (step.member == 0) return state_->sharedResolvedSelection();
  const std::shared_ptr<const Simulation> simulation = step.lanes->shared_simulation();
  const int stage = Comparisons::sameStagePlace(state_->selection().stage, lanes_->stages(),
                                                step.lanes->stages());
  const Selection there = remapToDesign(state_->selection(),
                                        {estimate_->report.get(), estimate_->simulation.get()},
                                        {step.report.get(), simulation.get()}, stage);
  return std::make_shared<const ResolvedSelection>(there, step.report, simulation);
}

void TimelineView::markBreakdown() {
  const ResolvedSelection& resolved = state_->resolvedSelection();
  category_ = resolved.selection().kind == SelectionKind::Time ? static_cast<int>(resolved.selection().time)
                                                               : -1;
  std::vector<int> marked;
  for (int c = 0; c < kTimeCategoryCount; ++c)
    if (resolved.time(static_cast<TimeCategory>(c))) marked.push_back(c);
  breakdown_->setSelected(category_);
  breakdown_->setMarked(std::move(marked));
}

// Adds the matching boxes of the other designs.
void TimelineView::addComparedValues(Inspection& to, const ItemRef& ref) const {
  if (canvas_->steps().size() < 2) return;
  const Lanes& lanes = *canvas_->stepOf(ref).lanes;
  to.title = tr("%1: %2").arg(Comparisons::letter(ref.member), to.title);
  to.more_title = tr("The same in the other designs");
  for (const GanttStep& step : canvas_->steps())
    if (step.member != ref.member)
      to.more.append({Comparisons::letter(step.member),
                      matchingItemText(lanes, ref, *step.lanes, canvas_->matchingItem(ref, step))});
  if (ref.member == 0) return;
  // Links select in the present design only.
  for (const InspectedLink& link : std::exchange(to.links, {})) to.rows.append({link.label, link.text});
}

Inspection TimelineView::inspectSelected() const {
  const ItemRef& ref = canvas_->selected();
  const GanttStep& step = canvas_->stepOf(ref);
  const Report& report = *step.report;
  Inspection box = inspect_item(report, *step.lanes, canvas_->detail(ref.member), ref, session_->units());
  const auto ops = canvas_->opsShown(ref);
  const int op = canvas_->selectedOp();
  if (op < 0 || op >= static_cast<int>(ops.size())) {
    addComparedValues(box, ref);
    return box;
  }
  const PlacedOp& of = ops[static_cast<size_t>(op)];
  const GraphTree tree(step.report);
  Inspection out = inspect_node(tree, tree.op_node(unit_of(report, of.segment, of.layer), of.op, ref.stage),
                                1, Passes::Both, session_->units());
  out.title = placed_op_title(report, of);
  QVector<QPair<QString, QString>> times{{tr("starts"), seconds_text(of.begin)},
                                         {tr("takes"), seconds_text(of.end - of.begin)},
                                         {tr("in"), item_title(*step.lanes, ref).toLower()}};
  if (is_collective(tree.segment(of.segment).op(of.op).kind) && !of.concurrent)
    times.append({tr("exposed"), seconds_text(of.end - of.begin)});
  out.rows = times + out.rows;
  if (ref.member == 0) {
    Selection up;
    up.kind = SelectionKind::Span;
    up.stage = ref.stage;
    up.span = lanes_->span_index(ref);
    out.links = {{tr("part of"), box.title, up}};
  }
  addComparedValues(out, ref);
  return out;
}

void TimelineView::explain() {
  if (!isVisible()) return;
  if (!lanes_) return state_->inspect({});
  if (shown_ == Shown::Box && canvas_->selected().valid()) return state_->inspect(inspectSelected());
  const GanttSteps& steps = canvas_->steps();
  if (shown_ == Shown::Range && canvas_->range())
    return state_->inspect(inspect_range(steps, *canvas_->range()));
  if (shown_ == Shown::Category && category_ >= 0) {
    Inspection out = inspect_category(lanes_->simulation(), static_cast<TimeCategory>(category_));
    if (steps.size() > 1) out.more_title = tr("The same in the other designs");
    for (const GanttStep& step : steps)
      if (step.member > 0)
        out.more.append({Comparisons::letter(step.member),
                         category_text(step.lanes->simulation(), static_cast<TimeCategory>(category_))});
    return state_->inspect(out);
  }
  Inspection out = inspect_step(lanes_->simulation());
  for (const GanttStep& step : steps)
    if (step.member > 0)
      out.rows.append({tr("step of %1").arg(Comparisons::letter(step.member)),
                       stepComparisonText(lanes_->simulation(), step.lanes->simulation())});
  state_->inspect(out);
}

}  // namespace shardscape::ui

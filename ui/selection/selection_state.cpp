#include "ui/selection/selection_state.h"

#include <algorithm>
#include <utility>

#include "plan/rank_mesh.h"
#include "ui/session/session.h"

namespace shardscape::ui {
namespace {

// Layers and ops of another model have nothing to do with those of this one. An edited size is the same
// model.
bool another_model(const Report& before, const Report& now) {
  const ModelSpec &was = before.design.model, &is = now.design.model;
  return was.preset != is.preset || was.architecture != is.architecture ||
         (is.preset.empty() && before.design.name != now.design.name);
}

qint64 first_rank(const Report& report, int stage) { return mesh_of(report).with(0, MeshAxis::Pp, stage); }

}  // namespace

SelectionState::SelectionState(Session* session, QObject* parent) : QObject(parent), session_(session) {
  connect(session, &Session::reportArrived, this, &SelectionState::followReport);
  connect(session, &Session::estimateArrived, this, &SelectionState::followEstimate);
  connect(session, &Session::resultShown, this, &SelectionState::announce);
  connect(session, &Session::documentReplaced, this, &SelectionState::clear);
  if (session->report()) storeSelection({});
}

void SelectionState::setStage(int stage) {
  const auto report = session_->report();
  if (!report || stage < 0 || stage >= static_cast<int>(report->stages.size()) || stage == stage_) return;
  stage_ = stage;
  rank_ = first_rank(*report, stage);
  Q_EMIT stageChanged();
  moveSelectionToStage();
}

void SelectionState::setRank(qint64 rank) {
  const auto report = session_->report();
  if (!report || rank < 0 || rank >= report->ranks || rank == rank_) return;
  rank_ = rank;
  stage_ = stage_of_rank(*report, rank);
  Q_EMIT stageChanged();
  moveSelectionToStage();
}

void SelectionState::selectInAllViews(const Selection& selection, const QObject* by) {
  if (selection == selection_) return;
  span_.reset();
  storeSelection(selection);
  if (selection.kind != SelectionKind::Nothing && selection.stage >= 0) setStage(selection.stage);
  Q_EMIT selectionChanged(by);
}

void SelectionState::inspect(const Inspection& inspection) {
  inspection_ = inspection;
  Q_EMIT inspectionChanged();
}

void SelectionState::clear() {
  inspect({});
  selectInAllViews({}, this);
}

void SelectionState::storeSelection(const Selection& selection) {
  selection_ = selection;
  const auto estimate = session_->estimate();
  const bool simulated = estimate && estimate->report == session_->report();
  resolved_selection_ = std::make_shared<const ResolvedSelection>(selection_, session_->report(),
                                                                  simulated ? estimate->simulation : nullptr);
}

void SelectionState::remapSelection(const Report* before) {
  const Selection old = selection_;
  const auto estimate = session_->estimate();
  if (selection_.kind == SelectionKind::Span && !span_ && estimate && estimate->simulation &&
      estimate->report.get() == before)
    span_ = key_of(*estimate->simulation, selection_.stage, selection_.span);
  const bool keep = before && !another_model(*before, *session_->report());
  Selection now = keep ? remapToReport(selection_, *before, *session_->report()) : Selection{};
  if (now.kind == SelectionKind::Span) {
    now.span = -1;  // until the step is simulated
    if (!span_) now = {};
  }
  if (now.kind != SelectionKind::Span) span_.reset();
  storeSelection(now);
  remapped_ = selection_ != old;
}

void SelectionState::moveSelectionToStage() {
  if (selection_.kind == SelectionKind::Nothing || selection_.stage < 0 || selection_.stage == stage_) return;
  const Selection moved = remapToStage(selection_, *session_->report(), stage_);
  if (moved == selection_) return;
  storeSelection(moved);
  Q_EMIT selectionChanged(this);
}

void SelectionState::followReport(const Report* before) {
  const Report& report = *session_->report();
  const int last = static_cast<int>(report.stages.size()) - 1;
  const int selected_on = selection_.stage;
  remapSelection(before);
  const bool follows = selection_.kind != SelectionKind::Nothing && selection_.stage >= 0 &&
                       selection_.stage != selected_on;  // its layer moved to another stage
  const int stage = std::clamp(follows ? selection_.stage : stage_, 0, last);
  // Ranks are renumbered by a change of the mesh: the stage stays, its first rank is selected unless the
  // rank is still in it.
  const bool rank_holds = rank_ < report.ranks && stage_of_rank(report, rank_) == stage;
  const qint64 rank = rank_holds ? rank_ : first_rank(report, stage);
  const bool moved = stage != stage_ || rank != rank_;
  stage_ = stage;
  rank_ = rank;
  if (moved) Q_EMIT stageChanged();
}

void SelectionState::followEstimate() {
  const Selection before = selection_;
  Selection selection = selection_;
  const auto estimate = session_->estimate();
  const Simulation* simulation = estimate->simulation.get();
  if (const auto key = std::exchange(span_, std::nullopt))
    selection.span = simulation ? find_span(*simulation, selection.stage, *key) : -1;
  const auto takes_time = [&](const StageTimes& stage) {
    return stage.seconds[static_cast<size_t>(selection.time)] > 0;
  };
  const bool gone = (selection.kind == SelectionKind::Span && selection.span < 0) ||
                    (selection.kind == SelectionKind::Time &&
                     (!simulation ||
                      std::none_of(simulation->stages.begin(), simulation->stages.end(), takes_time)));
  storeSelection(gone ? Selection{} : selection);  // the new step has spans again
  remapped_ = selection_ != before;
}

void SelectionState::announce() {
  if (std::exchange(remapped_, false)) Q_EMIT selectionChanged(this);
}

}  // namespace shardscape::ui

#include "ui/session/session.h"

#include <QScopedValueRollback>
#include <algorithm>

#include "design/knobs/knobs.h"
#include "design/validate/repair_design.h"
#include "memory/memory_timeline.h"
#include "model/library.h"
#include "plan/rank_mesh.h"
#include "report/memory_report.h"
#include "ui/session/comparisons.h"
#include "ui/session/design_command.h"
#include "ui/session/memory_advisor.h"
#include "ui/session/memory_problem.h"
#include "ui/session/report_worker.h"
#include "ui/toolkit/display_text.h"

namespace shardscape::ui {
namespace {

qint64 first_rank(const Report& report, int stage) { return mesh_of(report).with(0, MeshAxis::Pp, stage); }

}  // namespace

struct Session::Worker {
  explicit Worker(Session* session)
      : thread(session->plans(), [session] {
          QMetaObject::invokeMethod(
              session, [session] { session->deliver(); }, Qt::QueuedConnection);
        }) {}
  uint64_t job = 0;  // the newest submitted; results of older ones are dropped
  ReportWorker thread;
};

Session::Session(QObject* parent)
    : QObject(parent),
      design_(default_design()),
      advice_(new MemoryAdvisor(this)),
      comparisons_(new Comparisons(plans_, this)),
      worker_(std::make_unique<Worker>(this)) {
  for (const auto signal : {&Session::reportChanged, &Session::rejectedChanged, &Session::unitsChanged})
    connect(this, signal, this, &Session::problemsChanged);
  connect(advice_, &MemoryAdvisor::ready, this, &Session::problemsChanged);
  recompute();
}

Session::~Session() {
  worker_.reset();  // joins the thread before anything it posts to is gone
  undo_.disconnect(this);
}

std::optional<Problem> Session::setKnob(const QString& id, const QString& text) {
  const Knob* knob = find_knob(id.toStdString());
  if (!knob)
    return Problem{ProblemCode::UnknownKnob, id.toStdString(), "there is no such knob", "a knob of the form"};
  Design next = design_;
  if (std::optional<Problem> problem = set_knob(next, *knob, text.toStdString())) return problem;
  if (next == design_) return std::nullopt;
  const Mode before = design_.workload.mode;
  undo_.push(
      new DesignCommand(this, next, tr("set %1").arg(QString::fromStdString(knob->label).toLower()), id));
  const WorkloadSpec& w = design_.workload;
  if (w.mode == Mode::Decode && before != Mode::Decode && w.context_length != w.seq)
    Q_EMIT lengthsDiffer(w.context_length, w.seq);
  return std::nullopt;
}

void Session::endEdit() { ++edit_; }

void Session::endTyping(const QString& id) {
  if (rejected(id)) return;
  endEdit();
  typed_.erase(id);
}

void Session::typeKnob(const QString& id, const QString& text) {
  const Knob* knob = find_knob(id.toStdString());
  if (!knob) return;
  const QString value = QString::fromStdString(knob_text(design_, *knob));
  const auto known = typed_.find(id);
  const QString before = known == typed_.end() ? value : known->second.before;
  const bool had_problem = rejected(id);
  std::optional<Problem> problem = setKnob(id, text);
  if (problem) {
    const QString kept = displayText(*knob, before);
    problem->fixes = {{(kept.isEmpty() ? tr("Keep it even") : tr("Keep %1").arg(kept)).toStdString(),
                       {{knob->id, before.toStdString()}}}};
  }
  const bool has_problem = problem.has_value();
  typed_[id] = {before, std::move(problem)};
  if (has_problem || had_problem) Q_EMIT rejectedChanged();
}

const Problem* Session::rejected(const QString& id) const {
  const auto found = typed_.find(id);
  return found == typed_.end() || !found->second.problem ? nullptr : &*found->second.problem;
}

bool Session::rejectsAny() const {
  return std::any_of(typed_.begin(), typed_.end(),
                     [](const auto& typed) { return typed.second.problem.has_value(); });
}

void Session::takeBack(const QString& id) {
  const auto found = typed_.find(id);
  if (found == typed_.end()) return;
  const Typed typed = found->second;
  typed_.erase(found);
  const QScopedValueRollback<bool> guard(taking_back_,
                                         true);  // joins the step of what was typed: nothing is left to undo
  setKnob(id, typed.before);
  if (typed.problem) Q_EMIT rejectedChanged();
}

void Session::dropRejected(const QString& id) {
  const bool had_problem = rejected(id);
  typed_.erase(id);
  if (had_problem) Q_EMIT rejectedChanged();
}

std::vector<Problem> Session::allProblems() const {
  std::vector<Problem> all;
  for (const auto& [id, typed] : typed_) {
    if (typed.problem) all.push_back(*typed.problem);
  }
  all.insert(all.end(), problems_.begin(), problems_.end());
  if (current_ && !report_->memory->fits)
    all.push_back(memoryProblem(
        *report_,
        advice_->of(estimate_.get()) && estimated() ? advice_->given() : std::vector<MemoryAdvice>(),
        units_));
  if (const auto note = segmentsNote()) all.push_back(*note);
  if (estimated() && estimate_->pass_times) all.push_back(*estimate_->pass_times);
  return all;
}

std::optional<Problem> Session::segmentsNote() const {
  const Fragmentation* segments = estimated() ? advice_->fragmentationOf(estimate_.get()) : nullptr;
  if (!segments) return std::nullopt;
  const auto warning = segments_warning(*report_->memory, *segments);
  return warning ? std::optional(memoryNote(*warning)) : std::nullopt;
}

void Session::applyFix(const Fix& fix) {
  for (const auto& [id, text] : fix.settings) {
    const QString knob = QString::fromStdString(id);
    if (const Problem* problem = rejected(knob); problem && problem->fixes.front().settings == fix.settings)
      return takeBack(knob);
  }
  Design next = design_;
  for (const auto& [id, text] : fix.settings) {
    if (const Knob* knob = find_knob(id)) set_knob(next, *knob, text);
  }
  setDesign(next, QString::fromStdString(fix.label));
}

void Session::applyPreset(const QString& id) {
  const Preset* preset = ModelLibrary::instance().preset(id.toStdString());
  if (!preset) return;
  adopt([&](Design& design) { apply_preset(design, preset->id); },
        tr("model %1").arg(QString::fromStdString(preset->name)));
}

void Session::adoptModel(const ModelSpec& model, const QString& name, const QString& undo_text) {
  adopt([&](Design& design) { apply_model(design, model, name.toStdString()); }, undo_text);
}

void Session::adopt(const std::function<void(Design&)>& put_model, const QString& undo_text) {
  // From what the person set: models that were tried in between leave no traces.
  const Design wanted = adopted_ && adopted_->result == design_ ? adopted_->wanted : design_;
  Design next = wanted;
  put_model(next);
  repair_design(next);
  if (next == design_) return;
  setDesign(next, undo_text);
  adopted_ = {next, wanted};
  QStringList changes;
  for (const KnobChange& change : changes_outside_model(wanted, next))
    changes << QStringLiteral("%1 %2 → %3")
                   .arg(knobName(*change.knob),
                        displayText(*change.knob, QString::fromStdString(change.before)),
                        displayText(*change.knob, QString::fromStdString(change.after)));
  if (!changes.isEmpty()) Q_EMIT adapted(QString::fromStdString(next.name), changes);
}

void Session::setDesign(const Design& design, const QString& undo_text) {
  endEdit();
  if (design == design_) return;
  undo_.push(new DesignCommand(this, design, undo_text));
}

void Session::reset(const Design& design) {
  endEdit();
  undo_.clear();
  comparisons_->clear();
  inspection_ = {};
  Q_EMIT inspectionChanged();
  selectInAllViews({}, this);
  assign(design);
  setSearch(nullptr);
}

void Session::assign(const Design& design) {
  design_ = design;
  recompute();
  Q_EMIT designChanged();
}

void Session::recompute() {
  const bool lacks_estimate = report_ && (!estimate_ || estimate_->report != report_);
  worker_->job = worker_->thread.submit(design_, lacks_estimate ? report_ : nullptr);
  const bool was_current = std::exchange(current_, false);
  if (!std::exchange(computing_, true)) Q_EMIT computingChanged();
  if (was_current) Q_EMIT reportChanged();
}

void Session::deliver() {
  if (const auto result = worker_->thread.take(); result && result->job == worker_->job)
    accept(result->report);
  acceptEstimate(worker_->thread.takeEstimate());
}

void Session::waitForReport() {
  if (computing_) accept(worker_->thread.wait(worker_->job).report);
}

void Session::waitForEstimate() {
  waitForReport();
  if (current_ && !estimated()) acceptEstimate(worker_->thread.waitForEstimate(worker_->job));
}

void Session::acceptEstimate(std::shared_ptr<const Estimate> estimate) {
  if (!estimate || estimate->report != report_) return;  // a stale one
  estimate_ = std::move(estimate);
  if (estimated()) advice_->ask(estimate_, !report_->memory->fits);
  const Selection before = selection_;
  Selection selection = selection_;
  const Simulation* simulation = estimate_->simulation.get();
  if (const auto key = std::exchange(span_, std::nullopt))
    selection.span = simulation ? find_span(*simulation, selection.stage, *key) : -1;
  const auto takes_time = [&](const StageTimes& stage) {
    return stage.seconds[static_cast<size_t>(selection.time)] > 0;
  };
  const bool gone = (selection.kind == SelectionKind::Span && selection.span < 0) ||
                    (selection.kind == SelectionKind::Time &&
                     (!simulation ||
                      std::none_of(simulation->stages.begin(), simulation->stages.end(), takes_time)));
  storeSelection(gone ? Selection{} : selection);  // spans are known by now
  Q_EMIT estimateChanged();
  if (selection_ != before) Q_EMIT selectionChanged(this);
}

void Session::selectInAllViews(const Selection& selection, const QObject* by) {
  if (selection == selection_) return;
  span_.reset();
  storeSelection(selection);
  if (selection.kind != SelectionKind::Nothing && selection.stage >= 0) setStage(selection.stage);
  Q_EMIT selectionChanged(by);
}

void Session::storeSelection(const Selection& selection) {
  selection_ = selection;
  const bool simulated = estimate_ && estimate_->report == report_;
  resolved_selection_ = std::make_shared<const ResolvedSelection>(
      selection_, report_, simulated ? estimate_->simulation : nullptr);
}

// Whether it is another now.
bool Session::remapSelection(const Report* before) {
  const Selection old = selection_;
  if (selection_.kind == SelectionKind::Span && !span_ && estimate_ && estimate_->simulation &&
      estimate_->report.get() == before)
    span_ = key_of(*estimate_->simulation, selection_.stage, selection_.span);
  Selection now = before ? remapToReport(selection_, *before, *report_) : Selection{};
  if (now.kind == SelectionKind::Span) {
    now.span = -1;  // until the step is simulated
    if (!span_) now = {};
  }
  if (now.kind != SelectionKind::Span) span_.reset();
  storeSelection(now);
  return selection_ != old;
}

void Session::moveSelectionToStage() {
  if (selection_.kind == SelectionKind::Nothing || selection_.stage < 0 || selection_.stage == stage_) return;
  const Selection moved = remapToStage(selection_, *report_, stage_);
  if (moved == selection_) return;
  storeSelection(moved);
  Q_EMIT selectionChanged(this);
}

void Session::accept(std::shared_ptr<const Report> report) {
  problems_ = report->problems;
  current_ = report->valid();
  bool selection_changes = false;
  if (current_) {
    const std::shared_ptr<const Report> before = std::exchange(report_, std::move(report));
    const int last = static_cast<int>(report_->stages.size()) - 1;
    const int selected_on = selection_.stage;
    selection_changes = remapSelection(before.get());
    const bool follows = selection_.kind != SelectionKind::Nothing && selection_.stage >= 0 &&
                         selection_.stage != selected_on;  // its layer went to another stage
    const int stage = std::clamp(follows ? selection_.stage : stage_, 0, last);
    // Ranks are renumbered by a change of the mesh: the stage stays, its first rank is selected unless the
    // rank is still in it.
    const bool rank_holds = rank_ < report_->ranks && stage_of_rank(*report_, rank_) == stage;
    const qint64 rank = rank_holds ? rank_ : first_rank(*report_, stage);
    const bool moved = stage != stage_ || rank != rank_;
    stage_ = stage;
    rank_ = rank;
    if (moved) Q_EMIT stageChanged();
  }
  computing_ = false;
  Q_EMIT reportChanged();
  if (selection_changes) Q_EMIT selectionChanged(this);
  Q_EMIT computingChanged();
}

void Session::setStage(int stage) {
  if (!report_ || stage < 0 || stage >= static_cast<int>(report_->stages.size()) || stage == stage_) return;
  stage_ = stage;
  rank_ = first_rank(*report_, stage);
  Q_EMIT stageChanged();
  moveSelectionToStage();
}

void Session::setRank(qint64 rank) {
  if (!report_ || rank < 0 || rank >= report_->ranks || rank == rank_) return;
  rank_ = rank;
  stage_ = stage_of_rank(*report_, rank);
  Q_EMIT stageChanged();
  moveSelectionToStage();
}

void Session::setSearch(std::shared_ptr<const SearchResult> search) {
  if (search == search_) return;
  search_ = std::move(search);
  Q_EMIT searchChanged();
}

void Session::setUnits(UnitSystem units) {
  if (units == units_) return;
  units_ = units;
  Q_EMIT unitsChanged();
}

void Session::inspect(const Inspection& inspection) {
  inspection_ = inspection;
  Q_EMIT inspectionChanged();
}

}  // namespace shardscape::ui

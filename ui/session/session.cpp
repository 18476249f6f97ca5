#include "ui/session/session.h"

#include <QScopedValueRollback>
#include <algorithm>

#include "design/cluster.h"
#include "design/knobs/knobs.h"
#include "design/knobs/published_layout.h"
#include "design/validate/gpus_of_design.h"
#include "design/validate/repair_design.h"
#include "explore/recovery.h"
#include "memory/memory_timeline.h"
#include "model/library.h"
#include "report/memory_report.h"
#include "ui/session/comparisons.h"
#include "ui/session/design_command.h"
#include "ui/session/memory_advisor.h"
#include "ui/session/memory_problem.h"
#include "ui/session/report_worker.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/inbox.h"

namespace shardscape::ui {
namespace {

constexpr int kMostSteps = 200;  // undo steps in a file

// "Expert parallel (ep) 64 → 8": the settings outside the model that differ.
QStringList changed_settings(const Design& before, const Design& after) {
  QStringList out;
  for (const KnobChange& change : changes_outside_model(before, after))
    out << QStringLiteral("%1 %2 → %3")
               .arg(knobName(*change.knob), displayText(*change.knob, QString::fromStdString(change.before)),
                    displayText(*change.knob, QString::fromStdString(change.after)));
  return out;
}

}  // namespace

struct Session::Worker {
  explicit Worker(Session* session)
      : thread(session->plans(), [this, session] { inbox.post([session] { session->deliver(); }); }) {}
  Inbox inbox;
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
  worker_.reset();  // joins the thread before the members that it posts to are destroyed
  undo_.disconnect(this);
}

std::optional<Problem> Session::setKnob(const QString& id, const QString& text) {
  const Knob* knob = find_knob(id.toStdString());
  if (!knob)
    return Problem{ProblemCode::UnknownKnob, id.toStdString(), "there is no such setting",
                   "a setting of the form"};
  Design next = design_;
  if (std::optional<Problem> problem = set_knob(next, *knob, text.toStdString())) return problem;
  if (next == design_) return std::nullopt;
  if (knob->group == KnobGroup::Cluster && id != QLatin1String("gpus_per_node"))
    follow_node_size(next.cluster, design_.cluster);
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
    problem->fixes = {{(kept.isEmpty() ? tr("Keep it empty") : tr("Keep %1").arg(kept)).toStdString(),
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

const Problem* Session::problemOf(const QString& id) const {
  if (const Problem* typed = rejected(id)) return typed;
  const std::string where = id.toStdString();
  const Problem* found = nullptr;
  for (const Problem& problem : problems_) {
    if (problem.where != where) continue;
    if (problem.severity == Severity::Error) return &problem;
    if (!found) found = &problem;
  }
  return found;
}

const Simulation* Session::simulationOf(const Report& report) const {
  if (estimate_ && estimate_->report.get() == &report) return estimate_->simulation.get();
  for (const PinnedDesign& pinned : comparisons_->all())
    if (pinned.result.report.get() == &report) return pinned.result.simulation.get();
  return nullptr;
}

void Session::reject(const QString& field, const Problem& problem) {
  typed_[field] = {{}, problem};
  Q_EMIT rejectedChanged();
}

QString Session::rejectedField() const {
  const auto found = std::find_if(typed_.begin(), typed_.end(),
                                  [](const auto& typed) { return typed.second.problem.has_value(); });
  return found == typed_.end() ? QString() : found->first;
}

void Session::revertTyping(const QString& id) {
  const auto found = typed_.find(id);
  if (found == typed_.end()) return;
  const Typed typed = found->second;
  typed_.erase(found);
  const QScopedValueRollback<bool> guard(
      reverting_,
      true);  // merges with the undo step of the typed text, which then changes nothing
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
        advice_->isFor(estimate_.get()) && estimated() ? advice_->advice() : std::vector<MemoryAdvice>(),
        units_));
  if (const auto note = segmentsNote()) all.push_back(*note);
  if (estimated() && estimate_->pass_times) all.push_back(*estimate_->pass_times);
  for (const Problem& file : ModelLibrary::instance().problems())
    all.push_back(Problem::note(file.code, file.where, file.what, file.accepted));
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
      return revertTyping(knob);
  }
  Design next = design_;
  for (const auto& [id, text] : fix.settings) {
    if (const Knob* knob = find_knob(id)) set_knob(next, *knob, text);
  }
  setDesign(next, QString::fromStdString(fix.label));
}

void Session::applyPreset(const QString& id, bool published_layout) {
  const Preset* preset = ModelLibrary::instance().preset(id.toStdString());
  if (!preset) return;
  Design wanted = wantedDesign();
  const bool published = published_layout && !preset->layout.empty() && trains(wanted);
  if (published) wanted = publishedDesign(*preset, wanted.cluster);
  adopt(
      wanted, [&](Design& design) { apply_preset(design, preset->id); },
      tr("model %1").arg(QString::fromStdString(preset->name)),
      published ? QString::fromStdString(published_layout_text(*preset)) : QString());
}

// Settings that the layout does not name have their defaults: the result does not depend on the design
// before. The cluster keeps its prices and networks.
Design Session::publishedDesign(const Preset& preset, const ClusterSpec& cluster) {
  Design out;
  out.cluster = cluster;
  if (preset.default_seq > 0) out.workload.seq = preset.default_seq;
  apply_published_layout(out, preset);
  return out;
}

void Session::adoptModel(const ModelSpec& model, const QString& name, const QString& undo_text) {
  adopt(
      wantedDesign(), [&](Design& design) { apply_model(design, model, name.toStdString()); }, undo_text);
}

void Session::importModel(const ModelSpec& model, const QString& name) {
  keepImported(model, name);
  adoptModel(model, name, tr("Import %1").arg(name));
}

void Session::keepImported(const ModelSpec& model, const QString& name) {
  if (!model.preset.empty()) return;
  Imported kept{name, model};
  std::erase(imported_, kept);
  imported_.insert(imported_.begin(), std::move(kept));
}

Design Session::wantedDesign() const {
  return adopted_ && adopted_->result == design_ ? adopted_->wanted : design_;
}

void Session::adopt(const Design& wanted, const std::function<void(Design&)>& put_model,
                    const QString& undo_text, const QString& published) {
  Design next = wanted;
  put_model(next);
  repair_design(next);
  if (next == design_) return;
  setDesign(next, undo_text);
  adopted_ = {next, wanted};
  const QStringList changes = changed_settings(wanted, next);
  if (!changes.isEmpty() || !published.isEmpty())
    Q_EMIT adapted(QString::fromStdString(next.name), changes, published);
}

void Session::setGpus(qint64 gpus) {
  const Design wanted = design_on_gpus(on_gpus_ && on_gpus_->result == design_ ? on_gpus_->wanted : design_,
                                       gpus);
  const Design next = fitted_to_replicas(wanted);
  if (next == design_) return;
  undo_.push(new DesignCommand(this, next, tr("set GPUs"), QStringLiteral("dp")));
  on_gpus_ = {design_, wanted};
  const QStringList changes = changed_settings(wanted, next);
  if (!changes.isEmpty())
    Q_EMIT adapted(gpus == 1 ? tr("1 GPU") : tr("%1 GPUs").arg(QString::fromStdString(grouped(gpus))),
                   changes, {});
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
  Q_EMIT documentReplaced();
  keepImported(design.model, QString::fromStdString(design.name));
  assign(design);
  setSearch(nullptr);
}

UndoHistory Session::history() const {
  const auto command = [&](int i) { return static_cast<const DesignCommand*>(undo_.command(i)); };
  const int first = std::max(0, undo_.index() - kMostSteps);
  UndoHistory history{first < undo_.count() ? command(first)->before() : design_,
                      {},
                      static_cast<size_t>(undo_.index() - first)};
  for (int i = first; i < undo_.count(); ++i)
    history.steps.push_back({command(i)->text().toStdString(), command(i)->after()});
  return history;
}

void Session::restore(const UndoHistory& history) {
  endEdit();
  undo_.clear();
  comparisons_->clear();
  Q_EMIT documentReplaced();
  {
    const QScopedValueRollback<bool> quiet(replaying_, true);
    design_ = history.first;
    for (const UndoHistory::Step& step : history.steps)
      undo_.push(new DesignCommand(this, step.after, QString::fromStdString(step.text)));
    undo_.setIndex(static_cast<int>(history.done));
  }
  undo_.resetClean();
  keepImported(design_.model, QString::fromStdString(design_.name));
  assign(Design(design_));
  setSearch(nullptr);
}

void Session::assign(const Design& design) {
  design_ = design;
  if (replaying_) return;
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
  const ReportWorker::Delivery delivery = worker_->thread.take();
  if (delivery.result && delivery.result->job == worker_->job) accept(delivery.result->report);
  acceptEstimate(delivery.estimate);
}

void Session::waitForReport() {
  if (computing_) accept(worker_->thread.wait(worker_->job).report);
}

void Session::waitForEstimate() {
  waitForReport();
  if (current_ && !estimated()) acceptEstimate(worker_->thread.waitForEstimate(worker_->job));
}

void Session::acceptEstimate(std::shared_ptr<const Estimate> estimate) {
  if (!estimate || estimate->report != report_) return;  // stale
  estimate_ = std::move(estimate);
  if (estimated()) advice_->request(estimate_, !report_->memory->fits);
  Q_EMIT estimateArrived();
  Q_EMIT estimateChanged();
  Q_EMIT resultShown();
}

void Session::accept(std::shared_ptr<const Report> report) {
  problems_ = report->problems;
  current_ = report->valid();
  if (current_) {
    const std::shared_ptr<const Report> before = std::exchange(report_, std::move(report));
    Q_EMIT reportArrived(before.get());
  }
  computing_ = false;
  Q_EMIT reportChanged();
  Q_EMIT resultShown();
  Q_EMIT computingChanged();
}

void Session::setSearch(std::shared_ptr<const SearchResult> search) {
  if (search == search_) return;
  search_ = std::move(search);
  Q_EMIT searchChanged();
}

void Session::reloadLibrary() {
  ModelLibrary::replace(std::make_shared<const ModelLibrary>(ModelLibrary::load(ModelLibrary::folders())));
  recompute();
  Q_EMIT libraryChanged();
  Q_EMIT problemsChanged();
}

void Session::setUnits(UnitSystem units) {
  if (units == units_) return;
  units_ = units;
  Q_EMIT unitsChanged();
}

}  // namespace shardscape::ui

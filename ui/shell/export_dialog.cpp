#include "ui/shell/export_dialog.h"

#include <QCheckBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QShowEvent>
#include <QStyle>
#include <algorithm>
#include <utility>

#include "memory/memory_timeline.h"
#include "ui/session/session.h"
#include "ui/shell/bundle_shape.h"
#include "ui/shell/bundle_steps.h"
#include "ui/shell/export_target.h"
#include "ui/shell/problems_model.h"
#include "ui/shell/settings.h"
#include "ui/toolkit/file_slug.h"
#include "ui/toolkit/screen_room.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr int kWidth = 620;  // pixels

// "Tensor parallel (tp): 32 heads do not split over tp = 5; accepted: 1, 2, 4, ..."
QString firstProblem(const Session& session) {
  for (Problem problem : session.problems()) {
    if (problem.severity != Severity::Error) continue;
    problem.where = problemPlace(problem).toStdString();
    return text_of(to_string(problem));
  }
  return {};
}

}  // namespace

ExportDialog::ExportDialog(Session* session, ExportJob* job, QWidget* parent)
    : QDialog(parent),
      session_(session),
      job_(job),
      folder_(new QLineEdit(this)),
      name_(new QLineEdit("trace", this)),
      tensors_(new QCheckBox(tr("Write tensor names and sizes (more than doubles a trace)"), this)),
      durations_(new QCheckBox(tr("Include estimated compute times (for replay in simulators)"), this)),
      flat_network_(
          new QCheckBox(tr("Flat network (one dimension, for the congestion-aware backend)"), this)),
      shape_(new BundleShape(this)),
      replace_(new QCheckBox(tr("Replace a bundle that is already in this folder"), this)),
      what_(new QLabel(
          tr("Execution traces (MLCommons Chakra), one per GPU, for ASTRA-sim and other simulators. "
             "The bundle also has the files that describe the system, the network and the memory."),
          this)),
      size_(new QLabel(this)),
      fits_(new QLabel(this)),
      message_(new QLabel(this)),
      progress_text_(new QLabel(this)),
      progress_(new QProgressBar(this)),
      browse_(new QPushButton(tr("Browse..."), this)),
      start_(new QPushButton(tr("Export"), this)),
      cancel_(new QPushButton(tr("Cancel export"), this)),
      close_(new QPushButton(tr("Close"), this)),
      steps_(new BundleSteps(this)) {
  setWindowTitle(tr("Export bundle of Chakra traces"));
  describe();
  build();
  suggestFolder();
  tensors_->setChecked(settings::exportTensors());
  durations_->setChecked(settings::exportDurations());
  flat_network_->setChecked(settings::exportFlatNetwork());

  connect(folder_, &QLineEdit::textChanged, this, [this] {
    replace_->setChecked(false);  // consent to overwrite holds for one folder only
    refresh();
  });
  connect(folder_, &QLineEdit::textEdited, this, [this] { folder_chosen_ = true; });
  connect(name_, &QLineEdit::textChanged, this, &ExportDialog::refresh);
  connect(tensors_, &QCheckBox::toggled, this, &ExportDialog::refresh);
  connect(durations_, &QCheckBox::toggled, this, &ExportDialog::refresh);
  connect(shape_, &BundleShape::changed, this, &ExportDialog::refresh);
  connect(replace_, &QCheckBox::toggled, this, &ExportDialog::refresh);
  connect(browse_, &QPushButton::clicked, this, &ExportDialog::browse);
  connect(start_, &QPushButton::clicked, this, &ExportDialog::start);
  connect(cancel_, &QPushButton::clicked, this, [this] { job_->cancel(); });
  connect(close_, &QPushButton::clicked, this, &QDialog::reject);
  connect(session, &Session::designChanged, this, &ExportDialog::suggestFolder);
  connect(session, &Session::reportChanged, this, &ExportDialog::refresh);
  connect(session, &Session::unitsChanged, this, &ExportDialog::refresh);
  connect(job, &ExportJob::started, this, &ExportDialog::refreshJob);
  connect(job, &ExportJob::progressed, this, &ExportDialog::refreshJob);
  connect(job, &ExportJob::finished, this, &ExportDialog::finish);
  refreshJob();
}

// Names, tips and styles of the parts.
void ExportDialog::describe() {
  folder_->setObjectName("export_folder");
  name_->setObjectName("export_name");
  tensors_->setObjectName("export_tensors");
  durations_->setObjectName("export_durations");
  flat_network_->setObjectName("export_flat_network");
  flat_network_->setToolTip(tr(kFlatNetworkHelp));
  replace_->setObjectName("export_replace");
  start_->setObjectName("export_start");
  cancel_->setObjectName("export_cancel");
  close_->setObjectName("export_close");
  fits_->setObjectName("export_fits");
  size_->setObjectName("export_size");
  what_->setObjectName("export_what");
  message_->setObjectName("dialog_message");
  folder_->setMinimumWidth(220);
  name_->setToolTip(tr("Traces are called NAME.0.et, NAME.1.et and so on."));
  what_->setProperty("role", "secondary");
  what_->setWordWrap(true);
  size_->setProperty("role", "secondary");
  size_->setWordWrap(true);
  fits_->setWordWrap(true);
  fits_->setContentsMargins(10, 7, 10, 7);
  fits_->hide();
  message_->setWordWrap(true);
  message_->setTextFormat(Qt::PlainText);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  progress_->setTextVisible(false);
  progress_->setRange(0, 1000);
  progress_text_->setProperty("role", "secondary");
  start_->setProperty("primary", true);
  start_->setDefault(true);
  for (QPushButton* button : {browse_, cancel_, close_}) button->setAutoDefault(false);
}

void ExportDialog::build() {
  auto* folder = new QHBoxLayout;
  folder->setSpacing(8);
  folder->addWidget(folder_, 1);
  folder->addWidget(browse_);
  auto* form = new QFormLayout;
  form->setHorizontalSpacing(16);
  form->setVerticalSpacing(10);
  form->setLabelAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  auto* folder_label = new QLabel(tr("&Folder"), this);
  folder_label->setBuddy(folder_);
  form->addRow(folder_label, folder);
  form->addRow(tr("Trace &name"), name_);
  form->addRow(QString(), tensors_);
  form->addRow(QString(), durations_);
  form->addRow(QString(), flat_network_);
  shape_->addRows(form);
  form->addRow(QString(), replace_);
  form->addRow(tr("Size"), size_);
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(8);
  buttons->addStretch();
  buttons->addWidget(close_);
  buttons->addWidget(start_);
  scroll_ = new ScrolledContent(this);
  QWidget* content = scroll_->widget();
  content->installEventFilter(this);
  auto* layout = new QVBoxLayout(content);
  layout->setContentsMargins(24, 20, 24, 20);
  layout->setSpacing(14);
  layout->addWidget(what_);
  layout->addLayout(form);
  layout->addWidget(fits_);
  layout->addWidget(message_);
  layout->addWidget(steps_);
  // Cancel is next to the progress bar, so that a late click hits no other button.
  auto* progress = new QGridLayout;
  progress->setHorizontalSpacing(12);
  progress->setVerticalSpacing(6);
  progress->addWidget(progress_, 0, 0, Qt::AlignVCenter);
  progress->addWidget(cancel_, 0, 1);
  progress->addWidget(progress_text_, 1, 0);
  progress->setColumnStretch(0, 1);
  layout->addLayout(progress);
  layout->addStretch(1);
  layout->addLayout(buttons);
  message_->hide();
  resizeOnScreen(this, {kWidth, layout->totalHeightForWidth(kWidth)});
}

void ExportDialog::setFolder(const QString& folder) {
  folder_chosen_ = true;
  folder_->setText(QDir::toNativeSeparators(folder));
}

void ExportDialog::suggestFolder() {
  if (folder_chosen_ || job_->running()) return;
  folder_->setText(QDir::toNativeSeparators(settings::exportFolder() + "/" + slug(name())));
}

QString ExportDialog::name() const {
  return run_ ? tr("%1 steps").arg(text_of(run_->design.name)) : text_of(session_->design().name);
}

void ExportDialog::setSteps(std::shared_ptr<const ServiceRun> run, const StepRange& range) {
  run_ = std::move(run);
  setWindowTitle(tr("Export engine steps as Chakra traces"));
  what_->setText(
      tr("Steps %1 to %2 of replica %3 as execution traces (MLCommons Chakra), one per GPU of the "
         "engine, with the seconds of kernels and of the host, for ASTRA-sim and other simulators.")
          .arg(text_of(grouped(range.first)), text_of(grouped(range.last)), text_of(grouped(range.replica))));
  durations_->hide();  // always
  shape_->setShown(false);
  suggestFolder();
  size_job_.start([this, run = run_, range, plans = session_->plans()](const NewestJob::Post& post,
                                                                       std::stop_token stop) {
    auto made = step_window(*run, range, stop, plans);
    if (stop.stop_requested()) return;
    int64_t bytes[2] = {};
    if (const auto* window = std::get_if<0>(&made))
      for (const bool tensors : {false, true}) {
        ExportOptions options;
        options.tensors = tensors;
        bytes[tensors] = estimate_bundle_bytes(**window, options, stop);
      }
    if (stop.stop_requested()) return;
    post([this, made = std::move(made), plain = bytes[0], with_tensors = bytes[1]] {
      if (const auto* problem = std::get_if<Problem>(&made))
        window_problem_ = text_of(to_string(*problem));
      else
        window_ = std::get<0>(made);
      window_bytes_[0] = plain;
      window_bytes_[1] = with_tensors;
      refresh();
    });
  });
}

// A folder or a name that is being typed does not change the size.
std::optional<int64_t> ExportDialog::bytesOf(const std::shared_ptr<const Report>& report,
                                             ExportOptions options) {
  options.target.clear();
  options.name.clear();
  options.replace = false;
  if (Sized asked{report, std::move(options)}; asked != sized_) {
    sized_ = std::move(asked);
    bytes_.reset();
    size_job_.start([this, of = sized_](const NewestJob::Post& post, const std::stop_token& stop) {
      const int64_t bytes = estimate_bundle_bytes(*of.report, of.options, stop);
      if (stop.stop_requested()) return;
      post([this, bytes] {
        bytes_ = bytes;
        if (!outcome_shown_) return refresh();
        size_->setText(sizeText(content(), examineTarget(folder_->text(), replace_->isChecked())));
      });
    });
  }
  return bytes_;
}

ExportDialog::Content ExportDialog::content() {
  if (run_)
    return {window_ != nullptr, !window_ && window_problem_.isEmpty(), window_problem_,
            window_ ? window_->reference().report().ranks : 0, window_bytes_[tensors_->isChecked()]};
  const std::shared_ptr<const Report> report = session_->report();
  const bool ready = session_->current() && report, computing = session_->computing();
  Content out{ready, computing,
              ready || computing ? QString() : tr("Fix the design first. %1").arg(firstProblem(*session_))};
  if (!ready) return out;
  ExportOptions chosen = options();
  if (const auto problem = shape_->apply(*report, chosen)) out.problem = text_of(to_string(*problem));
  out.traces = report->ranks;
  out.part = !chosen.part.whole();
  out.bytes = bytesOf(report, std::move(chosen));
  return out;
}

ExportOptions ExportDialog::options() const {
  ExportOptions options;
  options.target = folder_->text().trimmed().toStdString();
  options.name = name_->text().trimmed().toStdString();
  options.tensors = tensors_->isChecked();
  options.durations = durations_->isChecked();
  options.flat_network = flat_network_->isChecked();
  options.replace = replace_->isChecked();
  return options;
}

void ExportDialog::browse() {
  const QString parent = QFileInfo(folder_->text()).path();
  const QString chosen = QFileDialog::getExistingDirectory(this, tr("Folder for the bundle"), parent);
  if (chosen.isEmpty()) return;
  // A folder with other files gets a subfolder for the bundle.
  const bool other_things = !examineTarget(chosen, true).problem.isEmpty();
  setFolder(other_things ? chosen + "/" + slug(name()) : chosen);
}

void ExportDialog::start() {
  if (job_->running() || !(run_ ? window_ != nullptr : session_->current())) return;
  settings::setExportFolder(QFileInfo(folder_->text().trimmed()).absolutePath());
  settings::setExportTensors(tensors_->isChecked());
  settings::setExportFlatNetwork(flat_network_->isChecked());
  started_ = true;
  if (run_) return job_->start(window_, options());
  settings::setExportDurations(durations_->isChecked());
  exported_ = session_->report();
  ExportOptions chosen = options();
  if (shape_->apply(*exported_, chosen)) return;
  part_ = !chosen.part.whole();
  job_->start(exported_, chosen);
}

void ExportDialog::showMessage(const QString& text, bool wrong) {
  const QString style = wrong ? "dialog_error" : "dialog_message";
  if (message_->objectName() != style) {
    message_->setObjectName(style);
    message_->style()->unpolish(message_);
    message_->style()->polish(message_);
  }
  message_->setContentsMargins(wrong ? 10 : 0, wrong ? 7 : 0, wrong ? 10 : 0, wrong ? 7 : 0);
  message_->setText(text);
  message_->setVisible(!text.isEmpty());
}

void ExportDialog::refresh() {
  if (job_->running() || !isVisible()) return;
  outcome_shown_ = false;
  steps_->withdraw();
  showFits();
  const Content of = content();
  const TargetState target = examineTarget(folder_->text(), replace_->isChecked());
  replace_->setEnabled(target.bundle_there);
  QString problem = of.problem.isEmpty() ? target.problem : of.problem;
  if (problem.isEmpty() && name_->text().trimmed().isEmpty()) problem = tr("The traces need a name.");
  if (of.ready && problem.isEmpty() && target.free && of.bytes && *target.free < *of.bytes)
    problem = tr("The bundle does not fit on %1. Free some space or choose another disk.").arg(target.volume);
  size_->setText(sizeText(of, target));
  showMessage(problem, true);
  start_->setEnabled(of.ready && problem.isEmpty());
}

QString ExportDialog::sizeText(const Content& of, const TargetState& target) const {
  if (!of.ready) return of.computing ? tr("being computed") : tr("not known before the design can be built");
  const auto text = [this](int64_t bytes) { return text_of(format_bytes(bytes, session_->units())); };
  const QString traces = counted_text(of.traces, tr("trace"), tr("traces"));
  QString out = of.part ? tr("a part of %1").arg(traces) : traces;
  out += of.bytes ? tr(", about %1").arg(text(*of.bytes)) : tr(", the size is being computed");
  return target.free ? out + tr("; %1 free on %2").arg(text(*target.free), target.volume) : out;
}

void ExportDialog::showFits() {
  const std::shared_ptr<const Report> report = session_->report();
  const bool known = !run_ && session_->current() && report && report->memory;
  const bool wrong = known && !report->memory->fits;
  fits_->setVisible(wrong);
  if (!wrong) return;
  const MemoryTimeline& memory = *report->memory;
  const StageMemory& worst = memory.stages[static_cast<size_t>(memory.peak_stage)];
  fits_->setText(tr("This design does not fit: stage %1 needs %2 per GPU of %3. The traces can still be "
                    "exported and simulated.")
                     .arg(QString::number(memory.peak_stage),
                          with_unit(worst.in_use, byte_scale(to_double(memory.capacity), session_->units())),
                          capacity_text(memory.capacity, session_->units())));
}

void ExportDialog::refreshJob() {
  const bool running = job_->running();
  for (QWidget* widget : {static_cast<QWidget*>(folder_), static_cast<QWidget*>(name_),
                          static_cast<QWidget*>(tensors_), static_cast<QWidget*>(durations_),
                          static_cast<QWidget*>(flat_network_), static_cast<QWidget*>(browse_)}) {
    widget->setEnabled(!running);
  }
  shape_->setAvailable(!running);
  progress_->setVisible(running);
  progress_text_->setVisible(running);
  cancel_->setVisible(running);
  cancel_->setEnabled(!job_->cancelled());
  if (!running) return refresh();
  replace_->setEnabled(false);
  start_->setEnabled(false);
  steps_->withdraw();
  showMessage({}, false);
  const ExportProgress& progress = job_->progress();
  progress_->setValue(progress.ranks > 0 ? static_cast<int>(progress.ranks_done * 1000 / progress.ranks) : 0);
  progress_text_->setText(job_->progressText());
}

void ExportDialog::finish(const ExportJob::Outcome& outcome) {
  refreshJob();
  if (!std::exchange(started_, false)) return;  // of another dialog
  outcome_shown_ = true;
  if (job_->cancelled() && std::holds_alternative<Problem>(outcome)) {
    return showMessage(tr("The export was cancelled. Nothing was left behind."), false);
  }
  if (const auto* problem = std::get_if<Problem>(&outcome))
    return showMessage(text_of(to_string(*problem)), true);
  const auto& done = std::get<ExportSummary>(outcome);
  const QString folder = text_of(done.target.string());
  const bool compact = done.stored_bytes > 0;
  QString nearest;
  for (const std::string& note : done.substitutions)
    nearest += "\n" + tr("network.yml: %1").arg(text_of(note));
  showMessage(tr("Wrote %1 traces with %2 nodes, %3 in %4, to %5")
                      .arg(text_of(grouped(done.ranks)), text_of(grouped(done.nodes)),
                           text_of(format_bytes(compact ? done.stored_bytes : done.bytes, session_->units())),
                           text_of(format_seconds(done.seconds)), folder) +
                  nearest +
                  (compact ? "\n" + tr("shardscape-cli expand %1 makes the bundle").arg(folder) : QString()),
              false);
  start_->setEnabled(false);     // the folder already holds this bundle
  if (compact || part_) return;  // a simulation needs the traces of all ranks
  const auto estimate = session_->estimate();
  std::optional<double> expected;
  if (run_)
    expected = window_->seconds();
  else if (estimate && estimate->report == exported_ && estimate->simulation)
    expected = estimate->simulation->step_seconds;
  steps_->offer(folder, name_->text().trimmed(), expected, run_ || durations_->isChecked());
  steps_->firstButton()->setFocus();
}

void ExportDialog::showEvent(QShowEvent* event) {
  refreshJob();
  if (!event->spontaneous() && !job_->running()) folder_->setFocus();  // Qt would keep the last focus
  QDialog::showEvent(event);
}

// The dialog grows when texts and steps appear, also to the width of a long path.
bool ExportDialog::eventFilter(QObject* watched, QEvent* event) {
  if (watched == scroll_->widget() && event->type() == QEvent::LayoutRequest) {
    const QLayout& layout = *scroll_->widget()->layout();
    const int frame = 2 * scroll_->frameWidth();
    const int wide = std::max(width(), layout.totalMinimumSize().width() + frame);
    const int tall = std::max(height(), layout.totalHeightForWidth(wide - frame) + frame);
    if (wide > width() || tall > height()) resizeOnScreen(this, {wide, tall});
  }
  return QDialog::eventFilter(watched, event);
}

}  // namespace shardscape::ui

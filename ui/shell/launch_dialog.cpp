#include "ui/shell/launch_dialog.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QIntValidator>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeView>

#include "base/units.h"
#include "design/knobs/knobs.h"
#include "launch/launch_prediction.h"
#include "memory/estimate.h"
#include "ui/session/session.h"
#include "ui/toolkit/screen_room.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr int kTypingPause = 250;  // ms
constexpr int kVariablesWidth = 260;

QString label_of(const std::string& framework) {
  for (const LaunchFramework& one : launch_frameworks())
    if (one.id == framework) return text_of(one.label);
  return text_of(framework);
}

// The settings by their labels in the form, and the reason.
QString meaning(const LaunchField& field) {
  QStringList labels;
  for (const std::string& id : field.knobs) {
    const Knob* knob = find_knob(id);
    labels << text_of(knob ? knob->label : id);
  }
  const QString reason = text_of(launch_field_reason(field));
  if (labels.isEmpty() || reason.isEmpty()) return labels.join(QStringLiteral(", ")) + reason;
  return labels.join(QStringLiteral(", ")) + QStringLiteral(": ") + reason;
}

}  // namespace

LaunchDialog::LaunchDialog(Session* session, LaunchRequest request, QWidget* parent)
    : QDialog(parent),
      session_(session),
      request_(std::move(request)),
      title_(importLabel("title", this)),
      summary_(importLabel("secondary", this)),
      problem_(importNotice("dialog_error", this)),
      framework_(new QComboBox(this)),
      gpus_(new QLineEdit(this)),
      name_(new QLineEdit(this)),
      variables_(new QLineEdit(this)),
      fields_(this),
      apply_(new QPushButton(tr("Apply"), this)) {
  setWindowTitle(tr("Import %1").arg(text_of(request_.where)));
  addWidgets();
  title_->setText(text_of(request_.where));
  summary_->setText(tr("The launch is being read."));
  problem_->hide();
  read();
  resizeOnScreen(this, {1020, 720});
}

void LaunchDialog::addWidgets() {
  framework_->setObjectName("launch_framework");
  framework_->addItem(tr("Recognise it"), QString());
  for (const LaunchFramework& one : launch_frameworks())
    framework_->addItem(text_of(one.label), text_of(one.id));
  framework_->setToolTip(tr("The framework that the file belongs to"));
  gpus_->setObjectName("launch_gpus");
  gpus_->setValidator(new QIntValidator(1, 100'000'000, gpus_));
  gpus_->setMaximumWidth(110);
  gpus_->setToolTip(tr("The number of all GPUs. Most files do not say it."));
  name_->setObjectName("launch_model");
  name_->setPlaceholderText(tr("as in the file"));
  name_->setToolTip(
      tr("The model of a file that does not name it: a preset, a name of the Hugging Face hub, or the "
         "path of a config.json"));
  variables_->setObjectName("launch_variables");
  variables_->setMinimumWidth(kVariablesWidth);
  variables_->setPlaceholderText(QStringLiteral("NAME=VALUE"));
  variables_->setToolTip(tr("Variables of the environment that a script reads, separated by spaces"));
  pause_.setSingleShot(true);
  pause_.setInterval(kTypingPause);
  for (QLineEdit* typed : {gpus_, name_, variables_})
    connect(typed, &QLineEdit::textEdited, this, &LaunchDialog::edit);
  connect(&pause_, &QTimer::timeout, this, &LaunchDialog::read);
  connect(&job_, &NewestJob::failed, this, [this] {
    problem_->setText(tr("The launch could not be read."));
    problem_->show();
  });
  connect(framework_, &QComboBox::activated, this, &LaunchDialog::read);
  QPushButton* cancel = importButton(tr("Cancel"), "import_cancel", this);
  apply_->setObjectName("import_apply");
  apply_->setProperty("primary", true);
  apply_->setDefault(true);
  apply_->setToolTip(
      tr("Replaces model, parallelism and workload. The machine stays unless the file names one."));
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(apply_, &QPushButton::clicked, this, &LaunchDialog::apply);

  auto* choices = new QHBoxLayout;
  choices->setSpacing(8);
  const auto add = [&](const QString& name, QWidget* field) {
    auto* label = new QLabel(name, this);
    label->setBuddy(field);
    choices->addWidget(label);
    choices->addWidget(field);
    choices->addSpacing(12);
  };
  add(tr("&Framework"), framework_);
  add(tr("&GPUs"), gpus_);
  add(tr("&Model"), name_);
  add(tr("&Variables"), variables_);
  choices->addStretch();
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(8);
  buttons->addStretch();
  for (QPushButton* last : {cancel, apply_}) buttons->addWidget(last);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(24, 20, 24, 20);
  layout->setSpacing(10);
  layout->addWidget(title_);
  layout->addLayout(choices);
  layout->addWidget(summary_);
  layout->addWidget(problem_);
  layout->addWidget(fields_.view(), 1);
  layout->addLayout(buttons);
}

void LaunchDialog::edit() {
  job_.stop();
  apply_->setEnabled(false);
  pause_.start();
}

void LaunchDialog::read() {
  edit();
  pause_.stop();
  request_.framework = framework_->currentData().toString().toStdString();
  request_.model = name_->text().trimmed().toStdString();
  request_.gpus.reset();
  if (const qint64 typed = gpus_->text().toLongLong(); typed > 0) request_.gpus = typed;
  request_.shell.environment.clear();
  for (const QString& word : variables_->text().split(' ', Qt::SkipEmptyParts))
    if (const qsizetype sign = word.indexOf('='); sign > 0)
      request_.shell.environment[word.left(sign).toStdString()] = word.mid(sign + 1).toStdString();
  job_.start([this, request = request_, cluster = session_->design().cluster, plans = session_->plans()](
                 const NewestJob::Post& post, const std::stop_token& stop) {
    Reading made = reading(request, cluster, plans, stop);
    if (stop.stop_requested()) return;
    post([this, made = std::move(made)] { present(made); });
  });
}

LaunchDialog::Reading LaunchDialog::reading(const LaunchRequest& request, const ClusterSpec& cluster,
                                            const std::shared_ptr<PlanCache>& plans,
                                            const std::stop_token& stop) {
  Reading out{import_launch(request), nullptr, nullptr};
  if (!out.import.ok() || stop.stop_requested()) return out;
  if (out.import.design.cluster == ClusterSpec{}) out.import.design.cluster = cluster;
  out.report = estimate(out.import.design, plans, stop);
  if (out.report && out.report->valid() && !out.import.measured.empty())
    out.simulation = simulate(*out.report, stop);
  return out;
}

void LaunchDialog::present(const Reading& reading) {
  const bool first = shown_.import.framework.empty() && shown_.import.problems.empty() &&
                     !name_->isModified() && !variables_->isModified();
  shown_ = reading;
  const LaunchImport& import = shown_.import;
  if (import.gpus) gpus_->setPlaceholderText(QString::number(*import.gpus));
  fill();
  if (first && import.problems.size() == 1 && import.problems[0].code == ProblemCode::LaunchGpus)
    gpus_->setFocus();
}

void LaunchDialog::fill() {
  const LaunchImport& import = shown_.import;
  const Report* report = shown_.report.get();
  fields_.clear();
  bool folds = false;
  for (const LaunchUseText& use : launch_uses()) {
    std::vector<FieldTree::Row> rows;
    for (const LaunchField& field : import.fields)
      if (field.use == use.use) rows.push_back({text_of(field.name), text_of(field.value), meaning(field)});
    fields_.add(tr("%1 (%2)").arg(use.heading).arg(rows.size()), rows);
    folds = use.use == LaunchUse::NoEffect && !rows.empty();
  }
  std::vector<FieldTree::Row> measured;
  for (const LaunchMeasurement& one : import.measured)
    measured.push_back(
        {text_of(one.what),
         {},
         text_of(measured_text(
             one, shown_.simulation ? predicted_value(one, *report, *shown_.simulation) : std::nullopt))});
  fields_.add(tr("Measured in the log, and predicted (%1)").arg(measured.size()), measured);
  std::vector<FieldTree::Row> service;
  for (const LaunchSetting& setting : import.service)
    service.push_back({text_of(setting.id), text_of(setting.value), tr("a setting of the page Requests")});
  fields_.add(tr("Settings of the serving engine (%1)").arg(service.size()), service);
  std::vector<FieldTree::Row> notes;
  for (const ShellNote& note : import.notes)
    notes.push_back({tr("line %1").arg(note.line), {}, text_of(note.text)});
  fields_.add(tr("Not followed in the script (%1)").arg(notes.size()), notes);
  fields_.finish(folds && notes.empty() && measured.empty() && service.empty());
  fields_.view()->setVisible(fields_.sections() > 0);
  title_->setText(title());
  summary_->setText(summary());
  summary_->setVisible(report && report->valid());
  problem_->setText(problemText());
  problem_->setVisible(!problem_->text().isEmpty());
  apply_->setEnabled(report != nullptr);
}

QString LaunchDialog::title() const {
  if (!shown_.import.ok()) return text_of(request_.where);
  return tr("%1: %2 on %3 GPUs")
      .arg(text_of(request_.where), label_of(shown_.import.framework),
           text_of(grouped(shown_.import.gpus.value_or(0))));
}

QString LaunchDialog::summary() const {
  if (!shown_.report || !shown_.report->valid()) return {};
  QStringList parts{tr("%1 parameters").arg(text_of(grouped(shown_.report->model_parameters.value))),
                    tr("tp %1, pp %2, cp %3, dp %4")
                        .arg(shown_.report->design.parallel.tp)
                        .arg(shown_.report->design.parallel.pp)
                        .arg(shown_.report->design.parallel.cp)
                        .arg(shown_.report->design.parallel.dp)};
  if (!shown_.import.gpus_from.empty()) parts << tr("GPUs: %1").arg(text_of(shown_.import.gpus_from));
  return parts.join(QStringLiteral(" · "));
}

QString LaunchDialog::problemText() const {
  QStringList lines;
  for (const Problem& problem : shown_.import.ok() ? shown_.report->problems : shown_.import.problems)
    lines << text_of(to_string(problem));
  return lines.join('\n');
}

// Also a design with errors: the window shows and mends them.
void LaunchDialog::apply() {
  session_->setDesign(shown_.import.design, tr("Import %1").arg(text_of(request_.where)));
  accept();
}

}  // namespace shardscape::ui

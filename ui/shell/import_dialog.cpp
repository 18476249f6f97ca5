#include "ui/shell/import_dialog.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QTreeView>
#include <algorithm>
#include <iterator>

#include "base/units.h"
#include "plan/report.h"
#include "ui/session/session.h"
#include "ui/toolkit/screen_room.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

FieldTree::Row row_of(const ImportField& field) {
  return {text_of(field.key), text_of(field.value), text_of(field.note)};
}

QString ignoredText(size_t fields) {
  return fields == 1 ? ImportDialog::tr("1 field does not change the architecture")
                     : ImportDialog::tr("%1 fields do not change the architecture").arg(fields);
}

}  // namespace

ImportDialog::ImportDialog(Session* session, HfFiles files, const QString& file, QWidget* parent)
    : QDialog(parent),
      session_(session),
      files_(std::move(files)),
      file_name_(QFileInfo(file).fileName()),
      fields_(this),
      title_(importLabel("title", this)),
      summary_(importLabel("secondary", this)),
      problem_(importNotice("dialog_error", this)),
      approximation_(importNotice("import_approximation", this)),
      import_as_(importButton({}, "import_as", this)),
      editor_(importButton({}, "import_architecture", this)),
      apply_(new QPushButton(tr("Apply"), this)) {
  setWindowTitle(tr("Import %1").arg(file_name_));
  addWidgets();
  present(import_hf_files(files_));
  fields_.sections() > 0 ? resizeOnScreen(this, {940, 640}) : setMinimumWidth(520);
}

void ImportDialog::addWidgets() {
  import_as_->setToolTip(
      tr("Reads the file as this known type. The preview lists what the type has no blocks for."));
  editor_->setProperty("link", true);
  editor_->setToolTip(tr("Edits the layers of the model and their blocks"));
  QPushButton* cancel = importButton(tr("Cancel"), "import_cancel", this);
  apply_->setObjectName("import_apply");
  apply_->setProperty("primary", true);
  apply_->setDefault(true);
  apply_->setToolTip(tr("Applies the model. Parallelism, workload and cluster stay if they fit the model."));
  connect(import_as_, &QPushButton::clicked, this,
          [this] { present(import_hf_files(files_, result_.nearest)); });
  connect(editor_, &QPushButton::clicked, this, &ImportDialog::openEditor);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(apply_, &QPushButton::clicked, this, &ImportDialog::apply);

  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(8);
  buttons->addWidget(editor_);
  buttons->addStretch();
  for (QPushButton* last : {import_as_, cancel, apply_}) buttons->addWidget(last);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(24, 20, 24, 20);
  layout->setSpacing(10);
  for (QLabel* text : {title_, summary_, problem_, approximation_}) layout->addWidget(text);
  layout->addWidget(fields_.view(), 1);
  layout->addLayout(buttons);
}

void ImportDialog::present(ImportResult result) {
  result_ = std::move(result);
  design_ = session_->design();
  if (result_.ok()) apply_model(design_, result_.model, result_.name);
  fill();
  const bool approximate = result_.ok() && !result_.as.empty();
  const bool unknown = !result_.nearest.empty();
  title_->setText(result_.ok() ? text_of(result_.name) : file_name_);
  summary_->setText(result_.ok() ? summary() : QString());
  summary_->setVisible(result_.ok());
  problem_->setText(problemText());
  problem_->setVisible(!result_.ok());
  approximation_->setText(approximate ? approximationText() : QString());
  approximation_->setVisible(approximate);
  fields_.view()->setVisible(fields_.sections() > 0);
  import_as_->setText(tr("Import as %1").arg(text_of(result_.nearest)));
  import_as_->setVisible(unknown);
  editor_->setText(approximate ? tr("Apply and open the architecture editor")
                               : tr("Open the architecture editor"));
  editor_->setVisible(unknown || approximate);
  apply_->setEnabled(result_.ok());
  if (approximate) resizeOnScreen(this, {940, 640});
  if (result_.ok()) apply_->setFocus();
}

void ImportDialog::fill() {
  fields_.clear();
  const auto counted = [](const QString& title, const std::vector<ImportField>& fields) {
    return tr("%1 (%2)").arg(title).arg(fields.size());
  };
  addSection(counted(tr("Different: the model is without these"), result_.differences), result_.differences);
  addSection(counted(tr("Recognised"), result_.recognised), result_.recognised);
  addSection(counted(tr("Assumed"), result_.assumed), result_.assumed);
  addSection(counted(tr("Unknown: check whether these change the model"), result_.unknown), result_.unknown);
  addSection(ignoredText(result_.ignored.size()), result_.ignored);
  fields_.finish(!result_.ignored.empty());  // dozens of fields: one line until a person asks for them
}

void ImportDialog::addSection(const QString& title, const std::vector<ImportField>& fields) {
  std::vector<FieldTree::Row> rows;
  std::transform(fields.begin(), fields.end(), std::back_inserter(rows), row_of);
  fields_.add(title, rows);
}

QString ImportDialog::summary() const {
  Design alone = design_;
  alone.parallel = {};
  alone.workload.batch = alone.workload.microbatch;
  QString out = tr("Model type %1").arg(text_of(result_.model_type));
  if (const auto report = make_report(alone); report && report->valid())
    out += tr(", %1 parameters").arg(text_of(grouped(model_counts(*report).parameters.value)));
  if (!result_.model.preset.empty()) out += tr(", the sizes of the preset %1").arg(text_of(result_.name));
  QStringList counts;
  const auto add = [&](size_t n, const QString& what) {
    if (n > 0) counts << tr("%1 %2").arg(n).arg(what);
  };
  add(result_.differences.size(), tr("different"));
  add(result_.recognised.size(), tr("recognised"));
  add(result_.assumed.size(), tr("assumed"));
  add(result_.unknown.size(), tr("unknown"));
  out += tr(". Fields: %1.").arg(counts.join(QStringLiteral(", ")));
  return result_.ignored.empty() ? out : tr("%1 %2.").arg(out, ignoredText(result_.ignored.size()));
}

QString ImportDialog::problemText() const {
  QStringList lines;
  for (const Problem& problem : result_.problems) lines << text_of(to_string(problem));
  return lines.join('\n');
}

QString ImportDialog::approximationText() const {
  return tr("Imported as %1: an approximation of the type \"%2\". Check the differences and the unknown "
            "fields before you apply the model.")
      .arg(text_of(result_.as), text_of(result_.model_type));
}

void ImportDialog::openEditor() {
  result_.ok() ? apply() : reject();
  Q_EMIT architectureRequested();
}

void ImportDialog::apply() {
  session_->importModel(result_.model, text_of(result_.name));
  accept();
}

}  // namespace shardscape::ui

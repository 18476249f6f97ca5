#include "ui/shell/import_dialog.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QStandardItemModel>
#include <QTreeView>

#include "base/units.h"
#include "plan/report.h"
#include "ui/session/session.h"
#include "ui/toolkit/screen_room.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kRowHeight = 24;

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

QLabel* label(const QString& content, const char* role, QWidget* parent) {
  auto* made = new QLabel(content, parent);
  made->setProperty("role", role);
  made->setTextFormat(Qt::PlainText);
  made->setWordWrap(true);
  return made;
}

}  // namespace

ImportDialog::ImportDialog(Session* session, ImportResult result, const QString& file, QWidget* parent)
    : QDialog(parent),
      session_(session),
      result_(std::move(result)),
      design_(session->design()),
      model_(new QStandardItemModel(this)),
      fields_(new QTreeView(this)),
      apply_(new QPushButton(tr("Apply"), this)) {
  setWindowTitle(tr("Import %1").arg(QFileInfo(file).fileName()));
  if (result_.ok()) apply_model(design_, result_.model, result_.name);
  fill();

  auto* cancel = new QPushButton(tr("Cancel"), this);
  cancel->setObjectName("import_cancel");
  cancel->setAutoDefault(false);
  apply_->setObjectName("import_apply");
  apply_->setProperty("primary", true);
  apply_->setDefault(true);
  apply_->setEnabled(result_.ok());
  apply_->setToolTip(tr("Applies the model. Parallelism, workload and cluster stay if they fit the model."));
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(apply_, &QPushButton::clicked, this, &ImportDialog::apply);

  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(8);
  buttons->addStretch();
  buttons->addWidget(cancel);
  buttons->addWidget(apply_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(24, 20, 24, 20);
  layout->setSpacing(10);
  layout->addWidget(label(result_.ok() ? text(result_.name) : QFileInfo(file).fileName(), "title", this));
  if (result_.ok()) layout->addWidget(label(summary(), "secondary", this));
  if (!result_.ok()) {
    auto* problem = label(problemText(), "", this);
    problem->setObjectName("dialog_error");
    problem->setContentsMargins(10, 7, 10, 7);
    problem->setTextInteractionFlags(Qt::TextSelectableByMouse);
    layout->addWidget(problem);
  }
  const bool any = model_->rowCount() > 0;
  fields_->setVisible(any);
  layout->addWidget(fields_, 1);
  layout->addLayout(buttons);
  any ? resizeOnScreen(this, {940, 640}) : setMinimumWidth(520);
  if (result_.ok()) apply_->setFocus();
}

void ImportDialog::fill() {
  fields_->setObjectName("import_fields");
  fields_->setAccessibleName(tr("Fields of the file"));
  fields_->setModel(model_);
  fields_->setUniformRowHeights(true);
  fields_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  model_->setHorizontalHeaderLabels({tr("Field"), tr("Value"), tr("Meaning")});
  addSection(tr("Recognised"), result_.recognised);
  addSection(tr("Assumed"), result_.assumed);
  addSection(tr("Ignored"), result_.ignored);
  fields_->expandAll();
  int widest = 0;
  for (const auto* list : {&result_.recognised, &result_.assumed, &result_.ignored})
    for (const ImportField& field : *list)
      widest = std::max(widest, fields_->fontMetrics().horizontalAdvance(text(field.key)));
  fields_->setColumnWidth(0, widest + 2 * fields_->indentation() + 24);
  fields_->setColumnWidth(1, 170);
  fields_->header()->setStretchLastSection(true);
}

void ImportDialog::addSection(const QString& title, const std::vector<ImportField>& fields) {
  if (fields.empty()) return;
  auto* section = new QStandardItem(tr("%1 (%2)").arg(title).arg(fields.size()));
  QFont bold = fields_->font();
  bold.setWeight(QFont::DemiBold);
  section->setFont(bold);
  section->setSizeHint({0, kRowHeight});
  for (const ImportField& field : fields) {
    QList<QStandardItem*> row;
    for (const std::string* part : {&field.key, &field.value, &field.note}) {
      row << new QStandardItem(text(*part));
      row.back()->setToolTip(row.back()->text());
      row.back()->setSizeHint({0, kRowHeight});
    }
    row[1]->setFont(Theme::instance().monoFont(12));
    section->appendRow(row);
  }
  model_->appendRow(section);
  fields_->setFirstColumnSpanned(model_->rowCount() - 1, {}, true);
}

QString ImportDialog::summary() const {
  Design alone = design_;
  alone.parallel = {};
  alone.workload.batch = alone.workload.microbatch;
  QString out = tr("Model type %1").arg(text(result_.model_type));
  if (const auto report = make_report(alone); report && report->valid())
    out += tr(", %1 parameters").arg(text(grouped(model_counts(*report).parameters.value)));
  if (!result_.model.preset.empty()) out += tr(", the sizes of the preset %1").arg(text(result_.name));
  QStringList counts;
  const auto add = [&](size_t n, const QString& what) {
    if (n > 0) counts << tr("%1 %2").arg(n).arg(what);
  };
  add(result_.recognised.size(), tr("recognised"));
  add(result_.assumed.size(), tr("assumed"));
  add(result_.ignored.size(), tr("ignored"));
  return out + tr(". Fields: %1.").arg(counts.join(QStringLiteral(", ")));
}

QString ImportDialog::problemText() const {
  QStringList lines;
  for (const Problem& problem : result_.problems) lines << text(to_string(problem));
  return lines.join('\n');
}

void ImportDialog::apply() {
  session_->importModel(result_.model, text(result_.name));
  accept();
}

}  // namespace shardscape::ui

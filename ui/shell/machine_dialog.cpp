#include "ui/shell/machine_dialog.h"

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QShortcut>
#include <QVBoxLayout>
#include <algorithm>

#include "design/cluster.h"
#include "design/knobs/machine_table.h"
#include "design/knobs/zero_value.h"
#include "ui/form/line_field.h"
#include "ui/plot/chart_table.h"
#include "ui/session/session.h"
#include "ui/shell/machine_model.h"
#include "ui/toolkit/copy_label.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/screen_room.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {

MachineDialog::MachineDialog(Session* session, QWidget* parent)
    : QDialog(parent),
      session_(session),
      model_(new MachineModel(this)),
      table_(new ChartTable(this)),
      title_(new QLabel(this)),
      summary_(new QLabel(this)),
      source_(new CopyLabel({}, this)),
      issue_(new IssueLine(this)),
      edit_(new QPushButton(tr("Edit"), this)),
      reset_(new QPushButton(tr("Reset"), this)) {
  setWindowTitle(tr("Machine"));
  setObjectName("machine_dialog");
  title_->setProperty("role", "title");
  summary_->setProperty("role", "secondary");
  source_->setObjectName("machine_source");
  source_->setWordWrap(true);
  source_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  source_->setMinimumHeight(
      3 * source_->fontMetrics().lineSpacing());  // the table keeps its height from row to row
  for (QLabel* label : {title_, summary_}) {
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  }
  table_->setObjectName("machine_table");
  table_->setAccessibleName(tr("Values of the machine"));
  table_->setTable(model_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(24, 20, 24, 20);
  layout->setSpacing(10);
  layout->addWidget(title_);
  layout->addWidget(summary_);
  layout->addWidget(table_, 1);
  layout->addWidget(issue_);
  auto* bottom = new QHBoxLayout;
  bottom->setSpacing(8);
  bottom->addWidget(source_, 1);
  bottom->addWidget(edit_, 0, Qt::AlignTop);
  bottom->addWidget(reset_, 0, Qt::AlignTop);
  layout->addLayout(bottom);
  edit_->setObjectName("machine_edit");
  edit_->setToolTip(tr("Sets the value in this design (F2 or double click)"));
  reset_->setObjectName("machine_reset");
  reset_->setToolTip(tr("Takes the value from the catalogue again (Ctrl+Delete)"));
  issue_->setVisible(false);
  for (QPushButton* button : {edit_, reset_}) button->setAutoDefault(false);
  table_->setEditor(MachineModel::Value,
                    [this](QWidget* editor_parent, int row) { return makeEditor(editor_parent, row); });
  connect(edit_, &QPushButton::clicked, this, [this] { table_->editRow(selected_row_); });
  const auto reset = [this] {
    if (model_->isSet(selected_row_)) setValue(selected_row_, {});
  };
  connect(reset_, &QPushButton::clicked, this, reset);
  auto* reset_key = new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_Delete), table_, nullptr, nullptr,
                                  Qt::WidgetShortcut);
  connect(reset_key, &QShortcut::activated, this, reset);
  // The table changes with the design. Therefore a text takes effect after its editor has closed.
  connect(table_, &ChartTable::edited, this, &MachineDialog::setValue, Qt::QueuedConnection);
  connect(table_, &ChartTable::rowSelected, this, [this](int row) {
    rejected_.reset();
    showSource(row);
  });
  connect(session, &Session::designChanged, this, &MachineDialog::refresh);
  connect(session, &Session::reportChanged, this, &MachineDialog::showIssue);
  resizeOnScreen(this, {1060, 660});
  refresh();
  table_->setFocus();
}

void MachineDialog::refresh() {
  const auto sections = machine_table(session_->design());
  model_->setMachine(sections);
  int64_t set = 0, assumed = 0, all = 0;
  for (const MachineSection& section : sections)
    for (const MachineValue& v : section.values) {
      ++all;
      set += v.origin == ValueOrigin::Design;
      assumed += v.origin == ValueOrigin::Program;
    }
  title_->setText(text_of(machine_name(session_->design().cluster)));
  QStringList parts;
  if (sections.size() > 1) parts << text_of(sections[1].name);
  parts << counted_text(all, tr("value"), tr("values"));
  if (set > 0) parts << tr("%1 set in this design").arg(set);
  if (assumed > 0) parts << tr("%1 assumed").arg(assumed);
  summary_->setText(parts.join(QStringLiteral(" · ")));
  table_->fitColumns();
  showSource(std::min(selected_row_, model_->rowCount() - 1));
}

void MachineDialog::showSource(int row) {
  selected_row_ = std::max(0, row);
  table_->showRow(row);
  edit_->setEnabled(row >= 0 && model_->knob(row));
  reset_->setEnabled(row >= 0 && model_->isSet(row));
  showIssue();
  if (row < 0) return source_->clear();
  const MachineValue& v = model_->value(row);
  source_->setText(QStringLiteral("%1: %2").arg(text_of(v.label), text_of(v.source)));
}

void MachineDialog::showIssue() {
  const Knob* knob = selected_row_ < model_->rowCount() ? model_->knob(selected_row_) : nullptr;
  const Problem* problem = !knob       ? nullptr
                           : rejected_ ? &*rejected_
                                       : session_->problemOf(QString::fromStdString(knob->id));
  if (!problem) return issue_->setVisible(false);
  const Fix fix = rejected_ || problem->fixes.empty() ? Fix{} : problem->fixes.front();
  issue_->show(text_of(problem->what), text_of(problem->accepted), capitalized(text_of(fix.label)),
               [this, fix] { session_->applyFix(fix); });
}

// The field of the form, without its row: the value in the unit of the setting.
QLineEdit* MachineDialog::makeEditor(QWidget* parent, int row) const {
  const Knob* knob = model_->knob(row);
  if (!knob) return nullptr;
  auto* field = new LineField(*knob, parent);
  auto* line = qobject_cast<QLineEdit*>(field->widget());
  field->setParent(line);
  line->setObjectName("machine_editor");
  line->setAccessibleName(knob->unit.empty() ? text_of(knob->label)
                                             : tr("%1 in %2").arg(text_of(knob->label), text_of(knob->unit)));
  line->setToolTip(tr("Accepts %1. Empty: the value of the catalogue.").arg(text_of(accepted_values(*knob))));
  const auto zeros = zero_values(session_->design());
  if (const auto zero = zeros.find(knob->id); zero != zeros.end())
    field->setZero(text_of(zero->second.text()), text_of(zero->second.unit));
  field->show(QString::fromStdString(knob_text(session_->design(), *knob)));
  line->selectAll();
  return line;
}

// An empty text means zero: the value of the catalogue.
void MachineDialog::setValue(int row, const QString& text) {
  const Knob* knob = row < model_->rowCount() ? model_->knob(row) : nullptr;
  if (!knob) return;
  session_->endEdit();
  rejected_ = session_->setKnob(QString::fromStdString(knob->id),
                                text.trimmed().isEmpty() ? QStringLiteral("0") : text);
  session_->endEdit();
  showSource(row);
}

}  // namespace shardscape::ui

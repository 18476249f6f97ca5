#include "ui/shell/machine_dialog.h"

#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

#include "design/cluster.h"
#include "design/knobs/machine_table.h"
#include "ui/plot/chart_table.h"
#include "ui/session/session.h"
#include "ui/shell/machine_model.h"
#include "ui/toolkit/copy_label.h"
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
      source_(new CopyLabel({}, this)) {
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
  layout->addWidget(source_);
  connect(table_, &ChartTable::rowSelected, this, &MachineDialog::showSource);
  connect(session, &Session::designChanged, this, &MachineDialog::refresh);
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
  if (row < 0) return source_->clear();
  const MachineValue& v = model_->value(row);
  source_->setText(QStringLiteral("%1: %2").arg(text_of(v.label), text_of(v.source)));
}

}  // namespace shardscape::ui

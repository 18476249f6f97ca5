#include "ui/shell/start_row.h"

#include <QGridLayout>
#include <QLineEdit>
#include <QPushButton>

#include "design/knobs/knobs.h"
#include "explore/layout.h"
#include "ui/form/gpus_row.h"
#include "ui/form/knob_row.h"
#include "ui/session/session.h"
#include "ui/shell/preset_box.h"

namespace shardscape::ui {

StartRow::StartRow(Session* session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(new PresetBox(session, this)),
      gpus_(new GpusRow(session, this)),
      accelerator_(new KnobRow(*find_knob("accelerator"), session, this)),
      batch_(new KnobRow(*find_knob("batch"), session, this)),
      find_(new QPushButton(tr("Find a layout"), this)) {
  gpus_->setChangesLayout(true);
  find_->setObjectName(QStringLiteral("start_find_layout"));
  find_->setProperty("primary", true);
  find_->setDefault(true);
  find_->setToolTip(tr(
      "Searches the parallelism of this model on these GPUs. It takes about a second. A global batch below "
      "the number of GPUs becomes one sequence per GPU."));
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(24);
  grid->setVerticalSpacing(8);
  grid->addWidget(model_, 0, 0);
  grid->addWidget(gpus_, 0, 1);
  grid->addWidget(accelerator_, 1, 0);
  grid->addWidget(batch_, 1, 1);
  grid->addWidget(find_, 2, 1);
  grid->setColumnStretch(0, 1);
  grid->setColumnStretch(1, 1);
  for (KnobRow* row : {accelerator_, batch_})
    row->setVisible(true);  // rows are hidden until somebody shows them
  setTabOrder(model_, gpus_->field());
  connect(find_, &QPushButton::clicked, this, [this] {
    const Design& design = session_->design();
    const int64_t batch = layout_batch(design.world(), design.workload.batch);
    session_->setKnob(QStringLiteral("batch"), QString::number(batch));
    Q_EMIT layoutAsked();
  });
  connect(session, &Session::designChanged, this, &StartRow::refresh);
  refresh();
}

void StartRow::refresh() {
  accelerator_->takeDesign();
  for (KnobRow* row : {accelerator_, batch_})
    row->refresh(QString::fromStdString(knob_text(session_->design(), row->knob())));
}

}  // namespace shardscape::ui

#include "ui/shell/launch_text_dialog.h"

#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QToolTip>
#include <QTreeView>

#include "base/atomic_write.h"
#include "design/knobs/knobs.h"
#include "ui/session/session.h"
#include "ui/shell/settings.h"
#include "ui/toolkit/screen_room.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
LaunchTextDialog::LaunchTextDialog(Session* session, QWidget* parent)
    : QDialog(parent),
      session_(session),
      title_(importLabel("title", this)),
      problem_(importNotice("dialog_error", this)),
      framework_(new QComboBox(this)),
      text_(new QPlainTextEdit(this)),
      gaps_(this),
      copy_(new QPushButton(tr("Copy"), this)),
      save_(importButton(tr("Save as..."), "launch_save", this)) {
  setWindowTitle(tr("Copy as a launch"));
  addWidgets();
  write();
  resizeOnScreen(this, {900, 720});
}

void LaunchTextDialog::addWidgets() {
  title_->setText(tr("Run this design"));
  framework_->setObjectName("launch_framework");
  for (const LaunchFramework& one : launch_export_frameworks())
    framework_->addItem(text_of(one.label), text_of(one.id));
  text_->setObjectName("launch_text");
  text_->setReadOnly(true);
  text_->setLineWrapMode(QPlainTextEdit::NoWrap);
  text_->setFont(Theme::instance().monoFont(12));
  text_->setAccessibleName(tr("The launch"));
  gaps_.view()->setObjectName("launch_gaps");
  gaps_.view()->setAccessibleName(tr("Settings that the launch does not say"));
  gaps_.view()->setMaximumHeight(220);
  copy_->setObjectName("launch_copy");
  copy_->setProperty("primary", true);
  copy_->setDefault(true);
  QPushButton* close = importButton(tr("Close"), "launch_close", this);
  connect(framework_, &QComboBox::activated, this, &LaunchTextDialog::write);
  connect(copy_, &QPushButton::clicked, this, &LaunchTextDialog::copy);
  connect(save_, &QPushButton::clicked, this, &LaunchTextDialog::save);
  connect(close, &QPushButton::clicked, this, &QDialog::reject);

  auto* label = new QLabel(tr("&Framework or server"), this);
  label->setBuddy(framework_);
  auto* choice = new QHBoxLayout;
  choice->setSpacing(8);
  choice->addWidget(label);
  choice->addWidget(framework_);
  choice->addStretch();
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(8);
  buttons->addStretch();
  for (QPushButton* last : {close, save_, copy_}) buttons->addWidget(last);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(24, 20, 24, 20);
  layout->setSpacing(10);
  layout->addWidget(title_);
  layout->addLayout(choice);
  layout->addWidget(problem_);
  layout->addWidget(text_, 1);
  layout->addWidget(gaps_.view());
  layout->addLayout(buttons);
}

void LaunchTextDialog::write() {
  launch_ = {};
  const auto written = export_launch(session_->design(), framework_->currentData().toString().toStdString());
  const auto* problem = std::get_if<Problem>(&written);
  if (!problem) launch_ = std::get<LaunchText>(written);
  problem_->setText(problem ? text_of(to_string(*problem)) : QString());
  problem_->setVisible(problem != nullptr);
  text_->setPlainText(text_of(launch_.text));
  gaps_.clear();
  std::vector<FieldTree::Row> rows;
  for (const LaunchGap& gap : launch_.gaps)
    rows.push_back({text_of(find_knob(gap.knob)->label), text_of(gap.value), text_of(gap.reason)});
  gaps_.add(tr("Not in this launch, which therefore differs from the design (%1)").arg(rows.size()), rows);
  gaps_.finish(false);
  gaps_.view()->setVisible(!rows.empty());
  for (QPushButton* button : {copy_, save_}) button->setEnabled(!launch_.text.empty());
}

void LaunchTextDialog::copy() {
  QGuiApplication::clipboard()->setText(text_of(launch_.text));
  QToolTip::showText(copy_->mapToGlobal(QPoint(0, 0)), tr("Copied"), copy_);
}

void LaunchTextDialog::save() {
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Save the launch"), QDir(settings::designFolder()).filePath(text_of(launch_.file_name)));
  if (path.isEmpty()) return;
  const auto problem = atomic_write(path.toStdString(), launch_.text);
  problem_->setText(problem ? text_of(to_string(*problem)) : QString());
  problem_->setVisible(problem.has_value());
}

}  // namespace shardscape::ui

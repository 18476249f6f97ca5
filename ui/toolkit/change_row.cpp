#include "ui/toolkit/change_row.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace shardscape::ui {

ChangeRow::ChangeRow(const Change& change, QWidget* parent)
    : QFrame(parent), button_(new QPushButton(tr("Apply"), this)) {
  setObjectName(QStringLiteral("change_row"));
  auto* name = new QLabel(change.name, this);
  name->setProperty("role", "heading");
  name->setWordWrap(true);
  auto* title = new QHBoxLayout;
  title->setSpacing(8);
  title->addWidget(name, 1);
  if (!change.badge.isEmpty()) {
    auto* badge = new QLabel(change.badge, this);
    badge->setProperty("badge", change.fits ? "good" : "plain");
    title->addWidget(badge, 0, Qt::AlignTop);
  }
  auto* words = new QVBoxLayout;
  words->setSpacing(2);
  words->addLayout(title);
  words->addWidget(new QLabel(change.figures, this));
  if (!change.details.isEmpty()) {
    auto* details = new QLabel(change.details, this);
    details->setProperty("role", "small");
    details->setWordWrap(true);
    words->addWidget(details);
  }
  button_->setAutoDefault(true);
  button_->setAccessibleName(tr("Apply: %1").arg(change.name));
  button_->setAccessibleDescription(change.description);
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(12, 9, 10, 9);
  line->setSpacing(14);
  line->addLayout(words, 1);
  line->addWidget(button_, 0, Qt::AlignVCenter);
}

void ChangeRow::setCurrent() {
  button_->setText(tr("Current"));
  button_->setEnabled(false);
}

}  // namespace shardscape::ui

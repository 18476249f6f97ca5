#include "ui/toolkit/segmented_control.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QPushButton>

namespace shardscape::ui {

SegmentedControl::SegmentedControl(const QString& accessible_name, const QStringList& labels, QWidget* parent)
    : QWidget(parent), group_(new QButtonGroup(this)), row_(new QHBoxLayout(this)) {
  setAccessibleName(accessible_name);
  row_->setContentsMargins(0, 0, 0, 0);
  row_->setSpacing(0);
  group_->setExclusive(true);
  setLabels(labels);
  setCurrent(0);
  connect(group_, &QButtonGroup::idClicked, this, &SegmentedControl::chosen);
}

void SegmentedControl::setLabels(const QStringList& labels) {
  const int before = current();
  for (QAbstractButton* button : group_->buttons()) {
    group_->removeButton(button);
    button->hide();
    button->deleteLater();  // the button may still be handling its click
  }
  for (int i = 0; i < labels.size(); ++i) {
    auto* button = new QPushButton(labels[i], this);
    button->setCheckable(true);
    button->setAccessibleName(accessibleName() + QStringLiteral(": ") + labels[i]);
    if (labels.size() > 1)
      button->setProperty("segment", i == 0 ? "first" : i + 1 == labels.size() ? "last" : "middle");
    group_->addButton(button, i);
    row_->addWidget(button);
  }
  setCurrent(before);
}

QPushButton* SegmentedControl::button(int index) const {
  return qobject_cast<QPushButton*>(group_->button(index));
}

void SegmentedControl::setLabel(int index, const QString& label) {
  group_->button(index)->setText(label);
  group_->button(index)->setAccessibleName(accessibleName() + QStringLiteral(": ") + label);
}

int SegmentedControl::current() const { return group_->checkedId(); }

void SegmentedControl::setCurrent(int index) {
  if (auto* button = group_->button(index)) button->setChecked(true);
}

}  // namespace shardscape::ui

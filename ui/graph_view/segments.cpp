#include "ui/graph_view/segments.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QPushButton>

namespace shardscape::ui {

Segments::Segments(const QString& accessible_name, const QStringList& labels, QWidget* parent)
    : QWidget(parent), group_(new QButtonGroup(this)), row_(new QHBoxLayout(this)) {
  setAccessibleName(accessible_name);
  row_->setContentsMargins(0, 0, 0, 0);
  row_->setSpacing(0);
  group_->setExclusive(true);
  setLabels(labels);
  setCurrent(0);
  connect(group_, &QButtonGroup::idClicked, this, &Segments::chosen);
}

void Segments::setLabels(const QStringList& labels) {
  const int before = current();
  for (QAbstractButton* button : group_->buttons()) {
    group_->removeButton(button);
    button->hide();
    button->deleteLater();  // it may be in the middle of its own click
  }
  for (int i = 0; i < labels.size(); ++i) {
    auto* button = new QPushButton(labels[i], this);
    button->setCheckable(true);
    button->setAccessibleName(accessibleName() + QStringLiteral(": ") + labels[i]);
    const bool first = i == 0, last = i + 1 == labels.size();
    // Only the outer corners are round; neighbours share one hairline.
    button->setStyleSheet(QStringLiteral("QPushButton { border-top-left-radius: %1px; border-bottom-left-radius: %1px; "
                                         "border-top-right-radius: %2px; border-bottom-right-radius: %2px; margin-left: %3px; }")
                              .arg(first ? 6 : 0).arg(last ? 6 : 0).arg(first ? 0 : -1));
    group_->addButton(button, i);
    row_->addWidget(button);
  }
  setCurrent(before);
}

QPushButton* Segments::button(int index) const { return qobject_cast<QPushButton*>(group_->button(index)); }

void Segments::setLabel(int index, const QString& label) {
  group_->button(index)->setText(label);
  group_->button(index)->setAccessibleName(accessibleName() + QStringLiteral(": ") + label);
}

int Segments::current() const { return group_->checkedId(); }

void Segments::setCurrent(int index) {
  if (auto* button = group_->button(index)) button->setChecked(true);
}

}  // namespace shardscape::ui

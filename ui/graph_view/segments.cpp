#include "ui/graph_view/segments.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QPushButton>

namespace shardscape::ui {

Segments::Segments(const QString& accessible_name, const QStringList& labels, QWidget* parent)
    : QWidget(parent), group_(new QButtonGroup(this)) {
  setAccessibleName(accessible_name);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  for (int i = 0; i < labels.size(); ++i) {
    auto* button = new QPushButton(labels[i], this);
    button->setCheckable(true);
    button->setAccessibleName(accessible_name + QStringLiteral(": ") + labels[i]);
    const bool first = i == 0, last = i + 1 == labels.size();
    // Only the outer corners are round; neighbours share one hairline.
    button->setStyleSheet(QStringLiteral("QPushButton { border-top-left-radius: %1px; border-bottom-left-radius: %1px; "
                                         "border-top-right-radius: %2px; border-bottom-right-radius: %2px; margin-left: %3px; }")
                              .arg(first ? 6 : 0).arg(last ? 6 : 0).arg(first ? 0 : -1));
    group_->addButton(button, i);
    row->addWidget(button);
  }
  group_->setExclusive(true);
  setCurrent(0);
  connect(group_, &QButtonGroup::idClicked, this, &Segments::chosen);
}

void Segments::setLabel(int index, const QString& label) {
  group_->button(index)->setText(label);
  group_->button(index)->setAccessibleName(accessibleName() + QStringLiteral(": ") + label);
}

int Segments::current() const { return group_->checkedId(); }

void Segments::setCurrent(int index) {
  if (auto* button = group_->button(index)) button->setChecked(true);
}

}  // namespace shardscape::ui

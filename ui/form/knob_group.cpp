#include "ui/form/knob_group.h"

#include <QHBoxLayout>
#include <QLabel>

#include "ui/form/knob_row.h"

namespace shardscape::ui {

KnobGroupBox::KnobGroupBox(KnobGroup group, Session* session, QWidget* parent)
    : QWidget(parent), group_(group), total_(new QLabel(this)) {
  const std::string_view name = group_label(group);
  const QString label = QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
  setAccessibleName(label);
  auto* title = new QLabel(label.toUpper(), this);
  title->setProperty("role", "group");
  total_->setProperty("role", "total");
  total_->setObjectName("total_" + label.toLower());

  auto* header = new QHBoxLayout;
  header->setContentsMargins(0, 0, 0, 2);
  header->addWidget(title);
  header->addStretch();
  header->addWidget(total_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addLayout(header);
  for (const Knob& knob : knobs()) {
    if (knob.group != group) continue;
    auto* row = new KnobRow(knob, session, this);
    rows_ << row;
    layout->addWidget(row);
  }
}

void KnobGroupBox::setTotal(const QString& total) { total_->setText(total); }

int KnobGroupBox::filter(const QString& text) {
  int shown = 0;
  for (KnobRow* row : rows_) {
    const bool match = row->matches(text);
    row->setVisible(match);
    shown += match;
  }
  setVisible(shown > 0);
  return shown;
}

}  // namespace shardscape::ui

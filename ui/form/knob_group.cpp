#include "ui/form/knob_group.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include "ui/form/knob_row.h"
#include "ui/form/knob_section.h"
#include "ui/session/staleness.h"

namespace shardscape::ui {

KnobGroupBox::KnobGroupBox(KnobGroup group, Session* session, QWidget* parent)
    : QWidget(parent), group_(group), header_(new QHBoxLayout), total_(new QLabel(this)) {
  const std::string_view name = group_label(group);
  const QString label = QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
  setAccessibleName(label);
  auto* title = new QLabel(label.toUpper(), this);
  title->setProperty("role", "group");
  total_->setProperty("role", "total");
  total_->setObjectName("total_" + label.toLower());
  dimWhileStale(total_, session);

  header_->setContentsMargins(0, 0, 0, 2);
  header_->addWidget(title);
  header_->addStretch();
  header_->addWidget(total_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addLayout(header_);
  QVector<QString> names;
  for (const Knob& knob : knobs()) {
    if (knob.group != group) continue;
    const QString name = QString::fromStdString(knob.section);
    if (!names.contains(name)) {
      names << name;
      sections_ << new KnobSection(name, this);
      layout->addWidget(sections_.last());
    }
    KnobSection* section = sections_[names.indexOf(name)];
    rows_ << new KnobRow(knob, session, section);
    section->add(rows_.last());
  }
  for (KnobSection* section : sections_) section->setHeading(sections_.size() > 1);
}

void KnobGroupBox::setTotal(const QString& total) { total_->setText(total); }

void KnobGroupBox::addLink(const QString& name, const QString& text, const QString& tip) {
  auto* link = new QPushButton(text, this);
  link->setObjectName(name);
  link->setProperty("link", true);
  link->setToolTip(tip);
  link->setAccessibleName(accessibleName() + QStringLiteral(": ") + text);
  link->setFocusPolicy(Qt::TabFocus);
  link->setCursor(Qt::PointingHandCursor);
  header_->insertWidget(1, link);
  connect(link, &QPushButton::clicked, this, &KnobGroupBox::linkActivated);
}

void KnobGroupBox::refresh() {
  for (KnobSection* section : sections_) section->refresh();
}

void KnobGroupBox::reveal(KnobRow* row) {
  for (KnobSection* section : sections_)
    if (section->rows().contains(row)) section->setFolded(false);
}

int KnobGroupBox::filter(const QString& text, bool helps) {
  int shown = 0;
  for (KnobSection* section : sections_) shown += section->filter(text, helps);
  setVisible(shown > 0);
  return shown;
}

}  // namespace shardscape::ui

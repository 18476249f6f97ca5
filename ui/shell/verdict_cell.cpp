#include "ui/shell/verdict_cell.h"

#include <QHBoxLayout>
#include <QPushButton>

#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {

VerdictCell::VerdictCell(const QString& label, QWidget* parent)
    : QWidget(parent),
      label_(label),
      caption_(new ElidedLabel(this, Theme::instance().uiFont(11))),
      number_(new ElidedLabel(this, Theme::instance().uiFont(18, QFont::DemiBold))),
      unit_(new ElidedLabel(this, Theme::instance().uiFont(12))),
      link_(new QPushButton(this)) {
  caption_->setText(label);
  caption_->setTerm(label);
  number_->setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Fixed);
  auto* line = new QHBoxLayout;
  line->setSpacing(5);
  line->addWidget(number_, 0, Qt::AlignBottom);
  line->addWidget(unit_, 1, Qt::AlignBottom);
  unit_->setContentsMargins(0, 0, 0, 2);
  link_->setProperty("link", true);
  link_->setCursor(Qt::PointingHandCursor);
  link_->setVisible(false);
  line->addWidget(link_, 0, Qt::AlignBottom);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(1);
  layout->addWidget(caption_);
  layout->addLayout(line);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  recolor();
  connect(&Theme::instance(), &Theme::changed, this, &VerdictCell::recolor);
}

void VerdictCell::recolor() {
  caption_->setInk(Theme::instance().colors().secondary);
  unit_->setInk(Theme::instance().colors().secondary);
  number_->setInk(pale_ ? Theme::instance().colors().secondary : QColor());
}

void VerdictCell::setPale(bool pale) {
  pale_ = pale;
  recolor();
}

void VerdictCell::setLabel(const QString& label) {
  label_ = label;
  caption_->setText(label);
  caption_->setTerm(label);
}

void VerdictCell::setValue(const QString& value, const QString& detail) {
  const qsizetype blank = value.indexOf(' ');
  const QString unit = blank < 0 ? QString() : value.mid(blank + 1);
  number_->setText(blank < 0 ? value : value.left(blank));
  unit_->setText(detail.isEmpty() ? unit : detail);
  unit_->setVisible(!unit_->text().isEmpty());
  setAccessibleName(text());
}

void VerdictCell::setLink(const QString& label, const QString& description) {
  link_->setText(label);
  link_->setAccessibleDescription(description);
  link_->setVisible(!label.isEmpty());
}

QString VerdictCell::text() const { return label_ + ": " + number_->text() + " " + unit_->text(); }

}  // namespace shardscape::ui

#include "ui/views/explore/dimension_row.h"

#include <QCheckBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/icons.h"
#include "ui/toolkit/invalid_mark.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_chips.h"
#include "ui/views/explore/dimension_values.h"

namespace shardscape::ui {
namespace {

constexpr int kTickWidth = 22, kBetween = 6;

}  // namespace

DimensionRow::DimensionRow(const QString& id, const QString& label, const QString& help,
                           bool ticked_by_person, QWidget* parent)
    : QWidget(parent),
      id_(id),
      field_(new QLineEdit(this)),
      chips_(new ValueChips(tr("Values of %1").arg(label), this)),
      type_(new QToolButton(this)),
      issue_(new IssueLine(this)) {
  auto* line = new QHBoxLayout;
  line->setContentsMargins(0, 0, 0, 0);
  line->setSpacing(kBetween);
  if (ticked_by_person) {
    tick_ = new QCheckBox(this);
    tick_->setObjectName(QStringLiteral("vary_") + id);
    tick_->setAccessibleName(tr("Vary %1").arg(label));
    tick_->setToolTip(help);
    tick_->setFixedWidth(kTickWidth);
    line->addWidget(tick_);
    connect(tick_, &QCheckBox::toggled, this, [this] {
      showUse();
      Q_EMIT edited();
    });
  }
  name_ = new ElidedLabel(this, Theme::instance().uiFont());
  name_->setText(label);
  name_->installEventFilter(this);
  line->addWidget(name_, 1);
  type_->setObjectName(QStringLiteral("type_") + id);
  type_->setProperty("flat", true);
  setThemedIcon(type_, QStringLiteral("edit"));
  type_->setCheckable(true);
  type_->setFocusPolicy(Qt::StrongFocus);
  type_->setAccessibleName(tr("Type the values of %1").arg(label));
  type_->setToolTip(tr("Type values: a list such as 1,2,4, a range such as 1..64*2, or all"));
  connect(type_, &QToolButton::toggled, this, [this](bool on) {
    typed_ = on;
    showValues();
    if (on) focusValues();
  });
  line->addWidget(type_);
  field_->setObjectName(QStringLiteral("values_") + id);
  field_->setAccessibleName(tr("Values of %1").arg(label));
  field_->setToolTip(help);
  field_->setFont(Theme::instance().monoFont(12));
  field_->setAcceptDrops(false);
  auto* completer = new WordCompleter(field_);
  completer->setWords(valueWords(id));
  connect(completer, QOverload<const QString&>::of(&QCompleter::activated), this, &DimensionRow::edited,
          Qt::QueuedConnection);
  connect(field_, &QLineEdit::textEdited, this, [this] {
    use();
    Q_EMIT edited();
  });
  connect(chips_, &ValueChips::toggled, this, &DimensionRow::choose);
  auto* values = new QVBoxLayout;
  values->setContentsMargins(0, 0, 0, 0);
  values->addWidget(chips_);
  values->addWidget(field_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addLayout(line);
  layout->addLayout(values);
  layout->addWidget(issue_);
  issue_->setVisible(false);
  showValues();
  showUse();
}

// A click on the name toggles the tick, or focuses the values.
bool DimensionRow::eventFilter(QObject* watched, QEvent* event) {
  if (watched == name_ && event->type() == QEvent::MouseButtonPress) tick_ ? tick_->toggle() : focusValues();
  return QWidget::eventFilter(watched, event);
}

void DimensionRow::focusValues() {
  if (field_->isHidden()) return chips_->chip(chips_->values().front())->setFocus(Qt::TabFocusReason);
  field_->setFocus(Qt::TabFocusReason);
  field_->selectAll();
}

bool DimensionRow::used() const { return !tick_ || tick_->isChecked(); }

void DimensionRow::setUsed(bool used) {
  if (!tick_) return;
  const QSignalBlocker quiet(tick_);
  tick_->setChecked(used);
  showUse();
}

void DimensionRow::use() {
  if (!used()) setUsed(true);
}

void DimensionRow::showUse() {
  const bool idle = !used();
  if (idle) accept();
  name_->setEnabled(!idle);
  chips_->setIdle(idle);
  if (field_->property("idle").toBool() == idle) return;
  field_->setProperty("idle", idle);
  field_->style()->unpolish(field_);
  field_->style()->polish(field_);
}

// The field is shown if there are no chips, if the person types, and while its text is refused.
void DimensionRow::showValues() {
  const bool any = !chips_->values().isEmpty();
  type_->setVisible(any);
  const bool field = !any || typed_;
  if (field_->isHidden() == !field && chips_->isHidden() == field) return;
  field_->setVisible(field);
  chips_->setVisible(!field);
}

void DimensionRow::offer(const OfferedValues& offered) {
  if (field_->hasFocus() && !field_->isHidden() && !typed_) return;  // chips would replace the edited field
  chips_->setValues(offered.values, offered.labels, offered.chosen);
  showValues();
}

void DimensionRow::choose() {
  QStringList chosen = chips_->chosen();
  const QString all = QStringLiteral("all");
  if (chosen.size() > 1 && chosen.contains(all)) {  // "all" and single values exclude each other
    const bool before = values() == all;
    chosen = before ? (chosen.removeAll(all), chosen) : QStringList{all};
  }
  field_->setText(chosen.join(u','));
  use();
  Q_EMIT edited();
}

QString DimensionRow::values() const { return field_->text().trimmed(); }

void DimensionRow::setValues(const QString& values) {
  field_->setText(values);
  field_->setCursorPosition(0);
  accept();
}

void DimensionRow::accept() {
  if (used()) accepted_ = values();
  issue_->setVisible(false);
  markInvalid(field_, false);
}

void DimensionRow::refuse(const Problem& problem) {
  markInvalid(field_, true);
  const QString keep = accepted_ == values() ? QString() : tr("Keep %1").arg(accepted_);
  issue_->show(QString::fromStdString(problem.what), QString::fromStdString(problem.accepted),
               accepted_.isEmpty() ? QString() : keep, [this] {
                 setValues(accepted_);
                 Q_EMIT edited();
               });
}

bool DimensionRow::refused() const { return !issue_->isHidden(); }

}  // namespace shardscape::ui

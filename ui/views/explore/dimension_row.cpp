#include "ui/views/explore/dimension_row.h"

#include <QCheckBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/invalid_mark.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

// The field is as wide as its values; the name gets the rest. A row without a tick has room for a wide field.
constexpr int kLeastField = 54, kMostField = 98, kWideField = 112, kFieldPadding = 22, kTickWidth = 22,
              kBetween = 6;
constexpr int kTightField = 70;       // the least width of the field next to a long name
constexpr double kFieldShare = 0.42;  // the largest share of a wide row

}  // namespace

DimensionRow::DimensionRow(const QString& id, const QString& label, const QString& help,
                           bool ticked_by_person, QWidget* parent)
    : QWidget(parent), id_(id), field_(new QLineEdit(this)), issue_(new IssueLine(this)) {
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
  name_->setShort(QString(label).replace(QStringLiteral("communication"), tr("comm.")));
  name_->installEventFilter(this);
  line->addWidget(name_, 1);
  field_->setObjectName(QStringLiteral("values_") + id);
  field_->setAccessibleName(tr("Values of %1").arg(label));
  field_->setToolTip(help);
  field_->setFont(Theme::instance().monoFont(12));
  fitField();
  field_->setAcceptDrops(false);
  line->addWidget(field_);
  connect(field_, &QLineEdit::textChanged, this, &DimensionRow::fitField);
  connect(field_, &QLineEdit::textEdited, this, [this] {
    if (tick_ && !tick_->isChecked()) {
      const QSignalBlocker quiet(tick_);
      tick_->setChecked(true);
      showUse();
    }
    Q_EMIT edited();
  });
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addLayout(line);
  layout->addWidget(issue_);
  issue_->setVisible(false);
  showUse();
}

void DimensionRow::fitField() {
  const int room = width() - name_->sizeHint().width() - kBetween -
                   (tick_ ? kTickWidth + kBetween : 0);  // the width that remains next to the full name
  const int wanted = std::max(tick_ ? kMostField : kWideField, static_cast<int>(width() * kFieldShare));
  const int least = tick_ ? kLeastField : kTightField,
            most = std::max(least, std::min(wanted, std::max(kTightField, room)));
  field_->setFixedWidth(std::clamp(
      QFontMetrics(field_->font()).horizontalAdvance(field_->text()) + kFieldPadding, least, most));
}

void DimensionRow::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitField();
}

// A click on the name toggles the tick, or focuses the field.
bool DimensionRow::eventFilter(QObject* watched, QEvent* event) {
  if (watched == name_ && event->type() == QEvent::MouseButtonPress)
    tick_ ? tick_->toggle() : field_->setFocus(Qt::MouseFocusReason);
  return QWidget::eventFilter(watched, event);
}

bool DimensionRow::used() const { return !tick_ || tick_->isChecked(); }

void DimensionRow::setUsed(bool used) {
  if (!tick_) return;
  const QSignalBlocker quiet(tick_);
  tick_->setChecked(used);
  showUse();
}

void DimensionRow::showUse() {
  const bool idle = !used();
  if (idle) accept();
  name_->setEnabled(!idle);
  if (field_->property("idle").toBool() == idle) return;
  field_->setProperty("idle", idle);
  field_->style()->unpolish(field_);
  field_->style()->polish(field_);
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

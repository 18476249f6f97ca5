#include "ui/toolkit/value_chips.h"

#include <QKeyEvent>
#include <QPushButton>
#include <QStyle>
#include <utility>

#include "ui/toolkit/flow_layout.h"

namespace shardscape::ui {
namespace {

constexpr int kGap = 4;

QPushButton* make_chip(const QString& label, QWidget* parent) {
  auto* chip = new QPushButton(label, parent);
  chip->setProperty("chip", true);
  chip->setAutoDefault(false);
  chip->setFocusPolicy(Qt::ClickFocus);
  return chip;
}

}  // namespace

ValueChips::ValueChips(const QString& name, QWidget* parent) : QWidget(parent), more_(make_chip({}, this)) {
  setAccessibleName(name);
  new FlowLayout(kGap, this);
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  more_->setObjectName(QStringLiteral("more_values"));
  more_->setProperty("quiet", true);
  more_->installEventFilter(this);
  layout()->addWidget(more_);
  connect(more_, &QPushButton::clicked, this, [this] {
    open_ = !open_;
    fold();
  });
}

void ValueChips::setValues(const QStringList& values, const QStringList& labels, const QStringList& chosen) {
  if (values != values_) {
    values_ = values;
    labels_.clear();
    qDeleteAll(chips_);
    chips_.clear();
    layout()->removeWidget(more_);
    for (qsizetype i = 0; i < values.size(); ++i) {
      auto* chip = make_chip(labels.value(i, values[i]), this);
      labels_ << chip->text();
      chip->setObjectName(QStringLiteral("chip_") + values[i]);
      chip->setCheckable(true);
      chip->setProperty("idle", idle_);
      chip->setAccessibleName(accessibleName() + QStringLiteral(": ") + chip->text());
      chip->installEventFilter(this);
      connect(chip, &QPushButton::clicked, this, [this](bool on) {
        open_ = open_ || !on;  // a value that the person leaves out stays in the list
        Q_EMIT toggled();
      });
      layout()->addWidget(chip);
      chips_ << chip;
    }
    layout()->addWidget(more_);
  }
  elide();
  for (qsizetype i = 0; i < values.size(); ++i) chips_[i]->setChecked(chosen.contains(values[i]));
  fold();
}

QStringList ValueChips::chosen() const {
  QStringList out;
  for (qsizetype i = 0; i < values_.size(); ++i)
    if (chips_[i]->isChecked()) out << values_[i];
  return out;
}

QPushButton* ValueChips::chip(const QString& value) const {
  const qsizetype at = values_.indexOf(value);
  return at < 0 ? nullptr : chips_[at];
}

void ValueChips::elide() {
  constexpr int kPadding = 20;
  if (width() <= kPadding) return;
  for (qsizetype i = 0; i < chips_.size(); ++i) {
    const QString text = chips_[i]->fontMetrics().elidedText(labels_[i], Qt::ElideMiddle, width() - kPadding);
    if (text == chips_[i]->text()) continue;
    chips_[i]->setText(text);
    chips_[i]->setToolTip(text == labels_[i] ? QString() : labels_[i]);
  }
}

void ValueChips::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  elide();
}

void ValueChips::setIdle(bool idle) {
  if (std::exchange(idle_, idle) == idle) return;
  for (QPushButton* chip : chips_) {
    chip->setProperty("idle", idle);
    chip->style()->unpolish(chip);
    chip->style()->polish(chip);
  }
}

void ValueChips::fold() {
  const bool many = chips_.size() > kFew;
  int hidden = 0;
  for (QPushButton* chip : chips_) {
    const bool shown = !many || open_ || chip->isChecked();
    chip->setVisible(shown);
    hidden += !shown;
  }
  more_->setVisible(many && (open_ || hidden > 0));
  more_->setText(open_ ? tr("Fewer") : tr("+ %1").arg(hidden));
  more_->setToolTip(open_ ? tr("Hides values that are not chosen")
                          : tr("Shows %1 values that are not chosen").arg(hidden));
  more_->setAccessibleName(more_->toolTip());
  // One chip takes the focus of the Tab key: the first one that is shown.
  bool first = true;
  for (QPushButton* chip : chips_ + QList<QPushButton*>{more_}) {
    const bool stop = first && !chip->isHidden();
    chip->setFocusPolicy(stop ? Qt::StrongFocus : Qt::ClickFocus);
    if (stop) first = false;
  }
  updateGeometry();
}

void ValueChips::focusNext(QPushButton* from, int by) {
  const QList<QPushButton*> all = chips_ + QList<QPushButton*>{more_};
  for (qsizetype i = all.indexOf(from) + by; i >= 0 && i < all.size(); i += by)
    if (!all[i]->isHidden()) return all[i]->setFocus(Qt::TabFocusReason);
}

bool ValueChips::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
  auto* chip = qobject_cast<QPushButton*>(watched);
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Left:
    case Qt::Key_Up: focusNext(chip, -1); return true;
    case Qt::Key_Right:
    case Qt::Key_Down: focusNext(chip, 1); return true;
    case Qt::Key_Return:
    case Qt::Key_Enter: chip->click(); return true;
    default: return QWidget::eventFilter(watched, event);
  }
}

}  // namespace shardscape::ui

#include "ui/form/line_field.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QWheelEvent>
#include <algorithm>

#include "ui/toolkit/display_text.h"
#include "ui/toolkit/select_on_click.h"

namespace shardscape::ui {
namespace {

constexpr int kPauseMs = 400;  // a person who types on pauses less long

}  // namespace

LineField::LineField(const Knob& knob, QWidget* parent)
    : KnobField(parent), knob_(knob), line_(new QLineEdit(parent)) {
  line_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  if (knob.type == KnobType::IntegerList)
    line_->setPlaceholderText(QString::fromStdString(knob.when_empty).section(u' ', 0, 0));
  if (knob.type == KnobType::ChoiceList || knob.type == KnobType::Text) line_->setPlaceholderText(tr("none"));
  line_->setAcceptDrops(false);  // the window handles dropped designs
  line_->installEventFilter(this);
  if (knob.type == KnobType::Integer || knob.type == KnobType::Decimal) selectOnClick(line_);
  connect(line_, &QLineEdit::textEdited, this, [this] {
    typing_ = true;
    pause_.start();
  });
  pause_.setSingleShot(true);
  pause_.setInterval(kPauseMs);
  connect(&pause_, &QTimer::timeout, this, [this] { Q_EMIT edited(typed()); });
  connect(line_, &QLineEdit::editingFinished, this, [this] {
    flush();
    typing_ = false;
    Q_EMIT finished();
  });
}

QWidget* LineField::widget() const { return line_; }

QString LineField::typed() const {
  const QString text = line_->text();
  return !zero_.isEmpty() && text.trimmed().isEmpty() ? QStringLiteral("0") : text;
}

void LineField::setZero(const QString& placeholder) {
  if (placeholder == zero_) return;
  zero_ = placeholder;
  line_->setPlaceholderText(zero_);
  if (!typing_) show(value_);
}

void LineField::flush() {
  if (!pause_.isActive()) return;
  pause_.stop();
  Q_EMIT edited(typed());
}

void LineField::show(const QString& value) {
  value_ = value;
  pause_.stop();
  typing_ = false;
  const bool unset = !zero_.isEmpty() && value == QStringLiteral("0");
  const QString text = unset ? QString() : displayText(knob_, value);
  if (line_->text() != text) line_->setText(text);
}

bool LineField::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool stepper = knob_.type == KnobType::Integer;
    switch (key->key()) {
      case Qt::Key_Up:
      case Qt::Key_Down:
        if (stepper) step(key->key() == Qt::Key_Up ? 1 : -1, key->modifiers(), 1);
        return stepper;
      case Qt::Key_PageUp:
      case Qt::Key_PageDown:
        if (stepper) step(key->key() == Qt::Key_PageUp ? 1 : -1, Qt::NoModifier, 10);
        return stepper;
      case Qt::Key_Escape:
        typing_ = false;
        pause_.stop();
        Q_EMIT reverted();
        line_->selectAll();
        return true;
      default: break;
    }
    // Undo acts on the design, not on the letters of a field.
    if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo)) {
      event->ignore();
      return true;
    }
  }
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->modifiers() & (Qt::ControlModifier | Qt::AltModifier))
      flush();  // a command must see the typed text
    if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo)) {
      event->ignore();
      return true;
    }
  }
  if (event->type() == QEvent::Wheel) {
    const auto* wheel = static_cast<QWheelEvent*>(event);
    const int delta = wheel->angleDelta().y();
    if (!line_->hasFocus() || knob_.type != KnobType::Integer || delta == 0) return false;
    step(delta > 0 ? 1 : -1, wheel->modifiers(), 1);
    return true;
  }
  return KnobField::eventFilter(watched, event);
}

void LineField::step(int direction, Qt::KeyboardModifiers modifiers, int size) {
  bool number = false;
  const QString text = line_->text().remove(',').remove(' ');
  qlonglong value = text.toLongLong(&number);
  if (!number) value = value_.toLongLong(&number);
  if (!number) return;
  value = std::clamp<qlonglong>(value, knob_.min, knob_.max);
  if (!(modifiers & Qt::ControlModifier)) {
    value += direction * size;
  } else if (direction < 0) {
    value /= 2;
  } else if (value <= knob_.max / 2) {
    value *= 2;
  }
  value = std::clamp<qlonglong>(value, knob_.min, knob_.max);
  line_->setText(displayText(knob_, QString::number(value)));
  line_->selectAll();
  typing_ = true;
  pause_.stop();
  Q_EMIT edited(QString::number(value));
}

}  // namespace shardscape::ui

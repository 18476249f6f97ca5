#include "ui/toolkit/searchable_combo.h"

#include <QKeyEvent>

#include "ui/toolkit/combo_popup.h"

namespace shardscape::ui {

SearchableCombo::SearchableCombo(QWidget* parent) : QComboBox(parent) {}

void SearchableCombo::showPopup() { count() < kLong ? QComboBox::showPopup() : openWith({}); }

void SearchableCombo::hidePopup() {
  if (popup_) popup_->hide();
  QComboBox::hidePopup();
}

void SearchableCombo::openWith(const QString& words) {
  if (!popup_) {
    popup_ = new ComboPopup(this);
    connect(popup_, &ComboPopup::chosen, this, [this](int index) {
      setCurrentIndex(index);
      setFocus(Qt::PopupFocusReason);
      Q_EMIT activated(index);
      Q_EMIT textActivated(itemText(index));
    });
  }
  popup_->open(words);
}

void SearchableCombo::keyPressEvent(QKeyEvent* event) {
  const QString typed = event->text();
  const bool word = !typed.trimmed().isEmpty() && typed.front().isPrint() &&
                    !(event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier));
  if (word && count() >= kLong) return openWith(typed);
  QComboBox::keyPressEvent(event);
}

}  // namespace shardscape::ui

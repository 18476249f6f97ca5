// A combo box whose list has a line to search in it, if the list is long. Typing in the closed box opens the
// list with these letters.
#pragma once

#include <QComboBox>

namespace shardscape::ui {

class ComboPopup;

class SearchableCombo : public QComboBox {
  Q_OBJECT
 public:
  static constexpr int kLong = 12;  // entries of a list that can be searched

  explicit SearchableCombo(QWidget* parent = nullptr);
  void showPopup() override;
  void hidePopup() override;
  ComboPopup* popup() const { return popup_; }  // nullptr: not yet opened, or the list is short

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void openWith(const QString& words);
  ComboPopup* popup_ = nullptr;  // a child
};

}  // namespace shardscape::ui

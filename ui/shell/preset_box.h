// The model presets; says so where the model has been edited since. Drops down a list that can be searched.
#pragma once

#include <QComboBox>

namespace shardscape::ui {

class PresetPopup;
class Session;

class PresetBox : public QComboBox {
  Q_OBJECT
 public:
  explicit PresetBox(Session* session, QWidget* parent = nullptr);
  PresetPopup* popup() const { return popup_; }
  void showPopup() override;

 private:
  void refresh();
  Session* session_;
  PresetPopup* popup_;
};

}  // namespace shardscape::ui

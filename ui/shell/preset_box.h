// A box with the model presets and a searchable list. The box shows "edited" if the model differs from its
// preset, and the name and "imported" if the model has no preset.
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

 protected:
  void keyPressEvent(QKeyEvent* event) override;  // keys open the list; none replaces the model
  void wheelEvent(QWheelEvent* event) override;

 private:
  void fill();
  void refresh();
  Session* session_;
  PresetPopup* popup_;
};

}  // namespace shardscape::ui

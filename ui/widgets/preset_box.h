// The model presets; says so where the model has been edited since.
#pragma once

#include <QComboBox>

namespace shardscape::ui {

class Session;

class PresetBox : public QComboBox {
  Q_OBJECT
 public:
  explicit PresetBox(Session* session, QWidget* parent = nullptr);

 private:
  void refresh();
  Session* session_;
};

}  // namespace shardscape::ui

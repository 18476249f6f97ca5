// The bar below the menu: preset, undo and redo, the command palette, export.
#pragma once

#include <QWidget>

namespace shardscape::ui {

class PresetBox;
class Session;
struct Actions;

class TopBar : public QWidget {
  Q_OBJECT
 public:
  TopBar(Session* session, const Actions& actions, QWidget* parent = nullptr);
  PresetBox* presetBox() const { return preset_; }

 private:
  PresetBox* preset_;
};

}  // namespace shardscape::ui

// The sheet of all keyboard shortcuts. Shortcuts of actions come from the actions.
#pragma once

#include <QDialog>

#include "ui/shell/actions.h"

namespace shardscape::ui {

class ShortcutsDialog : public QDialog {
  Q_OBJECT
 public:
  ShortcutsDialog(const Actions& actions, QWidget* parent);
};

}  // namespace shardscape::ui

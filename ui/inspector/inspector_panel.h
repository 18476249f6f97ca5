// The right panel: formula, numbers put in, value and why of whatever is selected; the design itself
// otherwise.
#pragma once

#include <QWidget>

#include "ui/selection/selection_state.h"
#include "ui/session/session.h"

class QLabel;
class QScrollArea;

namespace shardscape::ui {

class InspectorPanel : public QWidget {
  Q_OBJECT
 public:
  explicit InspectorPanel(SelectionState* state, QWidget* parent = nullptr);
  const Inspection& shown() const { return shown_; }
  // The selected text, or everything.
  QString copyText() const;
  void copy() const;

 protected:
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void refresh();
  void rebuild();
  QWidget* makeSelectionBar();
  void showSharedSelection();
  SelectionState* state_;
  Session* session_;
  QWidget* selection_bar_ = nullptr;
  QLabel* selection_words_ = nullptr;
  QScrollArea* scroll_;
  Inspection shown_;
  bool whole_formulas_ = false;  // long ones too
};

}  // namespace shardscape::ui

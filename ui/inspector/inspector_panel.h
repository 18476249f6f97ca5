// The right panel: formulas, values and reasons for the selection. Without a selection, a summary of the
// design.
#pragma once

#include <QWidget>

#include "ui/selection/selection_state.h"
#include "ui/session/session.h"

class QLabel;
class QScrollArea;

namespace shardscape::ui {

class InspectionPage;

class InspectorPanel : public QWidget {
  Q_OBJECT
 public:
  explicit InspectorPanel(SelectionState* state, QWidget* parent = nullptr);
  const Inspection& shown() const { return shown_; }
  // The selected text, or the whole text of the panel.
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
  InspectionPage* page_ = nullptr;
  Inspection shown_;
  bool whole_formulas_ = false;  // also show long formulas whole
};

}  // namespace shardscape::ui

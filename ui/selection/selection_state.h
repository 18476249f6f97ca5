// State that all views share: the selected stage and rank, the selection, and the text of the inspector.
// After an edit of the design the selection is remapped to the new report.
#pragma once

#include <QObject>
#include <memory>
#include <optional>

#include "ui/selection/inspection.h"
#include "ui/selection/remapped_selection.h"
#include "ui/selection/resolved_selection.h"
#include "ui/selection/selection.h"

namespace shardscape::ui {

class Session;

class SelectionState : public QObject {
  Q_OBJECT
 public:
  // Construct this before the views, so that they see the remapped selection.
  explicit SelectionState(Session* session, QObject* parent = nullptr);
  Session* session() const { return session_; }

  int stage() const { return stage_; }
  qint64 rank() const { return rank_; }
  void setStage(int stage);   // also selects the stage's first rank
  void setRank(qint64 rank);  // also selects its stage

  // Sets the selection of all views, and its stage. by: the view that selected and already shows the
  // selection; null: a link of the inspector. After an edit the selection is remapped, or cleared if its
  // thing no longer exists.
  void selectInAllViews(const Selection& selection, const QObject* by);
  const Selection& selection() const { return selection_; }
  // The selection resolved in the session's report.
  const ResolvedSelection& resolvedSelection() const { return *resolved_selection_; }
  std::shared_ptr<const ResolvedSelection> sharedResolvedSelection() const { return resolved_selection_; }

  void inspect(const Inspection& inspection);
  const Inspection& inspection() const { return inspection_; }

 Q_SIGNALS:
  void stageChanged();  // or the rank
  // by: this object if an edit or another stage remapped the selection.
  void selectionChanged(const QObject* by);
  void inspectionChanged();

 private:
  void clear();
  void followReport(const Report* before);
  void followEstimate();
  void announce();
  void storeSelection(const Selection& selection);  // emits no signal
  void remapSelection(const Report* before);
  void moveSelectionToStage();
  Session* session_;
  int stage_ = 0;
  qint64 rank_ = 0;
  Inspection inspection_;
  Selection selection_;
  std::shared_ptr<const ResolvedSelection> resolved_selection_ = std::make_shared<const ResolvedSelection>();
  std::optional<SpanKey> span_;  // of a selected span, while the new step is being simulated
  bool remapped_ = false;        // emit selectionChanged() once every view shows the new result
};

}  // namespace shardscape::ui

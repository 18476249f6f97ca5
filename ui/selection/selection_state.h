// What a person looks at, shared by all views: the selected stage and rank, the selected thing, and the text
// of the inspector. Follows the session: an edit of the design remaps the selection to the new report.
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
  // Make this before the views of the session, so that they see a remapped selection.
  explicit SelectionState(Session* session, QObject* parent = nullptr);
  Session* session() const { return session_; }

  int stage() const { return stage_; }
  qint64 rank() const { return rank_; }
  void setStage(int stage);   // also selects the stage's first rank
  void setRank(qint64 rank);  // also selects its stage

  // The same selection in every view, on its stage. By: the view that made it, which has shown it already;
  // null: a link of the inspector. Over an edit it stays where its thing is still there, and goes away where
  // it is not.
  void selectInAllViews(const Selection& selection, const QObject* by);
  const Selection& selection() const { return selection_; }
  // What it stands for in the session's report.
  const ResolvedSelection& resolvedSelection() const { return *resolved_selection_; }
  std::shared_ptr<const ResolvedSelection> sharedResolvedSelection() const { return resolved_selection_; }

  void inspect(const Inspection& inspection);
  const Inspection& inspection() const { return inspection_; }

 Q_SIGNALS:
  void stageChanged();  // or the rank
  // By: this object where an edit or another stage remapped the selection.
  void selectionChanged(const QObject* by);
  void inspectionChanged();

 private:
  void clear();
  void followReport(const Report* before);
  void followEstimate();
  void announce();
  void storeSelection(const Selection& selection);  // without telling
  void remapSelection(const Report* before);
  void moveSelectionToStage();
  Session* session_;
  int stage_ = 0;
  qint64 rank_ = 0;
  Inspection inspection_;
  Selection selection_;
  std::shared_ptr<const ResolvedSelection> resolved_selection_ = std::make_shared<const ResolvedSelection>();
  std::optional<SpanKey> span_;  // of a selected span, while its step is simulated anew
  bool remapped_ = false;        // announced when every view shows the new result
};

}  // namespace shardscape::ui

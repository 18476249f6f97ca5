// One undoable change of the design. Quick successive edits of one knob are one undo step.
#pragma once

#include <QUndoCommand>
#include <chrono>

#include "ui/session/session.h"

namespace shardscape::ui {

class DesignCommand : public QUndoCommand {
 public:
  // knob: the knob that was typed into; empty for changes that never merge.
  DesignCommand(Session* session, Design after, const QString& text, const QString& knob = {});
  void undo() override;
  void redo() override;
  int id() const override { return knob_.isEmpty() ? -1 : 1; }
  bool mergeWith(const QUndoCommand* other) override;
  const Design& before() const { return before_; }
  const Design& after() const { return after_; }

 private:
  using Clock = std::chrono::steady_clock;
  Session* session_;
  Design before_, after_;
  QString knob_;
  Clock::time_point when_ = Clock::now();
  int edit_;      // the session's edit number: a finished edit does not merge with the next
  bool reverts_;  // the person reverts the typed text: merges with the step after any pause
};

}  // namespace shardscape::ui

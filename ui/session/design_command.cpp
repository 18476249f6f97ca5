#include "ui/session/design_command.h"

#include "design/design_name.h"

namespace shardscape::ui {
namespace {

constexpr std::chrono::milliseconds kPause{1500};  // a longer pause between keys starts a new undo step

}  // namespace

DesignCommand::DesignCommand(Session* session, Design after, const QString& text, const QString& knob)
    : QUndoCommand(text),
      session_(session),
      before_(session->design()),
      after_(std::move(after)),
      knob_(knob),
      edit_(session->edit_),
      reverts_(session->reverting_) {
  correct_machine_name(after_);  // the window's title and the captions of pictures state the name
}

void DesignCommand::undo() { session_->assign(before_); }

void DesignCommand::redo() { session_->assign(after_); }

bool DesignCommand::mergeWith(const QUndoCommand* other) {
  const auto* next = static_cast<const DesignCommand*>(other);
  if (next->knob_ != knob_ || next->edit_ != edit_) return false;
  if (next->when_ - when_ > kPause && !next->reverts_) return false;
  after_ = next->after_;
  when_ = next->when_;
  setText(next->text());
  setObsolete(before_ == after_);
  return true;
}

}  // namespace shardscape::ui

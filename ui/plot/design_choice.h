// Buttons that choose which of the compared designs a view shows, in the order of letters. Hidden while no
// design is pinned.
#pragma once

#include <memory>

#include "ui/session/session.h"
#include "ui/toolkit/segmented_control.h"

namespace shardscape::ui {

class DesignChoice : public SegmentedControl {
  Q_OBJECT
 public:
  DesignChoice(Session* session, const QString& accessible_name, QWidget* parent = nullptr);
  int member() const { return member_; }  // 0 is the present design, see Comparisons::letter
  void setMember(int member);             // emits changed()
  // The report of the chosen design; for the present design, the newest report.
  std::shared_ptr<const Report> report() const;

 Q_SIGNALS:
  void changed();  // another design is chosen, by the person or because the chosen design was unpinned

 private:
  void follow();
  int place(int member) const;  // of the member's button; its own inverse
  Session* session_;
  int member_ = 0;
  std::shared_ptr<const Report>
      shown_;  // of the chosen pinned design, whose letter changes when others are unpinned
};

}  // namespace shardscape::ui

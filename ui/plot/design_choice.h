// Whose of the designs side by side a view shows that shows one at a time; hidden where none is pinned.
#pragma once

#include <memory>

#include "ui/session/session.h"
#include "ui/toolkit/segmented_control.h"

namespace shardscape::ui {

class DesignChoice : public SegmentedControl {
  Q_OBJECT
 public:
  DesignChoice(Session* session, const QString& accessible_name, QWidget* parent = nullptr);
  int member() const { return member_; }  // as Comparisons::letter counts
  void setMember(int member);             // and tells
  std::shared_ptr<const Report> report()
      const;  // of the chosen design: the present one's is the newest that is shown

 Q_SIGNALS:
  void changed();  // another is chosen, by a person or because the one before went

 private:
  void follow();
  Session* session_;
  int member_ = 0;
  std::shared_ptr<const Report>
      shown_;  // of the chosen one, where that is pinned: it may move up among the others
};

}  // namespace shardscape::ui

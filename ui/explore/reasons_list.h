// Why designs of a space are left out: one bar per reason, the most frequent first.
#pragma once

#include <QWidget>
#include <vector>

#include "explore/result.h"

namespace shardscape::ui {

class ReasonsList : public QWidget {
  Q_OBJECT
 public:
  explicit ReasonsList(QWidget* parent = nullptr);
  void setCounts(const SearchCounts& counts);
  void clear();
  struct Reason {
    QString label, tip;
    int64_t count = 0;
    bool kept_out = true;  // false: designs that are as good as others (the same again)
  };
  const std::vector<Reason>& reasons() const { return reasons_; }
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  std::vector<Reason> reasons_;
  int64_t enumerated_ = 0;
};

}  // namespace shardscape::ui

// The reasons why designs of a space are left out: one bar per reason, the most frequent first.
#pragma once

#include <QWidget>
#include <map>
#include <string>
#include <vector>

#include "explore/result.h"

namespace shardscape::ui {

class ExclusionList : public QWidget {
  Q_OBJECT
 public:
  explicit ExclusionList(QWidget* parent = nullptr);
  void setCounts(const SearchCounts& counts);
  void setExamples(const std::map<std::string, std::string>&
                       examples);  // by knob: the problem text of one left-out design
  void clear();
  struct Reason {
    QString label, tip;
    std::string knob = {};  // the knob with the invalid value; empty for other reasons
    int64_t count = 0;
    QString example = {};
    bool left_out = true;  // false: duplicates of other designs
  };
  const std::vector<Reason>& reasons() const { return reasons_; }
  QString tipAt(const QPointF& point) const;
  QSize sizeHint() const override { return {200, heightForWidth(200)}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  int rowHeight(const Reason& reason, int width) const;
  std::vector<Reason> reasons_;
  std::map<std::string, std::string> examples_;
  int64_t enumerated_ = 0;
};

}  // namespace shardscape::ui

// The ops inside a box of the timeline, made when somebody looks that close; actions that do the same are made once.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "ui/timeline/lanes.h"

namespace shardscape::ui {

// An op in its box: seconds since the step began.
struct PlacedOp {
  double begin = 0, end = 0;
  int segment = 0, op = 0, layer = -1;
};

class OpDetail {
 public:
  void setStep(std::shared_ptr<const Report> report, std::shared_ptr<const Lanes> lanes);
  // In seconds since the action began, waits left out. May take some milliseconds the first time.
  const std::vector<OpSpan>& of(const ItemRef& ref);
  bool known(const ItemRef& ref) const;
  // Where they run, between first and last of the given times.
  std::vector<PlacedOp> placed(const ItemRef& ref, double from, double to);
  std::vector<PlacedOp> placed(const ItemRef& ref);
  static bool has_ops(const LaneItem& item) { return item.pass == Pass::Forward || item.pass == Pass::Backward || item.pass == Pass::WeightGradient; }

 private:
  struct Key {
    int stage, chunk;
    ActionKind kind;
    auto operator<=>(const Key&) const = default;
  };
  Key key_of(const ItemRef& ref) const;
  std::shared_ptr<const Report> report_;
  std::shared_ptr<const Lanes> lanes_;
  std::map<Key, std::vector<OpSpan>> known_;
};

}  // namespace shardscape::ui

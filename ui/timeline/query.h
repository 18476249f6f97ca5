// What a person looks for in the timeline: "microbatch 9", "stage 3 backward", "all-gather", "QKV projection".
#pragma once

#include <QString>
#include <functional>
#include <memory>
#include <set>

#include "ui/state/picked.h"
#include "ui/timeline/lanes.h"

namespace shardscape::ui {

// Of a member's graph (ItemRef::member); layer of its model, -1: outside of layers.
using OpStandsOut = std::function<bool(int member, int segment, int op, int layer)>;

// Which boxes stand out, and which ops inside them; empty: all alike.
struct StandsOut {
  std::function<bool(const ItemRef&)> items;
  OpStandsOut ops;
};

StandsOut search_timeline(std::shared_ptr<const Report> report, std::shared_ptr<const Lanes> lanes, const QString& words);
// Of what is picked in any view. Its estimate is that of the lanes.
StandsOut stands_out_for(std::shared_ptr<const Picked> picked, std::shared_ptr<const Lanes> lanes);
// Stage by stage, by begin.
std::vector<ItemRef> matches(const Lanes& lanes, const StandsOut& of);

}  // namespace shardscape::ui

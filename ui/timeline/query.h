// What a person looks for in the timeline: "microbatch 9", "stage 3 backward", "all-gather", "QKV projection".
#pragma once

#include <QString>
#include <functional>
#include <memory>
#include <set>

#include "ui/timeline/lanes.h"

namespace shardscape::ui {

// Which boxes stand out, and which ops inside them; empty: all alike.
struct StandsOut {
  std::function<bool(const ItemRef&)> items;
  std::function<bool(int segment, int op)> ops;
};

StandsOut search_timeline(std::shared_ptr<const Report> report, std::shared_ptr<const Lanes> lanes, const QString& words);
// Of what was picked in another view.
StandsOut stands_out_for(std::shared_ptr<const Report> report, std::shared_ptr<const Lanes> lanes, const Pick& pick);
// Stage by stage, by begin.
std::vector<ItemRef> matches(const Lanes& lanes, const StandsOut& of);

// The chunk of a stage that runs this layer of the model (-1: outside of layers, of that segment); -1: none.
int chunk_of(const Report& report, int stage, int segment, int layer);
// As the graph view counts them: 0 the embedding, 1 + i layer i, last the head.
int unit_of(const Report& report, int segment, int layer);

}  // namespace shardscape::ui

// What a person looks for in the timeline: "microbatch 9", "stage 3 backward", "all-gather", "QKV
// projection".
#pragma once

#include <QString>
#include <functional>
#include <memory>
#include <set>

#include "ui/selection/resolved_selection.h"
#include "ui/views/timeline/lanes.h"

namespace shardscape::ui {

// Of a member's graph (ItemRef::member); layer of its model, -1: outside of layers.
using OpHighlight = std::function<bool(int member, int segment, int op, int layer)>;

// Which boxes are highlighted, and which ops inside them; empty: all are the same.
struct TimelineHighlight {
  std::function<bool(const ItemRef&)> items;
  OpHighlight ops;
};

TimelineHighlight search_timeline(std::shared_ptr<const Report> report, std::shared_ptr<const Lanes> lanes,
                                  const QString& words);
// Of what is selected in any view. Its estimate is that of the lanes.
TimelineHighlight highlightOf(std::shared_ptr<const ResolvedSelection> resolved,
                              std::shared_ptr<const Lanes> lanes);
// Stage by stage, by begin.
std::vector<ItemRef> matches(const Lanes& lanes, const TimelineHighlight& of);

}  // namespace shardscape::ui

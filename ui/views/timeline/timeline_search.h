// Search in the timeline: "microbatch 9", "stage 3 backward", "all-gather", "QKV projection".
#pragma once

#include <QString>
#include <functional>
#include <memory>
#include <set>

#include "ui/selection/resolved_selection.h"
#include "ui/views/timeline/lanes.h"

namespace shardscape::ui {

// True for highlighted ops. member: see ItemRef; layer: of the member's model, -1: outside of layers.
using OpHighlight = std::function<bool(int member, int segment, int op, int layer)>;

// The highlighted boxes and ops. Empty functions: no highlight.
struct TimelineHighlight {
  std::function<bool(const ItemRef&)> items;
  OpHighlight ops;
};

TimelineHighlight search_timeline(std::shared_ptr<const Report> report, std::shared_ptr<const Lanes> lanes,
                                  const QString& words);
// The highlight of the selection of all views. resolved and lanes must belong to the same estimate.
TimelineHighlight highlightOf(std::shared_ptr<const ResolvedSelection> resolved,
                              std::shared_ptr<const Lanes> lanes);
// The highlighted boxes, stage by stage, by begin.
std::vector<ItemRef> matches(const Lanes& lanes, const TimelineHighlight& of);

}  // namespace shardscape::ui

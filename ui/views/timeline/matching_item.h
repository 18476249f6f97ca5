// Finds the box in another design's timeline that matches a box: the same action of the schedule, or the same
// communication.
#pragma once

#include <QString>
#include <vector>

#include "ui/views/timeline/lanes.h"

namespace shardscape::ui {

// The match is on the stage at the same relative place (Comparisons::sameStagePlace) and on the same stream.
// It has the same kind, microbatch, chunk and name; of several, the one at the same position. The result's
// member is 0; invalid if there is no match.
ItemRef matchingItem(const Lanes& lanes, const ItemRef& ref, const Lanes& other);

// All matches of a stage: [lane][item]. Boxes of chunks have no match if the designs have different numbers
// of chunks, because these hold other layers.
std::vector<std::vector<ItemRef>> matchingItems(const Lanes& lanes, int stage, const Lanes& other);

// True if the designs have different numbers of chunks: equal chunk indices then hold other layers.
bool chunksHoldOtherLayers(const Lanes& lanes, const LaneItem& item, const Lanes& other);

// "starts at 1.2 s, takes 31 ms, +3.1 %". Also says if there is no match, or if the chunk holds other layers.
QString matchingItemText(const Lanes& lanes, const ItemRef& ref, const Lanes& other, const ItemRef& there);

}  // namespace shardscape::ui

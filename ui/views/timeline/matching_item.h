// What a box of one design's timeline is in another's: the same action of the schedule, the same
// communication.
#pragma once

#include <QString>
#include <vector>

#include "ui/views/timeline/lanes.h"

namespace shardscape::ui {

// On the stage that stands in the same place of the pipeline (Comparisons::sameStagePlace), on the same
// stream: does the same, for the same microbatch and chunk, under the same name; where several do, the one in
// the same place among these. Its member is 0; nothing where there is none.
ItemRef matchingItem(const Lanes& lanes, const ItemRef& ref, const Lanes& other);

// The same for every box of a stage, by lane and item, in one go. None for boxes of chunks where stages have
// another number of these: they hold other layers.
std::vector<std::vector<ItemRef>> matchingItems(const Lanes& lanes, int stage, const Lanes& other);

// Chunks of one number hold other layers where a stage has more or fewer of them.
bool chunksHoldOtherLayers(const Lanes& lanes, const LaneItem& item, const Lanes& other);

// "starts at 1.2 s, takes 31 ms, +3.1 %", or that there is none, or that its chunk holds other layers.
QString matchingItemText(const Lanes& lanes, const ItemRef& ref, const Lanes& other, const ItemRef& there);

}  // namespace shardscape::ui

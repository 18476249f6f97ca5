// Arrows of waits: from the end of a span to the begin of the span that waited for it.
#pragma once

#include <vector>

#include "ui/views/timeline/lanes.h"

namespace shardscape::ui {

struct Flow {
  ItemRef from, to;
  double left = 0, arrived = 0;  // seconds: the end of the awaited span, the begin of the waiting span
};

// The waits of a box, and the waits of other boxes for it. Waits inside the box are left out.
std::vector<Flow> flows_of(const Lanes& lanes, const ItemRef& ref);

}  // namespace shardscape::ui

// Pictures of a page report, as SVG.
#pragma once

#include <string>
#include <vector>

#include "memory/memory_timeline.h"
#include "timing/simulation.h"

namespace shardscape {

struct StackedBar {
  std::string name;           // "stage 3"
  std::vector<double> parts;  // one per category, from the left
  std::string total;          // text behind the bar
};

struct StackedPicture {
  std::vector<std::pair<std::string, std::string>> categories;  // name, color
  std::vector<StackedBar> bars;
  double line = 0;        // a vertical line at this value; 0: none
  std::string line_name;  // "capacity 80.0 GiB"
};

// Bars of equal scale below their legend. Of more than kMostBars, the first and last ones.
std::string stacked_picture(const StackedPicture& picture);
constexpr size_t kMostBars = 64;

// The memory of every stage at its peak, in bytes, with the capacity as a line.
std::string memory_picture(const MemoryTimeline& memory);
// The seconds of a step of every stage by category: what adds up to the step.
std::string step_picture(const Simulation& simulation);

}  // namespace shardscape

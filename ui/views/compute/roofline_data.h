// Ops of the graph under the roofline of their machine: FLOPs per second over FLOPs per byte. No widgets.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plan/report.h"

namespace shardscape::ui {

struct RooflinePoint {
  int segment = 0, op = 0;
  double flops = 0, bytes = 0, seconds = 0;  // of one run on one rank
  DType compute = DType::BF16;
  std::vector<std::pair<int, int>>
      ops;  // (segment, op) of all ops of the point: the ops of a kernel, in all kinds of layers
  double intensity() const { return flops / bytes; }
  double rate() const { return flops / seconds; }
};

struct Roof {
  DType compute = DType::BF16;
  double peak = 0;  // FLOPs per second, dense
};

struct Roofline {
  std::shared_ptr<const Accelerator> accelerator;  // null: unknown accelerator
  double bandwidth = 0;                            // bytes per second
  double cache_bytes = 0, cache_bandwidth = 0;  // ops that move fewer bytes are served from the faster cache,
                                                // by measurements; 0: unknown
  std::vector<Roof> roofs;                      // one per precision of the ops, the highest first
  std::vector<RooflinePoint> points;            // by seconds; the longest is last and drawn on top
  double ridge(const Roof& roof) const { return roof.peak / bandwidth; }
  bool cached(const RooflinePoint& point) const { return point.bytes <= cache_bytes; }
  // FLOPs per second that the roof allows: the peak, or intensity times the bandwidth of memory or cache.
  double attainable(const RooflinePoint& point) const;
};

// The roofline of a compared design, with its report.
struct ComparedRoofline {
  int member = 1;  // 1 is the first pinned design, see Comparisons::letter
  int stage = 0;
  std::shared_ptr<const Report> report;
  Roofline roofline;
};
// The point of the same op in another design's roofline; -1: none. Ops match by name in segments of the same
// name.
int same_point(const Report& report, const RooflinePoint& point, const ComparedRoofline& other);

// The units of a stage with the point's op: the first, and one past the last of the same kind of layer; -1:
// none.
std::pair<int, int> units_with(const Report& report, int stage, const RooflinePoint& point);

// The compute ops of a stage, each once, without communication. Empty if the accelerator is unknown.
Roofline roofline(const Report& report, int stage);

}  // namespace shardscape::ui

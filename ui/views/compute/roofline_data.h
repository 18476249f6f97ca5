// Ops of the graph under the roofline of their machine: FLOPs per byte against FLOPs per second. No widgets
// in here.
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
      ops;  // segment and op: all that it stands for, parts of the kernel and layers of other kinds
  double intensity() const { return flops / bytes; }
  double rate() const { return flops / seconds; }
};

struct Roof {
  DType compute = DType::BF16;
  double peak = 0;  // FLOPs per second, dense
};

struct Roofline {
  std::shared_ptr<const Accelerator> accelerator;  // null: none that is known
  double bandwidth = 0;                            // bytes per second
  double cache_bytes = 0, cache_bandwidth = 0;     // what moves fewer bytes than that is served from a faster
                                                   // cache, by measurements; 0: not known
  std::vector<Roof> roofs;            // of every precision that an op computes in, the highest first
  std::vector<RooflinePoint> points;  // what takes longest last, so that it is drawn on top
  double ridge(const Roof& roof) const { return roof.peak / bandwidth; }
  bool cached(const RooflinePoint& point) const { return point.bytes <= cache_bytes; }
  // FLOPs per second under its roof: the peak, or what memory brings, or the cache to those that fit into it.
  double attainable(const RooflinePoint& point) const;
};

// That of a compared design, with what its points are of.
struct ComparedRoofline {
  int member = 1;  // as Comparisons::letter counts
  int stage = 0;
  std::shared_ptr<const Report> report;
  Roofline roofline;
};
// The point of the same op in another design's; -1: it has none. Ops match by name in segments of one name.
int same_point(const Report& report, const RooflinePoint& point, const ComparedRoofline& other);

// Units of a stage that have the point's op: from the first to one past the last of the same kind of layer;
// -1: none has.
std::pair<int, int> units_with(const Report& report, int stage, const RooflinePoint& point);

// Ops of a stage that compute, each once; those that only communicate have no place here. Empty without a
// known accelerator.
Roofline roofline(const Report& report, int stage);

}  // namespace shardscape::ui

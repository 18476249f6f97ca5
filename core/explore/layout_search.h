// The staged search behind find_layouts(). Private to core/explore.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "explore/result.h"

namespace shardscape {

// Two numbers that are compared in order; less is better. Infinity: not acceptable.
using LayoutScore = std::array<double, 2>;
// The score of a timed design for another aim than speed.
using LayoutScoring = std::function<LayoutScore(const Point&, const Design&, const Point& fastest)>;

struct LayoutPoints {
  std::optional<Point> fastest;              // by the objective of the options; empty: no design fits
  std::vector<std::optional<Point>> others;  // per scoring
  int64_t evaluated = 0;                     // designs whose memory was computed
};

// Searches a space of layouts in the threads of the caller's arena. Deterministic. Incomplete if stopped.
//
// 1. For each split of the ranks (tp, cp, pp, dp, ep): the first of a few policies that fits. Policies save
//    more and more memory: recompute, then fully sharded states.
// 2. From the fastest splits: one knob after the other takes its best value, until nothing improves.
// 3. From the best of these: all pairs of knobs.
// 4. For each other scoring: steps 2 and 3 from the best known designs.
//
// Small spaces are visited completely.
LayoutPoints search_layouts(const std::shared_ptr<const Space>& space, const ResultOptions& options,
                            const std::vector<LayoutScoring>& scorings, std::stop_token stop);

// Whether a design of the space fits, found with the policies that save most memory: a point, or nothing.
std::optional<Point> first_fitting_layout(const std::shared_ptr<const Space>& space,
                                          const ResultOptions& options, std::stop_token stop);

}  // namespace shardscape

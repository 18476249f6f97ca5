// Lines next to the scaling of a design: the best layout at each size, and the same design on other networks
// or accelerators.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "explore/layout.h"
#include "explore/sensitivity.h"

namespace shardscape {

// The fastest layouts as points of a line: dp is the layout's, efficiency is relative to the smallest size
// with a layout. Sizes on which no design fits say so in `wrong`.
std::vector<ScalePoint> best_points(const std::vector<LayoutAtSize>& layouts);

// One search per size of `points`, for its batch. Empty if stopped.
std::optional<std::vector<LayoutAtSize>> best_layouts(const Design& design,
                                                      const std::vector<ScalePoint>& points,
                                                      std::stop_token stop = {});

// The design on another network, accelerator or domain: another value of a knob of the cluster.
struct ClusterVariant {
  std::string knob, value;  // "network", "gb200-nvl72"
  friend bool operator==(const ClusterVariant&, const ClusterVariant&) = default;
};
std::string variant_label(const ClusterVariant& variant);  // "Network: GB200 NVL72", "Scale-up domain: 72"
// "network=a,b": variants of one knob. A Problem says which knobs and values are accepted.
Result<std::vector<ClusterVariant>> parse_variants(const std::string& text);
// The design with this value, made valid by fixes that keep the knob and the ranks. A Problem if there is
// none.
Result<Design> design_on(const Design& design, const ClusterVariant& variant);

}  // namespace shardscape

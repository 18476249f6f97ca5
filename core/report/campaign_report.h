// A training run as text and as JSON, and what a million tokens cost.
#pragma once

#include <string>

#include "campaign/campaign.h"

namespace shardscape {

// A valid report with a memory timeline.
std::string campaign_text(const Report& report, const Campaign& campaign);
// "The training run of 15 T tokens takes 70.5 days (59.8 to 110), $90.1 M and 22,400 MWh; ..."
std::string campaign_sentence(const Campaign& campaign);
// Seconds, bytes, hours, dollars and MWh; bands are objects with low, mean and high. Values that are not
// known, and those of a run without progress, are null.
std::string campaign_json(const Report& report, const Campaign& campaign);

// "a million tokens: $0.83, 1.42 kWh of accelerators, hosts and cooling"; empty if neither is known. One
// line.
std::string running_cost_text(const RunningCost& cost);
// For the command line, a line for each value that a cost needs: "no price for NVIDIA B300 HGX 270 GB:
// --price-per-hour sets it". Empty if price and power are known.
std::string missing_costs_text(const std::vector<ClusterSpec>& clusters);

std::string dollars_text(double dollars);                          // "$18.2", "$4,310", "$99.2 M"
std::string energy_text(double mwh);                               // "431 kWh", "29,400 MWh"
std::string band_text(const Band& band, const std::string& unit);  // "74.1 days (62.3 to 118)"

}  // namespace shardscape

#include "timing/paired_passes.h"

#include <algorithm>

namespace shardscape {
namespace {

// A stream that runs kernels in order.
struct Stream {
  double end = 0;
  // Runs a kernel whose input exists at `ready`. Returns its end.
  double run(double seconds, double ready = 0) {
    return seconds > 0 ? end = std::max(end, ready) + seconds : std::max(end, ready);
  }
};

}  // namespace

double paired_seconds(std::span<const PairedLayer> forward, std::span<const PairedLayer> backward) {
  Stream compute, exchange;
  double combined = 0;      // the forward's last combine has ended
  double unmade_after = 0;  // compute of the forward behind its last combine
  for (size_t i = 0; i < std::max(forward.size(), backward.size()); ++i) {
    const PairedLayer f = i < forward.size() ? forward[i] : PairedLayer{},
                      b = i < backward.size() ? backward[i] : PairedLayer{};
    const double gradient = exchange.run(b.first, compute.run(b.before));
    compute.run(unmade_after, combined);
    const double attended = compute.run(f.before);
    const double experts_b = compute.run(b.experts, gradient);
    const double arrived = exchange.run(f.first, attended);
    const double returned = exchange.run(b.second, experts_b);
    compute.run(b.expert_weights);
    combined = exchange.run(f.second, compute.run(f.experts, arrived));
    unmade_after = f.after;
    compute.run(b.after, returned);
    compute.run(b.other_weights);
  }
  compute.run(unmade_after, combined);
  return std::max(compute.end, exchange.end);
}

}  // namespace shardscape

// "Find a layout": a search of a second for the layouts of a model on a given number of GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "explore/objective.h"
#include "explore/space.h"

namespace shardscape {

struct LayoutOptions {
  int64_t gpus = 0;                // ranks; 0: those of the design
  std::vector<std::string> fixed;  // knobs that keep the values of the design
  double memory_margin = 0;        // share of the memory that must stay free
  double price_per_hour = 0;       // of a GPU in dollars; 0: the catalogue's price
  int threads = 0;                 // 0: all hardware threads; the result does not depend on it
};

// The global batch of a search for layouts: the given one, 0 if none is given, but at least one sequence per
// GPU. On many GPUs, a small batch would leave most without a sequence.
int64_t layout_batch(int64_t gpus, int64_t given = 0);

enum class LayoutAim : uint8_t { Fastest, LeastMemory, Simplest };
const char* layout_aim_label(LayoutAim aim);  // "Fastest"

// Knob ids and values.
using LayoutSettings = std::vector<std::pair<std::string, std::string>>;

struct FoundLayout {
  LayoutAim aim = LayoutAim::Fastest;
  Design design;
  Evaluation evaluation;     // fits, timed
  ObjectiveValues values{};  // of objectives()
  double slower = 0;         // step time relative to the fastest found, minus 1
  LayoutSettings settings;   // knobs of the found design that differ from the given design
  std::string reason;        // one line: why this design has this place
};

// A change of a design that does not fit.
struct LayoutHelp {
  std::string what;         // "tensor parallelism over 8 GPUs"
  LayoutSettings settings;  // with the knobs that must follow
  Design design;
  Evaluation evaluation;  // timed, even if the changed design does not fit
  int64_t saved = 0;      // bytes on the fullest rank
  bool fits = false;
};

struct Layouts {
  std::shared_ptr<const Space> space;  // the searched space
  // Fastest, least memory, simplest, in this order; the same design may serve several aims. Empty: no design
  // fits.
  std::vector<FoundLayout> found;
  // The given design, timed even if it does not fit. Invalid: it has errors, or another number of GPUs.
  Evaluation now;
  int64_t evaluated = 0;  // designs whose memory was computed
  // If none fits: the fewest GPUs on which a design fits, to a quarter of their number; 0: none found.
  int64_t fewest_gpus = 0;
  std::optional<FoundLayout> at_fewest;  // the fastest design found on fewest_gpus
  // If the given design does not fit: combinations first. If no design fits on another number of GPUs: for a
  // design that shards all states over them.
  std::vector<LayoutHelp> help;
  std::optional<Problem> unavailable;  // why the space cannot be searched
};

// The space that find_layouts() searches: usual_dimensions() of the design on the GPUs, plus the tensor
// parallelism of experts in inference. Parallelism and recompute start from their defaults, so that they
// follow the GPUs; model, sequence, batch, types and cluster stay.
SpaceSpec layout_space(const Design& design, const LayoutOptions& options);

// Searches in stages: memory and time of one policy for each split of the GPUs, then climbs from the best
// splits, one knob and two knobs at a time (docs/models/search.md). LeastMemory and Simplest are at most
// kLayoutSlower slower than the fastest. The result does not depend on threads. Empty if stopped.
std::optional<Layouts> find_layouts(const Design& design, const LayoutOptions& options = {},
                                    std::stop_token stop = {});
inline constexpr double kLayoutSlower = 0.25;

// Whether a design, usually an edited one, asks what these layouts answer: it differs from the design that
// was given only in what the search chooses, or in its name.
bool answers(const Layouts& layouts, const Design& design, const LayoutOptions& options = {});

// How much slower a design that the layouts answer is than the best found: 0.12 is 12 % more seconds for a
// token. Negative: faster. Empty if either is not timed.
std::optional<double> slower_than_best(const Layouts& layouts, const Evaluation& design);
// "12 % slower than the best found", "as fast as the best found", "3 % faster than the best found"; "" if
// unknown.
std::string distance_text(const Layouts& layouts, const Evaluation& design);

// The fastest layout found on a number of GPUs.
struct LayoutAtSize {
  int64_t gpus = 0, batch = 0;         // sequences
  std::optional<FoundLayout> fastest;  // empty: no design fits
};
// One search per pair of GPUs and batch (sequences of the whole job). options.gpus has no effect. Empty if
// stopped.
std::optional<std::vector<LayoutAtSize>> layouts_at_sizes(
    const Design& design, const std::vector<std::pair<int64_t, int64_t>>& sizes,
    const LayoutOptions& options = {}, std::stop_token stop = {});

// The parts of a layout that people have to understand: "tensor parallelism", "4 pipeline stages".
std::vector<std::string> layout_mechanisms(const Design& design);

// Changes that save memory for a design that does not fit: each alone, with the fact whether it fits. If no
// single change fits, the first entry is the combination of the fewest changes found that does. The number of
// ranks stays. Empty if stopped or if the design fits.
std::vector<LayoutHelp> layout_help(const Design& design, double memory_margin = 0,
                                    std::stop_token stop = {});

}  // namespace shardscape

// A space of designs: a base design, and a set of values for some knobs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/plan_cache.h"
#include "base/problem.h"
#include "base/wide.h"
#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"
#include "explore/constraint.h"

namespace shardscape {

// Text form of a space, as saved in a document and built by the command line.
struct SpaceSpec {
  std::string name;
  Design base;
  // Product of the degrees tp, cp, pp and dp ("4096", "1024,2048", "8..131072*2"), as ranks or as nodes of
  // the base design's size. Both empty: the degrees are independent.
  std::string gpus, nodes;
  // Knob id (or "model" for presets) and its values in the syntax of parse_values(), or "all". Degrees
  // without an entry stay as in the base design, except dp, which follows from the ranks.
  std::vector<std::pair<std::string, std::string>> dimensions;
  std::vector<std::string> constraints;
  double memory_margin = 0;  // share of the memory that must stay free
  const std::string* find(std::string_view dimension) const;
  std::string ranks() const;  // gpus, or the ranks of the nodes; the spec is valid
  friend bool operator==(const SpaceSpec&, const SpaceSpec&) = default;
};

inline constexpr const char* kModelAxis = "model";  // presets
inline constexpr const char* kGpusAxis = "gpus";
inline constexpr const char* kNodesAxis = "nodes";

// One coordinate of a space.
struct SpaceAxis {
  std::string id, label;
  const Knob* knob = nullptr;       // null: presets, ranks or nodes
  std::vector<std::string> values;  // in the format of knob_text
  bool numeric() const {
    return knob ? knob->type == KnobType::Integer || knob->type == KnobType::Decimal : id != kModelAxis;
  }
};

// A valid spec, ready for enumeration. Designs are numbered from 0 in mixed radix. From slowest to fastest,
// the digits are: presets; degrees of parallelism as one digit (all factorizations of the ranks); knobs that
// change the structure of the graph; other knobs. The last two follow the order of the knob table. The space
// may contain invalid designs. Immutable and thread safe.
class Space {
 public:
  // A Problem names the dimension.
  static Result<std::shared_ptr<const Space>> make(SpaceSpec spec);

  const SpaceSpec& spec() const { return spec_; }
  Wide size() const { return size_; }
  const std::vector<SpaceAxis>& axes() const { return axes_; }
  int axis(std::string_view id) const;           // -1: no such axis
  std::vector<int> values_at(Wide index) const;  // per axis an index into SpaceAxis::values
  // Empty if the degrees do not multiply to the ranks.
  std::optional<Wide> index_of(const std::vector<int>& values) const;
  // Index of the design with the same values on all axes; values of other knobs are ignored. Empty if a value
  // is not in the space.
  std::optional<Wide> index_of(const Design& design) const;
  Design design_at(Wide index) const;
  const std::vector<Constraint>& constraints() const { return constraints_; }
  // Index of the first constraint that the design breaks; -1: none. The first leaves constraints on figures
  // out, the second has only these.
  int excluded_by(const Design& design) const;
  int excluded_by(const Scored& timed) const;
  // Whether the design differs from an earlier one only in knobs without effect on it (knob_state.h).
  bool repeats(const Design& design, const std::vector<int>& values) const;
  // Whether an earlier value of a knob of the schedule gives a valid design with the same schedule
  // (pipeline/same_schedule.h): at pp = 1, all schedules but GPipe are one. Requires a valid design. cache:
  // stores the orders that zb-auto finds.
  bool repeats_schedule(const Design& design, const std::vector<int>& values, PlanCache* cache) const;
  // Whether repeats_schedule() can be true for these values.
  bool may_repeat_schedule(const std::vector<int>& values) const;

  // The index of the first design that differs from design `index` only in knobs without effect on it.
  // cursor: of this space.
  Wide first_equal(Wide index, class SpaceCursor& cursor) const;

  // Digits of the mixed radix, slowest first; the search (search.h) moves along them.
  struct Digit {
    std::vector<int> axes;  // one axis, or all degrees of parallelism
    // Per value of the digit: an index into SpaceAxis::values for each axis.
    std::vector<std::vector<int>> rows;
  };
  const std::vector<Digit>& digits() const { return digits_; }
  std::vector<int> digits_at(Wide index) const;
  Wide index_at(const std::vector<int>& digits) const;

 private:
  friend class SpaceBuilder;
  friend class SpaceCursor;
  void apply(Design& design, size_t digit, int row) const;
  SpaceSpec spec_;
  Design base_;  // the base design with the dimensions of a single value applied
  std::vector<SpaceAxis> axes_;
  std::vector<std::vector<KnobSetting>> settings_;               // per axis and value
  std::vector<std::pair<size_t, NoEffectTest>> without_effect_;  // axes whose knob can be without effect
  std::vector<size_t> schedule_axes_;                            // axes that only choose the order of passes
  std::vector<Digit> digits_;
  std::vector<Constraint> constraints_;
  Wide size_ = 1;
};

// Moves through a space; at() changes only the knobs that differ from the previous index. The space must
// outlive the cursor.
class SpaceCursor {
 public:
  explicit SpaceCursor(const Space& space);
  const Design& at(Wide index);
  const std::vector<int>& values() const { return values_; }  // per axis, at the index of the last at()

 private:
  void set(size_t digit, int row);
  const Space& space_;
  Design design_;
  std::vector<int> rows_, values_;
  Wide index_ = -1;
};

// Knobs worth varying for a design on `gpus` ranks: degrees, virtual stages, microbatch, schedule,
// recomputation, sequence parallelism, gradient sync and overlap; cp for long sequences, ep for experts.
// Knobs in `fixed` are omitted.
std::vector<std::pair<std::string, std::string>> usual_dimensions(const Design& base, int64_t gpus,
                                                                  const std::vector<std::string>& fixed);

// JSON: {"shardscape_space": 1, "design": {a saved design}, "gpus": "4096", "dimensions": {"tp": "1..8*2",
// "recompute": "all", "microbatch": [1, 2, 4]}, "constraints": ["tp*cp<=node"], "memory_margin": 0.05}. A
// Problem names file, line and dimension.
std::string to_json(const SpaceSpec& spec);
Result<SpaceSpec> space_from_json(const std::string& text, const std::string& where);
Result<SpaceSpec> load_space(const std::filesystem::path& path);

}  // namespace shardscape

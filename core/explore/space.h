// A space of designs: a base design, and for some knobs the values that they run over.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "base/wide.h"
#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"
#include "explore/constraint.h"

namespace shardscape {

// As a person states it, a document saves it and a command line builds it.
struct SpaceSpec {
  std::string name;
  Design base;
  // Ranks that the degrees tp, cp, pp and dp have to multiply to ("4096", "1024,2048", "8..131072*2"); or
  // nodes, of so many GPUs as the design's nodes have. Both empty: any product of the degrees.
  std::string gpus, nodes;
  // Knob id, or "model" for presets, and its values in the words of parse_values() or "all". Of the degrees
  // those that are not named stay as in the base design, but dp, which follows from the ranks.
  std::vector<std::pair<std::string, std::string>> dimensions;
  std::vector<std::string> constraints;
  double memory_margin = 0;  // share of the memory that has to stay free
  const std::string* find(std::string_view dimension) const;
  std::string ranks() const;  // gpus, or a list of what nodes come to; of a spec that makes a space
  friend bool operator==(const SpaceSpec&, const SpaceSpec&) = default;
};

inline constexpr const char* kModelAxis = "model";  // presets
inline constexpr const char* kGpusAxis = "gpus";
inline constexpr const char* kNodesAxis = "nodes";

// Something that differs between designs of a space.
struct SpaceAxis {
  std::string id, label;
  const Knob* knob = nullptr;       // nullptr: presets of models, ranks, nodes
  std::vector<std::string> values;  // as knob_text gives them
  bool numeric() const {
    return knob ? knob->type == KnobType::Integer || knob->type == KnobType::Decimal : id != kModelAxis;
  }
};

// A spec that makes sense, ready to be enumerated. Designs are numbered from 0 in mixed radix: presets vary
// slowest, then the degrees of parallelism as one digit (all ways in which they multiply to the ranks), then
// knobs that change the structure of the graph, then the others, each in the order of the knob table. Not all
// designs need be valid. Values do not change once made; thread safe.
class Space {
 public:
  // where: what to call the spec in messages (a file name); a Problem names the dimension.
  static std::variant<std::shared_ptr<const Space>, Problem> make(SpaceSpec spec);

  const SpaceSpec& spec() const { return spec_; }
  Wide size() const { return size_; }
  const std::vector<SpaceAxis>& axes() const { return axes_; }
  int axis(std::string_view id) const;           // -1: no such axis
  std::vector<int> values_at(Wide index) const;  // of each axis, a place in SpaceAxis::values
  std::optional<Wide> index_of(
      const std::vector<int>& values) const;  // nothing where degrees do not multiply to the ranks
  // The design of the space with the same values on all axes, whatever else it has; nothing where a value is
  // not in the space.
  std::optional<Wide> index_of(const Design& design) const;
  Design design_at(Wide index) const;
  const std::vector<Constraint>& constraints() const { return constraints_; }
  // The first constraint that the design breaks, as a place in constraints(); -1: none.
  int excluded_by(const Design& design) const;
  // Whether the design differs from an earlier one only in knobs that have no effect on it (knob_state.h).
  bool repeats(const Design& design, const std::vector<int>& values) const;

  // Digits, for those who move through the space (search.h): the slowest first.
  struct Digit {
    std::vector<int> axes;  // one, or the degrees of parallelism
    std::vector<std::vector<int>>
        rows;  // what each value of the digit means: a place in SpaceAxis::values per axis
  };
  const std::vector<Digit>& digits() const { return digits_; }
  std::vector<int> digits_at(Wide index) const;
  Wide index_at(const std::vector<int>& digits) const;

 private:
  friend class SpaceBuilder;
  friend class SpaceCursor;
  void apply(Design& design, size_t digit, int row) const;
  SpaceSpec spec_;
  Design base_;  // with the dimensions of one value
  std::vector<SpaceAxis> axes_;
  std::vector<std::vector<KnobSetting>> settings_;     // per axis and value
  std::vector<std::pair<size_t, NoEffectTest>> idle_;  // axes that may have no effect
  std::vector<Digit> digits_;
  std::vector<Constraint> constraints_;
  Wide size_ = 1;
};

// Walks through a space; going on to the next index changes only what differs. The space outlives it.
class SpaceCursor {
 public:
  explicit SpaceCursor(const Space& space);
  const Design& at(Wide index);
  const std::vector<int>& values() const { return values_; }  // of the axes, at the index last asked for

 private:
  void set(size_t digit, int row);
  const Space& space_;
  Design design_;
  std::vector<int> rows_, values_;
  Wide index_ = -1;
};

// Knobs worth varying for this design on so many ranks: degrees, virtual stages, microbatch, schedule,
// recomputation, sequence parallelism, gradient sync and overlap; cp for long sequences, ep for experts.
// Knobs in fixed are left out.
std::vector<std::pair<std::string, std::string>> usual_dimensions(const Design& base, int64_t gpus,
                                                                  const std::vector<std::string>& fixed);

// JSON: {"shardscape_space": 1, "design": {a saved design}, "gpus": "4096", "dimensions": {"tp": "1..8*2",
// "recompute": "all", "microbatch": [1, 2, 4]}, "constraints": ["tp*cp<=node"], "memory_margin": 0.05}.
// Mistakes are located by file, line and dimension.
std::string to_json(const SpaceSpec& spec);
std::variant<SpaceSpec, Problem> space_from_json(const std::string& text, const std::string& where);
std::variant<SpaceSpec, Problem> load_space(const std::filesystem::path& path);

}  // namespace shardscape

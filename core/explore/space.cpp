#include "explore/space.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/number_text.h"
#include "base/units.h"
#include "design/limits.h"
#include "design/validate/checks.h"
#include "explore/values.h"
#include "graph/build.h"
#include "pipeline/same_schedule.h"

namespace shardscape {

namespace {

constexpr const char* kDegrees[] = {"tp", "cp", "pp",
                                    "dp"};  // degrees that multiply to the ranks, slowest first
// Knobs that only choose the order of passes.
constexpr const char* kScheduleKnobs[] = {"schedule",   "forwards_first", "microbatch_group",
                                          "pass_times", "most_in_flight", "waiting_percent"};
constexpr Wide kMaxSize = Wide{1} << 120;
constexpr size_t kMostConstraints = 100;
constexpr size_t kMostLayouts = size_t{1} << 22;  // some 500 MB

bool is_degree(std::string_view id) {
  return std::find(std::begin(kDegrees), std::end(kDegrees), id) != std::end(kDegrees);
}

}  // namespace

std::string SpaceSpec::ranks() const {
  if (nodes.empty()) return gpus;
  std::string out;
  const auto values = parse_values(*find_knob("dp"), nodes);
  for (const std::string& n : std::get<0>(values))
    out += (out.empty() ? "" : ",") + std::to_string(std::stoll(n) * base.cluster.gpus_per_node);
  return out;
}

const std::string* SpaceSpec::find(std::string_view dimension) const {
  for (const auto& [id, values] : dimensions)
    if (id == dimension) return &values;
  return nullptr;
}

// Builds a space from a spec. Throws a Problem.
class SpaceBuilder {
 public:
  explicit SpaceBuilder(SpaceSpec spec) : space_(std::make_shared<Space>()), spec_(space_->spec_) {
    spec_ = std::move(spec);
    space_->base_ = spec_.base;
  }

  std::shared_ptr<const Space> build() {
    check_names();
    add_models();
    add_layouts();
    add_others();
    if (spec_.constraints.size() > kMostConstraints)
      throw Problem(
          ProblemCode::TooManyValues, "constraints",
          "there are " + grouped(static_cast<Wide>(spec_.constraints.size())) + " constraints",
          "at most " + grouped(static_cast<Wide>(kMostConstraints)) + " constraints, which \"and\" can join");
    for (const std::string& text : spec_.constraints) {
      auto constraint = Constraint::parse(text);
      if (auto* problem = std::get_if<Problem>(&constraint)) throw *problem;
      space_->constraints_.push_back(std::get<Constraint>(std::move(constraint)));
    }
    if (!(spec_.memory_margin >= 0 && spec_.memory_margin < 1))
      throw Problem(ProblemCode::MemoryMarginInvalid, "memory_margin",
                    "a margin of " + significant(spec_.memory_margin) + " leaves no memory",
                    "a share from 0 to below 1, such as 0.05");
    for (const Space::Digit& digit : space_->digits_) {
      if (space_->size_ > kMaxSize / static_cast<Wide>(digit.rows.size()))
        throw Problem(ProblemCode::SpaceTooLarge, "dimensions", "the space is too large to count",
                      "fewer dimensions or values");
      space_->size_ *= static_cast<Wide>(digit.rows.size());
    }
    return space_;
  }

 private:
  void check_names() {
    for (size_t i = 0; i < spec_.dimensions.size(); ++i) {
      std::string& id = spec_.dimensions[i].first;
      std::replace(id.begin(), id.end(), '-', '_');
      if (id != kModelAxis && !find_knob(id))
        throw Problem(ProblemCode::UnknownKnob, id, "there is no setting \"" + id + "\"",
                      "the id of a setting, or model, as \"shardscape-cli explore --help\" lists them");
      for (size_t j = 0; j < i; ++j)
        if (spec_.dimensions[j].first == id)
          throw Problem(ProblemCode::RepeatedDimension, id, "the dimension \"" + id + "\" is given twice",
                        "each dimension once");
    }
    if (!spec_.gpus.empty() && !spec_.nodes.empty())
      throw Problem(ProblemCode::ConflictingDimensions, kNodesAxis, "both gpus and nodes are given",
                    "either gpus or nodes");
  }

  std::vector<std::string> parsed(const Knob& knob, const std::string& text) const {
    auto values = is_all(text) ? all_values(knob, space_->base_) : parse_values(knob, text);
    if (auto* problem = std::get_if<Problem>(&values)) throw *problem;
    return std::get<0>(std::move(values));
  }

  int add_axis(std::string id, std::string label, const Knob* knob, std::vector<std::string> values) {
    std::vector<KnobSetting> settings;
    for (const std::string& value : values) {
      if (knob) {
        auto setting = read_setting(*knob, value);
        if (auto* problem = std::get_if<Problem>(&setting)) throw *problem;
        settings.push_back(std::get<KnobSetting>(std::move(setting)));
      } else if (id == kModelAxis) {
        settings.push_back([value](Design& d) { (void)apply_preset(d, value); });
      } else {
        settings.push_back([](Design&) {});  // ranks follow from the degrees
      }
    }
    space_->axes_.push_back({std::move(id), std::move(label), knob, std::move(values)});
    space_->settings_.push_back(std::move(settings));
    return static_cast<int>(space_->axes_.size()) - 1;
  }

  void add_digit(int axis) {
    Space::Digit digit{{axis}, {}};
    for (int i = 0; i < static_cast<int>(space_->axes_[static_cast<size_t>(axis)].values.size()); ++i)
      digit.rows.push_back({i});
    space_->digits_.push_back(std::move(digit));
  }

  void add_models() {
    const std::string* text = spec_.find(kModelAxis);
    if (!text) return;
    const auto& presets = ModelLibrary::instance().presets();
    std::vector<std::string> values;
    std::string rest = is_all(*text) ? "" : *text;
    if (rest.empty())
      std::transform(presets.begin(), presets.end(), std::back_inserter(values),
                     [](const Preset& p) { return p.id; });
    while (!rest.empty()) {
      const size_t comma = rest.find(',');
      const std::string id(trimmed(std::string_view(rest).substr(0, comma)));
      if (!ModelLibrary::instance().preset(id))
        throw Problem(ProblemCode::UnknownPreset, kModelAxis, "there is no preset \"" + id + "\"",
                      "presets from \"shardscape-cli presets\", separated by commas, or all");
      if (std::find(values.begin(), values.end(), id) == values.end()) values.push_back(id);
      rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    }
    if (values.empty())
      throw Problem(ProblemCode::ValueMissing, kModelAxis, "no preset is named",
                    "presets separated by commas, or all");
    apply_preset(space_->base_, values.front());
    if (values.size() > 1) add_digit(add_axis(kModelAxis, "Model", nullptr, std::move(values)));
  }

  // Ranks and their nodes (0: the spec does not list nodes).
  std::vector<std::pair<int64_t, int64_t>> worlds() const {
    std::vector<std::pair<int64_t, int64_t>> out;
    const bool by_node = !spec_.nodes.empty();
    const char* id = by_node ? kNodesAxis : kGpusAxis;
    // The list of ranks or nodes has the syntax of the values of dp.
    auto values = parse_values(*find_knob("dp"), by_node ? spec_.nodes : spec_.gpus);
    if (auto* problem = std::get_if<Problem>(&values)) {
      problem->where = id;
      throw *problem;
    }
    if (by_node && spec_.find("gpus_per_node"))
      throw Problem(ProblemCode::NodesOfVariousSizes, kNodesAxis,
                    "nodes have different sizes, so the number of nodes does not determine the ranks",
                    "gpus instead of nodes, or a single value of gpus_per_node");
    for (const std::string& text : std::get<0>(values)) {
      const int64_t n = std::stoll(text), ranks = by_node ? n * space_->base_.cluster.gpus_per_node : n;
      if (ranks > kMaxWorld)
        throw Problem(ProblemCode::TooManyRanks, id, grouped(ranks) + " ranks exceed the limit",
                      "up to " + grouped(kMaxWorld) + " ranks");
      out.emplace_back(ranks, by_node ? n : 0);
    }
    return out;
  }

  // The candidates that the base model permits for a degree. Returns all candidates for dp, and if the space
  // varies the model.
  std::vector<int64_t> permitted_divisors(const Knob& degree, std::vector<int64_t> candidates) const {
    const bool same_model = std::none_of(spec_.dimensions.begin(), spec_.dimensions.end(), [](const auto& d) {
      const Knob* knob = find_knob(d.first);
      return !knob || knob->group == KnobGroup::Model || knob->id == "seq";
    });
    if (!same_model || degree.id == "dp") return candidates;
    std::vector<int64_t> out;
    Design probe = space_->base_;
    probe.parallel = {};
    ValidatedParts known;
    for (int64_t n : candidates) {
      (void)set_knob(probe, degree, std::to_string(n));
      if (!has_error(probe, degree.id, &known)) out.push_back(n);
    }
    return out.empty() ? candidates : out;
  }

  void add_layouts() {
    if (spec_.gpus.empty() && spec_.nodes.empty()) {
      for (const char* id : kDegrees)
        if (const std::string* text = spec_.find(id); text && is_all(*text))
          throw Problem(ProblemCode::RanksUnknown, id,
                        "\"all\" for " + std::string(id) +
                            " needs the number of ranks, because it means the divisors of this number",
                        "gpus or nodes, or a list or range");
      return;
    }
    const auto ranks = worlds();
    std::vector<int64_t> candidates;
    for (const auto& [world, _] : ranks)
      for (int64_t n : divisors(world)) candidates.push_back(n);
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    std::vector<std::vector<int64_t>> allowed;
    for (const char* id : kDegrees) {
      const Knob& knob = *find_knob(id);
      const std::string* text = spec_.find(id);
      std::vector<int64_t> values;
      if (text ? is_all(*text) : std::string_view(id) == "dp")
        values = permitted_divisors(knob, candidates);
      else if (!text)
        values = {knob_number(knob)(space_->base_)};
      else
        for (const std::string& value : parsed(knob, *text)) values.push_back(std::stoll(value));
      allowed.push_back(std::move(values));
    }
    add_layout_digit(ranks, allowed);
  }

  using Layout = std::array<int64_t, 6>;  // ranks, nodes, then the degrees

  // All products of allowed degrees that give `world`, in ascending order of tp, cp and pp.
  static void add_layouts_of(int64_t world, int64_t nodes, const std::vector<std::vector<int64_t>>& allowed,
                             std::vector<Layout>& found) {
    const auto common = [](const std::vector<int64_t>& factors, const std::vector<int64_t>& degrees) {
      std::vector<int64_t> out;
      std::copy_if(factors.begin(), factors.end(), std::back_inserter(out),
                   [&](int64_t n) { return std::binary_search(degrees.begin(), degrees.end(), n); });
      return out;
    };
    const std::vector<int64_t> factors = divisors(world), all_cp = common(factors, allowed[1]),
                               all_pp = common(factors, allowed[2]);
    for (const int64_t tp : common(factors, allowed[0]))
      for (const int64_t cp : all_cp) {
        if (world / tp % cp != 0) continue;
        const int64_t rest = world / tp / cp;
        for (const int64_t pp : all_pp)
          if (rest % pp == 0 && std::binary_search(allowed[3].begin(), allowed[3].end(), rest / pp))
            found.push_back({world, nodes, tp, cp, pp, rest / pp});
      }
    if (found.size() > kMostLayouts)
      throw Problem(ProblemCode::SpaceTooLarge, nodes > 0 ? kNodesAxis : kGpusAxis,
                    "tp, cp, pp and dp give more than " + grouped(static_cast<Wide>(kMostLayouts)) +
                        " layouts of the ranks",
                    "fewer numbers of ranks, or fewer values of tp, cp, pp and dp");
  }

  void add_layout_digit(const std::vector<std::pair<int64_t, int64_t>>& ranks,
                        const std::vector<std::vector<int64_t>>& allowed) {
    std::vector<Layout> found;
    for (const auto& [world, nodes] : ranks) add_layouts_of(world, nodes, allowed, found);
    if (found.empty())
      throw Problem(ProblemCode::NoLayoutForRanks, spec_.nodes.empty() ? kGpusAxis : kNodesAxis,
                    "no values of tp, cp, pp and dp give a product of " + grouped(ranks.front().first) +
                        " ranks" + (ranks.size() > 1 ? " or another given number" : ""),
                    "degrees whose product is the number of ranks, or \"all\" for one degree");
    Space::Digit digit;
    digit.rows.resize(found.size());
    for (size_t column = 0; column < 6; ++column) {
      std::vector<int64_t> numbers;
      numbers.reserve(found.size());
      for (const auto& row : found) numbers.push_back(row[column]);
      std::sort(numbers.begin(), numbers.end());
      numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
      const char* id = column == 0 ? kGpusAxis : column == 1 ? kNodesAxis : kDegrees[column - 2];
      const Knob* knob = column < 2 ? nullptr : find_knob(id);
      if (numbers.size() == 1) {
        if (knob) (void)set_knob(space_->base_, *knob, std::to_string(numbers.front()));
        continue;
      }
      std::vector<std::string> texts;
      texts.reserve(numbers.size());
      for (int64_t n : numbers) texts.push_back(std::to_string(n));
      digit.axes.push_back(add_axis(id,
                                    knob          ? knob->label
                                    : column == 0 ? "GPUs"
                                                  : "Nodes",
                                    knob, std::move(texts)));
      for (size_t r = 0; r < found.size(); ++r)
        digit.rows[r].push_back(static_cast<int>(
            std::lower_bound(numbers.begin(), numbers.end(), found[r][column]) - numbers.begin()));
    }
    if (found.size() > 1) space_->digits_.push_back(std::move(digit));
  }

  // Whether the values of an axis give different graphs, tested on a design in which every strategy is
  // active.
  bool changes_structure(const SpaceAxis& axis) const {
    Design probe = space_->base_;
    for (const char* id : kDegrees) (void)set_knob(probe, *find_knob(id), "2");
    std::optional<Structure> first;
    for (const std::string& value : axis.values) {
      (void)set_knob(probe, *axis.knob, value);
      Structure structure = structure_of(probe);
      if (first && structure != *first) return true;
      first = std::move(structure);
    }
    return false;
  }

  void add_others() {
    const bool laid_out = !spec_.gpus.empty() || !spec_.nodes.empty();
    std::vector<int> structural, numeric;
    for (const Knob& knob : knobs()) {
      const std::string* text = spec_.find(knob.id);
      if (!text || (laid_out && is_degree(knob.id))) continue;
      std::vector<std::string> values = parsed(knob, *text);
      if (values.empty())
        throw Problem(ProblemCode::ValueMissing, knob.id, "a value is missing", values_help(knob));
      if (values.size() == 1) {
        (void)set_knob(space_->base_, knob, values.front());
        fixed_.emplace_back(&knob, values.front());
        continue;
      }
      const int axis = add_axis(knob.id, knob.label, &knob, std::move(values));
      (changes_structure(space_->axes_[static_cast<size_t>(axis)]) ? structural : numeric).push_back(axis);
    }
    for (const auto* list : {&structural, &numeric})
      for (int axis : *list) {
        add_digit(axis);
        space_->without_effect_.emplace_back(static_cast<size_t>(axis),
                                             no_effect_test(*space_->axes_[static_cast<size_t>(axis)].knob));
        const std::string& id = space_->axes_[static_cast<size_t>(axis)].id;
        if (std::find(std::begin(kScheduleKnobs), std::end(kScheduleKnobs), id) != std::end(kScheduleKnobs))
          space_->schedule_axes_.push_back(static_cast<size_t>(axis));
      }
    // A preset would overwrite knobs of the model that have a single value.
    if (const int model = space_->axis(kModelAxis); model >= 0)
      for (KnobSetting& setting : space_->settings_[static_cast<size_t>(model)])
        setting = [preset = setting, fixed = fixed_](Design& d) {
          preset(d);
          for (const auto& [knob, value] : fixed)
            if (knob->group == KnobGroup::Model) (void)set_knob(d, *knob, value);
        };
  }

  std::shared_ptr<Space> space_;
  SpaceSpec& spec_;
  std::vector<std::pair<const Knob*, std::string>> fixed_;
};

Result<std::shared_ptr<const Space>> Space::make(SpaceSpec spec) {
  try {
    return SpaceBuilder(std::move(spec)).build();
  } catch (const Problem& problem) {
    return problem;
  }
}

int Space::axis(std::string_view id) const {
  const auto it = std::find_if(axes_.begin(), axes_.end(), [&](const SpaceAxis& a) { return a.id == id; });
  return it == axes_.end() ? -1 : static_cast<int>(it - axes_.begin());
}

std::vector<int> Space::digits_at(Wide index) const {
  std::vector<int> out(digits_.size());
  for (size_t i = digits_.size(); i-- > 0;) {
    const auto radix = static_cast<Wide>(digits_[i].rows.size());
    out[i] = static_cast<int>(index % radix);
    index /= radix;
  }
  return out;
}

Wide Space::index_at(const std::vector<int>& digits) const {
  Wide index = 0;
  for (size_t i = 0; i < digits_.size(); ++i)
    index = index * static_cast<Wide>(digits_[i].rows.size()) + digits[i];
  return index;
}

std::vector<int> Space::values_at(Wide index) const {
  std::vector<int> out(axes_.size(), 0);
  const std::vector<int> rows = digits_at(index);
  for (size_t i = 0; i < digits_.size(); ++i)
    for (size_t a = 0; a < digits_[i].axes.size(); ++a)
      out[static_cast<size_t>(digits_[i].axes[a])] = digits_[i].rows[static_cast<size_t>(rows[i])][a];
  return out;
}

std::optional<Wide> Space::index_of(const std::vector<int>& values) const {
  if (values.size() != axes_.size()) return std::nullopt;
  std::vector<int> rows;
  for (const Digit& digit : digits_) {
    std::vector<int> wanted;
    for (int axis : digit.axes) wanted.push_back(values[static_cast<size_t>(axis)]);
    const auto row = std::find(digit.rows.begin(), digit.rows.end(), wanted);
    if (row == digit.rows.end()) return std::nullopt;
    rows.push_back(static_cast<int>(row - digit.rows.begin()));
  }
  return index_at(rows);
}

std::optional<Wide> Space::index_of(const Design& design) const {
  std::vector<int> values;
  for (const SpaceAxis& axis : axes_) {
    const int64_t nodes = (design.world() + design.cluster.gpus_per_node - 1) / design.cluster.gpus_per_node;
    const std::string text = axis.knob ? knob_text(design, *axis.knob)
                             : axis.id == kModelAxis
                                 ? design.model.preset
                                 : std::to_string(axis.id == kNodesAxis ? nodes : design.world());
    const auto it = std::find(axis.values.begin(), axis.values.end(), text);
    if (it == axis.values.end()) return std::nullopt;
    values.push_back(static_cast<int>(it - axis.values.begin()));
  }
  return index_of(values);
}

Design Space::design_at(Wide index) const { return SpaceCursor(*this).at(index); }

int Space::excluded_by(const Design& design) const {
  const auto it = std::find_if(constraints_.begin(), constraints_.end(),
                               [&](const Constraint& c) { return !c.of_figures() && !c.holds(design); });
  return it == constraints_.end() ? -1 : static_cast<int>(it - constraints_.begin());
}

int Space::excluded_by(const Scored& timed) const {
  const auto it = std::find_if(constraints_.begin(), constraints_.end(),
                               [&](const Constraint& c) { return c.of_figures() && !c.holds(timed); });
  return it == constraints_.end() ? -1 : static_cast<int>(it - constraints_.begin());
}

bool Space::repeats(const Design& design, const std::vector<int>& values) const {
  return std::any_of(without_effect_.begin(), without_effect_.end(), [&](const auto& axis_and_test) {
    const auto& [axis, has_no_effect] = axis_and_test;
    return values[axis] > 0 && has_no_effect(design);
  });
}

Wide Space::first_equal(Wide index, SpaceCursor& cursor) const {
  for (bool changed = true; changed;) {
    changed = false;
    const Design& design = cursor.at(index);
    std::vector<int> rows = digits_at(index);
    for (const auto& [axis, has_no_effect] : without_effect_) {
      if (cursor.values()[axis] == 0 || !has_no_effect(design)) continue;
      for (size_t i = 0; i < digits_.size(); ++i)
        if (digits_[i].axes.front() == static_cast<int>(axis)) rows[i] = 0;
      changed = true;
    }
    index = index_at(rows);
  }
  return index;
}

bool Space::may_repeat_schedule(const std::vector<int>& values) const {
  return std::any_of(schedule_axes_.begin(), schedule_axes_.end(),
                     [&](size_t axis) { return values[axis] > 0; });
}

bool Space::repeats_schedule(const Design& design, const std::vector<int>& values, PlanCache* cache) const {
  if (!trains(design)) return false;  // the knobs have no effect
  const auto microbatches = static_cast<int>(design.workload.batch /
                                             (design.workload.microbatch * design.parallel.dp));
  for (size_t axis : schedule_axes_)
    for (int earlier = 0; earlier < values[axis]; ++earlier) {
      Design other = design;
      settings_[axis][static_cast<size_t>(earlier)](other);
      if (excluded_by(other) < 0 && first_error(other).empty() &&
          same_schedule(design.parallel, other.parallel, microbatches, cache))
        return true;
    }
  return false;
}

void Space::apply(Design& design, size_t digit, int row) const {
  const Digit& d = digits_[digit];
  for (size_t a = 0; a < d.axes.size(); ++a) {
    const auto axis = static_cast<size_t>(d.axes[a]);
    settings_[axis][static_cast<size_t>(d.rows[static_cast<size_t>(row)][a])](design);
  }
}

SpaceCursor::SpaceCursor(const Space& space)
    : space_(space), design_(space.base_), rows_(space.digits_.size(), -1), values_(space.axes_.size(), 0) {}

void SpaceCursor::set(size_t digit, int row) {
  if (rows_[digit] == row) return;
  rows_[digit] = row;
  const Space::Digit& d = space_.digits_[digit];
  for (size_t a = 0; a < d.axes.size(); ++a)
    values_[static_cast<size_t>(d.axes[a])] = d.rows[static_cast<size_t>(row)][a];
  // A preset resets knobs of the model.
  if (digit == 0 && space_.axes_[static_cast<size_t>(d.axes.front())].id == kModelAxis) {
    design_ = space_.base_;
    for (size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i] >= 0) space_.apply(design_, i, rows_[i]);
  } else {
    space_.apply(design_, digit, row);
  }
}

const Design& SpaceCursor::at(Wide index) {
  if (index == index_ + 1 && index_ >= 0) {
    for (size_t i = rows_.size(); i-- > 0;) {
      const bool wraps = rows_[i] + 1 == static_cast<int>(space_.digits_[i].rows.size());
      set(i, wraps ? 0 : rows_[i] + 1);
      if (!wraps) break;
    }
  } else if (index != index_) {
    const std::vector<int> rows = space_.digits_at(index);
    for (size_t i = 0; i < rows.size(); ++i) set(i, rows[i]);
  }
  index_ = index;
  return design_;
}

}  // namespace shardscape

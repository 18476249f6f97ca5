#include "design/validate/validate.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/number_text.h"
#include "base/units.h"
#include "design/knobs/knob_access.h"
#include "design/knobs/knobs.h"
#include "design/layer_sizes.h"
#include "design/limits.h"
#include "design/validate/checks.h"

namespace shardscape {

namespace {

// In the order of the form.
constexpr void (*kChecks[])(Checks&) = {
    check_values,     check_model,        check_mixers,    check_linear_heads,  check_sparse,
    check_compressed, check_tensor,       check_vision,    check_context,       check_experts,
    check_pipeline,   check_interleaving, check_schedule,  check_precision,     check_recompute,
    check_offload,    check_batch,        check_inference, check_layer_kinds,   check_carried,
    check_sync,       check_placement,    check_cluster,   check_without_effect};

}  // namespace

std::vector<Problem> validate(const Design& given) {
  const Design design = effective_design(given);
  Checks checks{design, {}, {}};
  for (const auto check : kChecks) check(checks);
  // Errors first; otherwise the order of the checks.
  std::stable_partition(checks.problems.begin(), checks.problems.end(),
                        [](const Problem& p) { return p.severity == Severity::Error; });
  return std::move(checks.problems);
}

namespace {
// wanted: see Checks.
std::string first_of(const Design& given, ValidatedParts* known, std::string_view wanted) {
  std::optional<Design> inference;  // avoids a copy of the design, which costs more than the checks
  if (!trains(given)) inference = effective_design(given);
  const Design& design = inference ? *inference : given;
  Checks checks{design, {}, {}, true, {}, known, wanted};
  for (const auto check : kChecks) {
    check(checks);
    if (!checks.first.empty()) break;
  }
  return std::move(checks.first);
}
}  // namespace

std::string first_error(const Design& design, ValidatedParts* known) { return first_of(design, known, {}); }

bool has_error(const Design& design, std::string_view degree, ValidatedParts* known) {
  return !first_of(design, known, degree).empty();
}

bool Checks::in_range(std::initializer_list<std::string_view> ids) const {
  return out_of_range.empty() || std::none_of(ids.begin(), ids.end(), [&](std::string_view id) {
           return std::find(out_of_range.begin(), out_of_range.end(), id) != out_of_range.end();
         });
}

bool Checks::record_first(std::string_view where) {
  if (first_only && first.empty() && (wanted.empty() || where == wanted)) first = where;
  return first_only;
}

void Checks::error(ProblemCode code, std::string where, std::string what, std::string accepted,
                   std::vector<Fix> fixes) {
  if (record_first(where)) return;
  problems.emplace_back(code, std::move(where), std::move(what), std::move(accepted), std::move(fixes));
}

void Checks::note(ProblemCode code, std::string where, std::string what, std::string accepted,
                  std::vector<Fix> fixes) {
  if (first_only) return;
  problems.push_back(
      Problem::note(code, std::move(where), std::move(what), std::move(accepted), std::move(fixes)));
}

namespace {

// The knobs of one part of the design, with bounds where the value is a number.
struct PartKnobs {
  struct Number {
    int64_t (*of)(const Design&);
    int64_t min, max;
  };
  std::vector<Number> numbers;
  std::vector<const Knob*> others;  // choices without a number
};

PartKnobs part_knobs(KnobGroup group) {
  PartKnobs out;
  for (const Knob& knob : knobs()) {
    if (knob.group != group || knob.type == KnobType::Boolean || knob.type == KnobType::IntegerList ||
        knob.type == KnobType::ChoiceList || knob.type == KnobType::Text)
      continue;
    const auto number = knob_access(knob).number;
    if (number && knob.type == KnobType::Choice)
      out.numbers.push_back({number, 0, static_cast<int64_t>(knob.choices.size()) - 1});
    else if (number && group != KnobGroup::Model)
      out.numbers.push_back({number, knob.min, knob.max});  // least_value() bounds the numbers of a model
    else
      out.others.push_back(&knob);
  }
  return out;
}

bool in_bounds(const Design& design, const Knob& knob) {
  if (knob.type == KnobType::Choice) return canonical_choice(knob, knob_text(design, knob)) != nullptr;
  const int64_t value = knob_integer(design, knob);
  return value >= least_value(design, knob) && value <= knob.max;
}

// Whether every value of a part of the design is in range. known: caches the last part in range.
template <KnobGroup group, auto Part, typename Spec>
bool part_in_range(const Design& design, std::optional<Spec>* known) {
  static const PartKnobs of = part_knobs(group);
  if (known && *known == design.*Part) return true;
  if (!std::all_of(of.numbers.begin(), of.numbers.end(), [&](const PartKnobs::Number& n) {
        return n.of(design) >= n.min && n.of(design) <= n.max;
      }))
    return false;
  if (!std::all_of(of.others.begin(), of.others.end(),
                   [&](const Knob* knob) { return in_bounds(design, *knob); }))
    return false;
  if (known) *known = design.*Part;
  return true;
}

bool values_in_range(const Design& design, ValidatedParts* known) {
  return part_in_range<KnobGroup::Model, &Design::model>(design, known ? &known->model : nullptr) &&
         part_in_range<KnobGroup::Parallelism, &Design::parallel>(design,
                                                                  known ? &known->parallel : nullptr) &&
         part_in_range<KnobGroup::Workload, &Design::workload>(design, known ? &known->workload : nullptr) &&
         part_in_range<KnobGroup::Cluster, &Design::cluster>(design, known ? &known->cluster : nullptr);
}

}  // namespace

void check_values(Checks& checks) {
  const Design& design = checks.design;
  if (checks.first_only && values_in_range(design, checks.known)) return;
  for (const Knob& knob : knobs()) {
    const auto wrong = [&](ProblemCode code, const std::string& what, std::vector<Fix> fixes) {
      checks.out_of_range.push_back(knob.id);
      if (checks.record_first(knob.id)) return;
      Knob shown = knob;
      shown.min = least_value(design, knob);
      checks.error(code, knob.id, what, accepted_values(shown), std::move(fixes));
    };
    if (knob.type == KnobType::Integer || knob.type == KnobType::Decimal) {
      const auto words = [&](int64_t value) {
        return knob.type == KnobType::Decimal ? thousandths_text(value) : grouped(value);
      };
      const auto set = [&](int64_t value) {
        return knob.type == KnobType::Decimal ? set_to(knob.id, thousandths_text(value))
                                              : set_to(knob.id, value);
      };
      const int64_t value = knob_integer(design, knob);
      const int64_t least = least_value(design, knob);
      if (value < least) wrong(ProblemCode::ValueTooSmall, words(value) + " is too small", {set(least)});
      if (value > knob.max)
        wrong(ProblemCode::ValueTooLarge, words(value) + " is too large", {set(knob.max)});
    } else if (knob.type == KnobType::Choice) {
      const std::string text = knob_text(design, knob);
      if (canonical_choice(knob, text)) continue;
      std::vector<Fix> fixes;
      if (!knob.choices.empty()) {
        const std::string* usual = canonical_choice(knob, knob_text(Design{}, knob));
        fixes.push_back(set_to(knob.id, usual ? *usual : knob.choices.front().value));
      }
      wrong(ProblemCode::UnknownChoice,
            text.empty() ? "the value is not one of the choices" : "\"" + text + "\" is not known",
            std::move(fixes));
    }
  }
}

namespace {

// A knob's name inside a sentence: its label ("virtual stages"), its symbol if people use that ("tp"), or the
// id if there is no such knob.
std::string knob_words(const Knob* knob, std::string_view id) {
  if (!knob || knob->symbol == id) return std::string(id);
  std::string label = knob->label;
  // "KV heads" stays capitalised.
  if (label.size() > 1 && std::islower(static_cast<unsigned char>(label[1])))
    label[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(label[0])));
  return label;
}

}  // namespace

Fix set_to(std::string_view id, int64_t value) {
  return {"set " + knob_words(find_knob(id), id) + " to " + grouped(value),
          {{std::string(id), std::to_string(value)}}};
}

Fix set_to(std::string_view id, const std::string& text) {
  const Knob* knob = find_knob(id);
  const std::string words = knob_words(knob, id);
  const Fix fix{"set " + words + " to " + text, {{std::string(id), text}}};
  if (text.empty()) return {"clear " + words, fix.settings};
  if (knob && knob->type == KnobType::Boolean)
    return {(text == "true" ? "turn on " : "turn off ") + words, fix.settings};
  if (!knob || knob->type != KnobType::Choice) return fix;
  const auto choice = std::find_if(knob->choices.begin(), knob->choices.end(),
                                   [&](const KnobChoice& c) { return c.value == text; });
  return choice == knob->choices.end() ? fix : Fix{"set " + words + " to " + choice->label, fix.settings};
}

Fix both(Fix a, const Fix& b) {
  a.label += " and " + b.label;
  a.settings.insert(a.settings.end(), b.settings.begin(), b.settings.end());
  return a;
}

void offer(std::vector<Fix>& fixes, std::string_view id, int64_t value) {
  if (value > 0) fixes.push_back(set_to(id, value));
}

void offer_microbatch(std::vector<Fix>& fixes, const Checks& checks, int64_t wanted) {
  const int64_t dp = checks.design.parallel.dp, batch = checks.design.workload.batch;
  if (!checks.in_range({"batch", "dp"}) || wanted > kMaxBatch / dp) return;
  fixes.push_back(both(set_to("microbatch", wanted),
                       set_to("batch", std::max<int64_t>(1, batch / (wanted * dp)) * wanted * dp)));
}

std::vector<int64_t> divisors(int64_t n) {
  std::vector<int64_t> low, high;
  for (int64_t i = 1; i * i <= n; ++i) {
    if (n % i != 0) continue;
    low.push_back(i);
    if (i != n / i) high.push_back(n / i);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

int64_t ranks_without(const Design& design, std::string_view degree) {
  const ParallelSpec& p = design.parallel;
  int64_t out = 1;
  for (const auto& [name, value] : {std::pair{"tp", p.tp}, {"pp", p.pp}, {"dp", p.dp}, {"cp", p.cp}}) {
    if (degree == name) continue;
    if (__builtin_mul_overflow(out, value, &out) || out > kMaxWorld) return kMaxWorld + 1;
  }
  return out;
}

namespace {
bool sizes_split(const Design& design, const ModelSpec& m, int64_t tp) {
  if (uses_axis(design, Axis::Heads) && m.heads % tp != 0) return false;
  if (uses_axis(design, Axis::Ffn) && m.ffn % tp != 0) return false;
  if (uses_axis(design, Axis::SsmGroups) && m.ssm_groups % tp != 0) return false;
  if (uses_axis(design, Axis::OutputGroups) && m.output_groups % tp != 0) return false;
  if (!tp_splits_tower(design, tp)) return false;
  for (const LinearSplit& split : kLinearSplits)
    if (uses_axis(design, split.axis) && m.*split.size % tp != 0) return false;
  return !uses_axis(design, Axis::KvHeads) ||
         (m.kv_heads > 0 && (m.kv_heads < tp ? tp % m.kv_heads == 0 : m.kv_heads % tp == 0));
}
}  // namespace

bool tp_is_valid(const Design& design, int64_t tp) {
  if (!all_layer_models(design, [&](const ModelSpec& m) { return sizes_split(design, m, tp); })) return false;
  if (uses_axis(design, Axis::SsmInner) && ssm_channels(design) % tp != 0) return false;
  const bool decodes = design.workload.mode == Mode::Decode;
  const int64_t parts = (decodes ? 1 : design.parallel.cp) * (splits_tokens_over_tp(design) ? tp : 1);
  if (parts < 1 || (decodes ? design.workload.microbatch : design.workload.seq) % parts != 0) return false;
  return tp == 1 || ranks_without(design, "tp") * tp <= kMaxWorld;
}

namespace {
// Every valid tp divides this number.
int64_t split_by_tp(const Design& design) {
  if (uses_axis(design, Axis::Heads)) return design.model.heads;
  for (const LinearSplit& split : kLinearSplits)
    if (uses_axis(design, split.axis)) return design.model.*split.size;
  return uses_axis(design, Axis::SsmGroups) ? design.model.ssm_groups : ssm_channels(design);
}
}  // namespace

int64_t tp_at_most(const Design& design, int64_t limit) {
  const std::vector<int64_t> candidates = divisors(split_by_tp(design));
  const auto it = std::find_if(candidates.rbegin(), candidates.rend(),
                               [&](int64_t tp) { return tp <= limit && tp_is_valid(design, tp); });
  return it == candidates.rend() ? 0 : *it;
}

int64_t tp_above(const Design& design, int64_t limit) {
  const std::vector<int64_t> candidates = divisors(split_by_tp(design));
  const auto it = std::find_if(candidates.begin(), candidates.end(),
                               [&](int64_t tp) { return tp > limit && tp_is_valid(design, tp); });
  return it == candidates.end() ? 0 : *it;
}

bool splits_batch(const Design& design, int64_t dp, int64_t microbatch) {
  return design.workload.batch % (dp * microbatch * microbatch_multiple(design)) == 0;
}

int64_t dp_at_most(const Design& design, int64_t limit) {
  for (int64_t dp = std::min(limit, design.workload.batch / design.workload.microbatch); dp >= 1; --dp) {
    if (splits_batch(design, dp, design.workload.microbatch)) return dp;
  }
  return 0;
}

}  // namespace shardscape

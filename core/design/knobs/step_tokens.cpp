#include "design/knobs/step_tokens.h"

#include <algorithm>

#include "base/number_text.h"
#include "base/units.h"

namespace shardscape {
namespace {

int64_t tokens_per_sequence(const Design& design) {
  return design.workload.mode == Mode::Decode ? 1 : std::max<int64_t>(1, design.workload.seq);
}

}  // namespace

int64_t step_tokens(const Design& design) { return design.workload.batch * tokens_per_sequence(design); }

std::optional<int64_t> parse_step_tokens(std::string_view text) {
  const std::string lower = lower_case(trimmed(text));
  std::string_view rest = lower;
  const std::string_view units[] = {"tokens", "token", "tok"};
  const auto* unit = std::find_if(std::begin(units), std::end(units),
                                  [&](std::string_view word) { return rest.ends_with(word); });
  if (unit == std::end(units)) return std::nullopt;
  rest.remove_suffix(unit->size());
  rest = trimmed(rest);
  int64_t scale = 1;
  if (rest.ends_with('k')) scale = 1024;
  if (rest.ends_with('m')) scale = 1024 * 1024;
  if (scale > 1) rest.remove_suffix(1);
  const std::optional<int64_t> thousandths = parse_thousandths(rest);
  int64_t scaled = 0;
  if (!thousandths || __builtin_mul_overflow(*thousandths, scale, &scaled)) return std::nullopt;
  const int64_t tokens = scaled / 1000 + (scaled % 1000 >= 500);
  return tokens > 0 ? std::optional(tokens) : std::nullopt;
}

int64_t sequences_of_tokens(const Design& design, int64_t tokens) {
  const int64_t each = tokens_per_sequence(design);
  return std::max<int64_t>(1, tokens / each + (tokens % each >= (each + 1) / 2));
}

std::optional<Problem> rounding_note(const Design& design, const Knob& knob, std::string_view text) {
  const std::optional<int64_t> tokens = knob.id == "batch" ? parse_step_tokens(text) : std::nullopt;
  const int64_t each = tokens_per_sequence(design);
  if (!tokens || *tokens % each == 0) return std::nullopt;
  const int64_t sequences = sequences_of_tokens(design, *tokens);
  return Problem::note(ProblemCode::BatchRounded, knob.id,
                       grouped(*tokens) + " tokens are not a multiple of the sequence length, " +
                           grouped(each) + "; rounded to " + grouped(sequences) +
                           (sequences == 1 ? " sequence, " : " sequences, ") +
                           grouped(Wide(sequences) * each) + " tokens");
}

}  // namespace shardscape

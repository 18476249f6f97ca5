#include "support/execution_runs.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"

namespace shardscape::test {
namespace {

// Refusals of docs/limits.md that presets meet on the meshes of the tests, and KV heads of variants.
constexpr ProblemCode kRefusals[] = {
    ProblemCode::CacheEntryUnfit,           ProblemCode::RingWithSinks,          ProblemCode::RingWithWindow,
    ProblemCode::SparseNeedsAllKeys,        ProblemCode::SparseUnfusedAttention, ProblemCode::Mamba1WithCp,
    ProblemCode::UlyssesKvHeadsIndivisible, ProblemCode::CarriedCacheSplit};

}  // namespace

void set_value(Design& design, const std::string& id, const std::string& value) {
  const Knob* knob = find_knob(id);
  if (!knob) throw std::invalid_argument("there is no knob " + id);
  if (const auto problem = set_knob(design, *knob, value)) throw std::invalid_argument(to_string(*problem));
}

void set_knobs(Design& design, const std::string& settings) {
  std::istringstream in(settings);
  for (std::string word; in >> word;) {
    if (word == "sp") word = "sequence_parallel=true";
    const size_t equals = word.find('=');
    if (equals == std::string::npos) throw std::invalid_argument(word + " has no value");
    set_value(design, word.substr(0, equals), word.substr(equals + 1));
  }
}

void set_mesh(Design& design, int64_t tp, bool sp, int64_t pp, int64_t dp, int64_t cp) {
  ParallelSpec& p = design.parallel;
  p.tp = tp;
  p.sequence_parallel = sp;
  p.pp = pp;
  p.dp = dp;
  p.cp = cp;
}

std::string first_problem(const Design& design) {
  const std::vector<Problem> problems = validate(design);
  return has_errors(problems) ? to_string(problems.front()) : "";
}

bool refused(const Design& design) {
  const std::vector<Problem> problems = validate(design);
  if (!has_errors(problems)) return false;
  const ProblemCode code = problems.front().code;
  if (std::find(std::begin(kRefusals), std::end(kRefusals), code) == std::end(kRefusals))
    throw std::logic_error(to_string(problems.front()));
  return true;
}

}  // namespace shardscape::test

#include "support/execution_runs.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"

namespace shardscape::test {
namespace {

// Refusals of docs/limits.md that presets meet on the meshes of the tests, and KV heads of variants.
constexpr ProblemCode kRefusals[] = {ProblemCode::RingWithSinks,      ProblemCode::RingWithWindow,
                                     ProblemCode::SparseNeedsAllKeys, ProblemCode::SparseUnfusedAttention,
                                     ProblemCode::Mamba1WithCp,       ProblemCode::UlyssesKvHeadsIndivisible};

}  // namespace

void set_knobs(Design& design, const std::string& settings) {
  std::istringstream in(settings);
  for (std::string word; in >> word;) {
    if (word == "sp") word = "sequence_parallel=true";
    const size_t equals = word.find('=');
    const Knob* knob = find_knob(word.substr(0, equals));
    if (!knob || equals == std::string::npos) throw std::invalid_argument("there is no knob " + word);
    if (const auto problem = set_knob(design, *knob, word.substr(equals + 1)))
      throw std::invalid_argument(to_string(*problem));
  }
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

#include "base/problem.h"

#include <algorithm>

#include "base/shown_text.h"

namespace shardscape {
namespace {

constexpr ProblemKind kKinds[] = {
#define PROBLEM(code, text, meaning) {ProblemCode::code, text, meaning},
#include "base/problem_codes.def"
#undef PROBLEM
};

// Bytes of a text. Lists of what is accepted are long, other texts only if they repeat a value of a file.
constexpr size_t kLongest = 1000, kLongestAccepted = 8000;

std::string shown(std::string text, size_t most = kLongest) {
  return shortened_inside(printable(std::move(text)), most);
}

}  // namespace

std::span<const ProblemKind> problem_kinds() { return kKinds; }

std::string_view code_text(ProblemCode code) { return kKinds[static_cast<size_t>(code)].text; }

Problem::Problem(ProblemCode kind, std::string place, std::string wrong, std::string wanted,
                 std::vector<Fix> corrections)
    : code(kind),
      where(shown(std::move(place))),
      what(shown(std::move(wrong))),
      accepted(shown(std::move(wanted), kLongestAccepted)),
      fixes(std::move(corrections)) {}

Problem Problem::note(ProblemCode kind, std::string place, std::string wrong, std::string wanted,
                      std::vector<Fix> corrections) {
  Problem out(kind, std::move(place), std::move(wrong), std::move(wanted), std::move(corrections));
  out.severity = Severity::Note;
  return out;
}

std::string to_string(const Problem& problem) {
  std::string text;
  if (!problem.where.empty()) text = problem.where + ": ";
  text += problem.what;
  if (!problem.accepted.empty()) text += "; accepted: " + problem.accepted;
  return text;
}

bool has_errors(const std::vector<Problem>& problems) {
  return std::any_of(problems.begin(), problems.end(),
                     [](const Problem& p) { return p.severity == Severity::Error; });
}

}  // namespace shardscape

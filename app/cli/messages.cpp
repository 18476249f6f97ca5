#include "app/cli/messages.h"

#include <iostream>

#include "app/cli/exit_code.h"
#include "app/cli/text.h"
#include "design/knobs/knobs.h"

namespace shardscape {
namespace {

// "--tp 4 --batch 32"
std::string flags_of(const Fix& fix) {
  std::vector<std::string> flags;
  for (const auto& [id, text] : fix.settings) {
    const Knob* knob = find_knob(id);
    flags.push_back((knob ? knob->flag() : "--" + id) + " " + (text.empty() ? "\"\"" : text));
  }
  return joined(flags, " ");
}

}  // namespace

std::string problem_text(const Problem& problem) {
  std::string text = problem.severity == Severity::Error ? "error: " : "note: ";
  if (!problem.where.empty()) text += problem.where + ": ";
  text += problem.what + "\n";
  if (!problem.accepted.empty()) text += "  accepted: " + wrapped(problem.accepted, 12) + "\n";
  for (const Fix& fix : problem.fixes) text += "  fix: " + flags_of(fix) + "\n";
  return text;
}

void print_problem(const Problem& problem) { std::cerr << problem_text(problem) << std::flush; }

int failed(const Problem& problem, int exit_code) {
  print_problem(problem);
  return exit_code;
}

int wrong_usage(const Problem& problem) { return failed(problem, kWrongUsage); }

int print_refusal(const Problem& problem) {
  print_problem(problem);
  return problem.code == ProblemCode::FileUnreadable ? kFileError : kNegativeAnswer;
}

void print_problems(const std::vector<Problem>& problems) {
  for (const Problem& problem : problems) print_problem(problem);
}

void print_problems_of_file(std::vector<Problem> problems, const std::string& file) {
  for (Problem& problem : problems) {
    problem.where = problem.where.empty() ? file : file + ": " + problem.where;
    problem.fixes.clear();
    print_problem(problem);
  }
}

}  // namespace shardscape

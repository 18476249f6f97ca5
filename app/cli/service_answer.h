// The shape that questions about services share: they take a while, and have an answer as text, JSON and CSV.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "app/cli/arguments.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/progress_line.h"
#include "app/cli/service_flags.h"

namespace shardscape {

// Writes the table that --csv names, if it is given, and prints JSON with --json, or else text, also where
// the table cannot be written. Returns kFileError then, otherwise kDone.
int print_answer(const Arguments& arguments, const std::function<std::string()>& csv,
                 const std::function<std::string()>& json, const std::function<std::string()>& text);

template <class Answer>
struct Question {
  using Progress = std::function<void(size_t done, size_t of)>;
  std::function<Result<std::shared_ptr<const Answer>>(std::stop_token, const Progress&)> compute;
  std::function<std::string(const Answer&)> csv, json, text;
  std::function<bool(const Answer&)> positive = [](const Answer&) { return true; };
};

// Computes the answer with a line of progress, and prints it. Returns the exit code. A process has one
// Interrupt at a time: a command that has one passes it.
template <class Answer>
int ask(const Arguments& arguments, const Question<Answer>& question, const Interrupt& interrupt) {
  const auto made = [&] {
    ProgressLine line;
    return question.compute(interrupt.token(), [&](size_t done, size_t of) {
      line.show(std::to_string(done) + " of " + std::to_string(of));
    });
  }();
  if (interrupt.token().stop_requested()) return kInterrupted;
  if (const auto* problem = std::get_if<Problem>(&made)) return service_refusal(*problem);
  const Answer& answer = *std::get<0>(made);
  const int code = print_answer(
      arguments, [&] { return question.csv(answer); }, [&] { return question.json(answer); },
      [&] { return question.text(answer); });
  return code != kDone || question.positive(answer) ? code : kNegativeAnswer;
}
template <class Answer>
int ask(const Arguments& arguments, const Question<Answer>& question) {
  return ask(arguments, question, Interrupt());
}

}  // namespace shardscape

// Values that cross between Python and C++: JSON as dicts, settings as texts, problems as exceptions.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "base/problem.h"
#include "design/design.h"

namespace shardscape {

// Thrown where a Problem is the answer; Python sees a ProblemError.
struct ProblemThrown {
  std::vector<Problem> problems;  // not empty
};
[[noreturn]] void raise(const Problem& problem);
// Raises the errors among the problems; does nothing without errors.
void raise_errors(const std::vector<Problem>& problems);

template <class T>
T value_or_raise(Result<T> result) {
  if (const auto* problem = std::get_if<Problem>(&result)) raise(*problem);
  return std::get<T>(std::move(result));
}

// A JSON text as dict, list and numbers.
pybind11::object from_json(const std::string& json);
// The text of a setting: True is "true", [1, 2] is "1,2", None is "".
std::string setting_text(const pybind11::handle& value);

// Makes ProblemError and its translation from ProblemThrown.
void add_problem_error(pybind11::module_& module);

}  // namespace shardscape

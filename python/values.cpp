#include "values.h"

#include <algorithm>
#include <iterator>

namespace shardscape {

namespace py = pybind11;

void raise(const Problem& problem) { throw ProblemThrown{{problem}}; }

void raise_errors(const std::vector<Problem>& problems) {
  ProblemThrown thrown;
  std::copy_if(problems.begin(), problems.end(), std::back_inserter(thrown.problems),
               [](const Problem& one) { return one.severity == Severity::Error; });
  if (!thrown.problems.empty()) throw thrown;
}

py::object from_json(const std::string& json) { return py::module_::import("json").attr("loads")(json); }

std::string setting_text(const py::handle& value) {
  if (value.is_none()) return "";
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>() ? "true" : "false";
  if (!py::isinstance<py::list>(value) && !py::isinstance<py::tuple>(value)) return py::str(value);
  std::string out;
  for (const py::handle entry : value) out += (out.empty() ? "" : ",") + setting_text(entry);
  return out;
}

namespace {

py::dict as_dict(const Problem& problem) {
  py::list fixes;
  for (const Fix& fix : problem.fixes) {
    py::dict settings;
    for (const auto& [knob, text] : fix.settings) settings[py::str(knob)] = text;
    fixes.append(py::dict(py::arg("label") = fix.label, py::arg("settings") = settings));
  }
  return py::dict(py::arg("code") = std::string(code_text(problem.code)), py::arg("where") = problem.where,
                  py::arg("what") = problem.what, py::arg("accepted") = problem.accepted,
                  py::arg("fixes") = fixes);
}

PyObject* problem_error = nullptr;  // owned by the module

void set_error(const ProblemThrown& thrown) {
  std::string text;
  py::list problems;
  for (const Problem& problem : thrown.problems) {
    text += (text.empty() ? "" : "\n") + to_string(problem);
    problems.append(as_dict(problem));
  }
  py::object error = py::handle(problem_error)(text);
  error.attr("problems") = problems;
  for (const char* field : {"code", "where", "what", "accepted", "fixes"})
    error.attr(field) = py::dict(problems[0])[field];
  PyErr_SetObject(problem_error, error.ptr());
}

}  // namespace

void add_problem_error(py::module_& module) {
  problem_error = PyErr_NewExceptionWithDoc(
      "shardscape.ProblemError",
      "A mistake in the settings. code, where, what, accepted and fixes describe the first problem; problems "
      "lists all as dicts.",
      PyExc_ValueError, nullptr);
  module.attr("ProblemError") = py::handle(problem_error);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const ProblemThrown& problems) {
      set_error(problems);
    }
  });
}

}  // namespace shardscape

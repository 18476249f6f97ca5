#include "searches.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <array>

#include "explore/search.h"
#include "interruptible.h"
#include "values.h"

namespace shardscape {

namespace py = pybind11;

namespace {

// One column of numbers.
template <class Value>
py::array_t<Value> column(const std::vector<Point>& points, Value (*value)(const Point&)) {
  py::array_t<Value> out(static_cast<py::ssize_t>(points.size()));
  auto cells = out.template mutable_unchecked<1>();
  for (size_t i = 0; i < points.size(); ++i) cells(static_cast<py::ssize_t>(i)) = value(points[i]);
  return out;
}

// The values of one axis: numbers where all are whole numbers, else texts.
py::object axis_column(const SearchResult& result, size_t axis) {
  const SpaceAxis& of = result.space->axes()[axis];
  py::list texts;
  for (const Point& point : result.best)
    texts.append(of.values[static_cast<size_t>(result.space->values_at(point.index)[axis])]);
  const bool whole = of.numeric() && (!of.knob || of.knob->type == KnobType::Integer);
  const py::object numpy = py::module_::import("numpy");
  return whole ? numpy.attr("array")(texts).attr("astype")("int64") : numpy.attr("array")(texts);
}

SpaceSpec spec_of(const Design& base, const py::object& gpus, const std::vector<std::string>& constraints,
                  const py::kwargs& dimensions) {
  SpaceSpec spec;
  spec.name = base.name;
  spec.base = base;
  spec.gpus = setting_text(gpus);
  spec.constraints = constraints;
  for (const auto& [id, values] : dimensions)
    spec.dimensions.emplace_back(id.cast<std::string>(), setting_text(values));
  if (!spec.dimensions.empty() || spec.gpus.empty()) return spec;
  int64_t ranks = base.world();
  if (py::isinstance<py::int_>(gpus)) ranks = gpus.cast<int64_t>();
  spec.dimensions = usual_dimensions(base, ranks, {});
  return spec;
}

py::dict columns_of(const SearchResult& result) {
  py::dict out;
  for (size_t axis = 0; axis < result.space->axes().size(); ++axis)
    out[py::str(result.space->axes()[axis].id)] = axis_column(result, axis);
  const std::vector<Point>& best = result.best;
  using Real = double (*)(const Point&);
  using Whole = int64_t (*)(const Point&);
  out["step_seconds"] = column<double>(best, Real([](const Point& p) { return p.evaluation.step_seconds; }));
  out["tokens_per_second"] = column<double>(
      best, Real([](const Point& p) { return p.evaluation.tokens_per_second; }));
  out["mfu"] = column<double>(best, Real([](const Point& p) { return p.evaluation.mfu; }));
  out["bubble"] = column<double>(best, Real([](const Point& p) { return p.evaluation.bubble; }));
  out["exposed"] = column<double>(best, Real([](const Point& p) { return p.evaluation.exposed; }));
  out["memory"] = column<int64_t>(best, Whole([](const Point& p) { return p.evaluation.memory; }));
  return out;
}

py::dict counts_of(const SearchCounts& counts) {
  return py::dict(py::arg("enumerated") = counts.enumerated, py::arg("excluded") = counts.all_excluded(),
                  py::arg("invalid") = counts.all_invalid(), py::arg("repeated") = counts.repeated,
                  py::arg("too_large") = counts.too_large, py::arg("unknown") = counts.all_unknown(),
                  py::arg("timed") = counts.timed);
}

}  // namespace

py::dict python_search(const Design& base, const py::object& gpus, const std::string& objective, int64_t top,
                       const std::vector<std::string>& constraints, int threads,
                       const py::kwargs& dimensions) {
  SearchOptions options;
  options.result.objective = find_objective(objective);
  if (options.result.objective < 0)
    raise({ProblemCode::UnknownObjective, "objective", "there is no objective \"" + objective + "\"",
           objective_ids()});
  if (top < 1)
    raise({ProblemCode::ValueTooSmall, "top", "the number of designs is below 1", "a whole number from 1"});
  options.result.top = static_cast<size_t>(top);
  options.threads = threads;
  auto space = value_or_raise(Space::make(spec_of(base, gpus, constraints, dimensions)));
  const SearchResult result = interruptible([&](const std::stop_token& stop) {
    return value_or_raise(search(std::move(space), options, {}, stop));
  });
  py::list designs;
  for (const Point& point : result.best) designs.append(result.space->design_at(point.index));
  return py::dict(py::arg("best") = columns_of(result), py::arg("designs") = designs,
                  py::arg("counts") = counts_of(result.counts));
}

}  // namespace shardscape

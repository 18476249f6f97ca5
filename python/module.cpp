// The Python module. Every function that computes releases the interpreter's lock.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "base/version.h"
#include "design/document.h"
#include "design/knobs/knobs.h"
#include "design/starting_design.h"
#include "explore/comparison.h"
#include "interruptible.h"
#include "memory/estimate.h"
#include "model/library.h"
#include "report/band_report.h"
#include "report/inference_report.h"
#include "report/memory_report.h"
#include "report/report_json.h"
#include "report/time_report.h"
#include "searches.h"
#include "timing/step_ops.h"
#include "values.h"

namespace shardscape {

namespace py = pybind11;

namespace {

void set_knobs(Design& design, const py::kwargs& settings) {
  ProblemThrown thrown;
  for (const auto& [name, value] : settings) {
    const auto id = name.cast<std::string>();
    const Knob* knob = find_knob(id);
    if (!knob)
      thrown.problems.emplace_back(ProblemCode::UnknownKnob, id, "no setting has this name",
                                   "a name that shardscape.knobs() lists");
    else if (auto problem = set_knob(design, *knob, setting_text(value)))
      thrown.problems.push_back(std::move(*problem));
  }
  if (!thrown.problems.empty()) throw thrown;
}

Design preset_design(const std::string& model) {
  const Preset* preset = ModelLibrary::instance().preset(model);
  if (!preset)
    raise({ProblemCode::UnknownPreset, "model", "\"" + model + "\" is no preset",
           "an id that shardscape.presets() lists"});
  return single_rank_design(*preset);
}

// As the command line does: the preset on one rank, then the settings, then a batch that fills the pipeline.
Design make_design(const std::optional<std::string>& model, const std::optional<std::string>& file,
                   const py::kwargs& settings) {
  if (model && file)
    raise({ProblemCode::ConflictingFlags, "file", "the design is given twice", "either model or file"});
  Design design = file ? value_or_raise(load_design(*file)) : preset_design(model.value_or(kUsualModel));
  set_knobs(design, settings);
  if (file) return design;
  if (!settings.contains("batch")) design.workload.batch = usual_batch(design);
  design.name = usual_name(ModelLibrary::instance().preset(model.value_or(kUsualModel))->name,
                           design.world());
  return design;
}

std::shared_ptr<const Report> valid_estimate(const Design& design) {
  auto report = estimate(design);
  raise_errors(report->problems);
  return report;
}

// The JSON of `shardscape-cli report --json`.
py::object full_report(const Design& design) {
  const std::string json = [&] {
    const py::gil_scoped_release free;
    const auto report = valid_estimate(design);
    const auto simulation = simulate(*report);
    StepOps ops(report, simulation);
    const std::string whole = estimate_json(*report, {}, fragmentation(*report), &ops);
    return with_bands(with_inference(with_time(whole, *report, *simulation), *report, *simulation), *report,
                      *simulation, design_bands(design));
  }();
  return from_json(json);
}

py::dict settings_of(const Design& design) {
  py::dict out;
  for (const Knob& knob : knobs()) out[py::str(knob.id)] = knob_text(design, knob);
  return out;
}

py::list problems_of(const Design& design) {
  const auto report = [&] {
    const py::gil_scoped_release free;
    return estimate(design);
  }();
  py::list out;
  for (const Problem& problem : report->problems) out.append(to_string(problem));
  return out;
}

py::list all_knobs() {
  py::list out;
  for (const Knob& knob : knobs())
    out.append(py::dict(py::arg("id") = knob.id, py::arg("label") = knob.label,
                        py::arg("group") = std::string(group_label(knob.group)), py::arg("unit") = knob.unit,
                        py::arg("accepted") = accepted_values(knob), py::arg("help") = knob.help));
  return out;
}

py::list all_presets() {
  py::list out;
  for (const Preset& preset : ModelLibrary::instance().presets())
    out.append(py::dict(py::arg("id") = preset.id, py::arg("name") = preset.name,
                        py::arg("source") = preset.source));
  return out;
}

// Figure id -> its values, one per design.
py::dict compare(const std::vector<Design>& designs) {
  const std::vector<ComparedFigure> figures = interruptible([&](const std::stop_token& stop) {
    const auto plans = std::make_shared<PlanCache>();
    std::vector<ComparedDesign> all;
    for (const Design& design : designs) {
      all.push_back(compared(design, plans, stop));
      if (stop.stop_requested()) return std::vector<ComparedFigure>();
      if (!all.back().simulation) raise_errors(all.back().report->problems);
    }
    return compare_figures(all);
  });
  py::dict out;
  for (const ComparedFigure& figure : figures) out[py::str(figure.id)] = figure.values;
  return out;
}

void add_design(py::module_& module) {
  py::class_<Design>(module, "Design", "A model, its parallelism, the work of a step and the machine.")
      .def(py::init(&make_design), py::kw_only(), py::arg("model") = py::none(), py::arg("file") = py::none(),
           "model: a preset (default: llama3-8b). file: a saved design or a report. All other arguments are "
           "settings: tp=8, recompute=\"full\", stage_layers=[9, 8, 8, 7].")
      .def("report", &full_report,
           "Everything of `shardscape-cli report --json` as a dict: memory, FLOPs, collectives, time, bands.")
      .def("settings", &settings_of, "The text of every setting by its id.")
      .def("problems", &problems_of, "What makes the design invalid, and notes, as texts.")
      .def(
          "replace",
          [](const Design& self, const py::kwargs& settings) {
            Design design = self;
            set_knobs(design, settings);
            return design;
          },
          "The design with other settings.")
      .def(
          "save",
          [](const Design& self, const std::string& path) {
            if (const auto problem = save_design(self, path)) raise(*problem);
          },
          py::arg("path"), "Writes the design as JSON, which the window and the command line open.")
      .def_property_readonly("name", [](const Design& self) { return self.name; })
      .def_property_readonly("gpus", &Design::world)
      .def("__eq__", [](const Design& a, const Design& b) { return a == b; })
      .def("__repr__", [](const Design& self) { return "<shardscape.Design " + self.name + ">"; });
}

}  // namespace
}  // namespace shardscape

PYBIND11_MODULE(_shardscape, module) {
  using namespace shardscape;
  module.attr("__version__") = program_version();
  add_problem_error(module);
  add_design(module);
  module.def("knobs", &all_knobs, "All settings: id, label, group, unit, accepted values, help.");
  module.def("presets", &all_presets, "The models of the library: id, name, source.");
  module.def("compare", &compare, py::arg("designs"),
             "Figures of several designs: id -> one value per design.");
  module.def(
      "search", &python_search, py::arg("base"), py::kw_only(), py::arg("gpus") = py::none(),
      py::arg("objective") = "tokens_per_gpu", py::arg("top") = 10,
      py::arg("constraints") = std::vector<std::string>{}, py::arg("threads") = 0,
      "Searches designs around a base. gpus: a number, or a text as \"256,512\". Every other argument is "
      "a setting with a list of values or a text as \"1..8*2\"; without any, the usual settings vary. "
      "Returns {\"best\": columns of NumPy, best first, \"designs\": their Designs, \"counts\"}.");
}

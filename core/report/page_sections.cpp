#include "report/page_sections.h"

#include <algorithm>

#include "base/units.h"

namespace shardscape {
namespace {

std::string signed_percent(double share) { return (share > 0 ? "+" : "") + significant(100 * share) + " %"; }

std::string signed_bytes(int64_t bytes) {
  return bytes == 0 ? "same" : (bytes > 0 ? "+" : "-") + format_bytes(bytes > 0 ? bytes : -bytes);
}

}  // namespace

PageSection formulas_section(const Report& report) {
  const StageReport& s = report.stages[static_cast<size_t>(report.memory ? report.memory->peak_stage : 0)];
  PageSection out{"Formulas of stage " + std::to_string(s.stage) + ", per GPU and step",
                  {},
                  {{"figure", "value", "formula"}},
                  ""};
  const auto add = [&](std::string name, std::string value, const Quantity& of) {
    out.rows.push_back({std::move(name), std::move(value), of.formula->text()});
  };
  add("parameters of the model", grouped(report.model_parameters.value), report.model_parameters);
  add("parameters of the GPU", grouped(s.parameters.value), s.parameters);
  for (int c = 0; c < kMemoryCategoryCount; ++c)
    if (s.memory[c].value != 0)
      add("memory: " + std::string(memory_category_label(static_cast<MemoryCategory>(c))),
          format_bytes(s.memory[c].value), s.memory[c]);
  for (const FlopsValue& f : s.flops)
    add("FLOPs: " + f.name() + " " + std::string(phase_name(f.phase)), format_flops(f.counted.value),
        f.counted);
  for (const CollectiveValue& c : s.collectives)
    add("bytes: " + std::string(phase_name(c.phase)) + " " + std::string(c.op.name()) + " " + c.group,
        format_bytes(c.bytes.value), c.bytes);
  std::string values;
  for (const auto& [symbol, value] : s.binding.items())
    values += (values.empty() ? "" : ", ") + symbol.name() + " = " + grouped(value);
  out.paragraphs.push_back("Values of the symbols: " + values + ".");
  return out;
}

PageSection sensitivity_section(const Sensitivity& sensitivity, size_t most) {
  PageSection out{"Sensitivity: one setting at a time", {}, {}, ""};
  out.rows.push_back({"setting", "now", "other value", "tokens/s", "memory of the fullest GPU"});
  for (const KnobSensitivity& knob : sensitivity.knobs) {
    if (most-- == 0) break;
    for (const Neighbour* n : knob.extremes(2)) {
      const double now = sensitivity.now.tokens_per_second, then = n->evaluation.tokens_per_second;
      out.rows.push_back({knob.knob->label, knob.value, n->value,
                          now > 0 ? signed_percent(then / now - 1) : "",
                          signed_bytes(n->evaluation.memory - sensitivity.now.memory)});
    }
  }
  return out;
}

}  // namespace shardscape

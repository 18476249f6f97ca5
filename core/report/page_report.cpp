#include "report/page_report.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "base/units.h"
#include "campaign/campaign.h"
#include "campaign/running_cost.h"
#include "design/document.h"
#include "design/knobs/command_flags.h"
#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"
#include "design/knobs/machine_table.h"
#include "model/library.h"
#include "performance/calibration.h"
#include "report/band_report.h"
#include "report/campaign_report.h"
#include "report/inference_report.h"
#include "report/page_pictures.h"
#include "report/page_sections.h"
#include "report/time_report.h"

namespace shardscape {
namespace {

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

// The first letter as a capital, and a full stop.
std::string sentence(std::string text) {
  if (text.empty()) return text;
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text.back() == '.' ? text : text + ".";
}

// Without the underscores of JSON: "all-gather" for "all_gather".
std::string spelled(std::string_view name, char blank) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', blank);
  return out;
}

// The value of a knob with separators of thousands.
std::string value_text(const Design& design, const Knob& knob) {
  const std::string text = knob_text(design, knob);
  constexpr size_t kMostDigits = 18;  // of 63 bits; a text of more digits is no number
  const bool digits = !text.empty() && text.size() <= kMostDigits &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? grouped(static_cast<Wide>(std::stoll(text))) : text;
}

std::string verdict_of(const Report& report, const DesignBands& bands) {
  const MemoryTimeline& memory = *report.memory;
  const StageMemory& worst = memory.stages[static_cast<size_t>(memory.peak_stage)];
  const std::string stage = "Stage " + std::to_string(memory.peak_stage);
  if (!report.accelerator) return stage + " needs " + format_bytes(worst.in_use) + " per GPU.";
  const std::string over = over_memory_text(report, bands);
  const char* fits = !memory.fits ? "Does not fit. " : over.empty() ? "Fits. " : "Fits, but may not. ";
  return fits + stage + " needs " + format_bytes(worst.in_use) + " per GPU; one " + report.accelerator->name +
         " has " + format_bytes(memory.capacity) + "." + (over.empty() ? "" : " " + sentence(over));
}

PageSection model_section(const Report& report) {
  const ModelSpec& m = report.design.model;
  PageSection out{"Model", {}, {{"", ""}}, ""};
  const Preset* preset = ModelLibrary::instance().preset(m.preset);
  out.rows.push_back({"Name", preset ? preset->name : report.design.name});
  out.rows.push_back({"Architecture", m.architecture});
  out.rows.push_back({"Parameters", grouped(report.model_parameters.value)});
  if (report.active_parameters.value != report.model_parameters.value)
    out.rows.push_back({"Active parameters per token", grouped(report.active_parameters.value)});
  for (const char* id :
       {"layers", "hidden", "heads", "kv_heads", "ffn", "experts", "experts_per_token", "vocab"})
    if (const Knob* knob = find_knob(id); knob && knob_text(report.design, *knob) != "0")
      out.rows.push_back({knob->label, value_text(report.design, *knob)});
  return out;
}

// Settings that have an effect and differ from the defaults, and the degrees.
PageSection layout_section(const Report& report) {
  static const std::set<std::string> always{"tp",  "pp",    "dp",         "cp",
                                            "seq", "batch", "microbatch", "accelerator"};
  PageSection out{"Layout and job", {}, {{"setting", "symbol", "value"}}, ""};
  out.rows.push_back({"GPUs", "", grouped(report.ranks)});
  const Design usual;
  for (const Knob& knob : knobs()) {
    if (knob.group == KnobGroup::Model || without_effect(report.design, knob)) continue;
    const std::string value = knob_text(report.design, knob);
    if (value.empty() || (!always.count(knob.id) && value == knob_text(usual, knob))) continue;
    out.rows.push_back({knob.label, knob.symbol,
                        value_text(report.design, knob) + (knob.unit.empty() ? "" : " " + knob.unit)});
  }
  return out;
}

PageSection memory_section(const MemoryTimeline& memory) {
  PageSection out{"Peak memory per GPU, by stage", {}, {}, memory_picture(memory)};
  PageRow heading{"stage"};
  std::vector<size_t> used;
  for (size_t c = 0; c < static_cast<size_t>(kAllMemoryCategories); ++c)
    if (std::any_of(memory.stages.begin(), memory.stages.end(),
                    [&](const StageMemory& s) { return s.at_peak[c] != 0; })) {
      used.push_back(c);
      heading.push_back(std::string(memory_category_label(static_cast<MemoryCategory>(c))));
    }
  heading.push_back("In use");
  heading.push_back("Peak at");
  out.rows.push_back(std::move(heading));
  for (const StageMemory& s : memory.stages) {
    PageRow row{std::to_string(s.stage)};
    for (const size_t c : used) row.push_back(format_bytes(s.at_peak[c]));
    row.push_back(format_bytes(s.in_use));
    row.push_back(s.peak_text);
    out.rows.push_back(std::move(row));
  }
  return out;
}

// The lines of bands_text() as sentences.
std::vector<std::string> band_sentences(const Report& report, const Simulation& s, const DesignBands& bands) {
  std::vector<std::string> out;
  std::istringstream lines(bands_text(report, s, bands));
  for (std::string line; std::getline(lines, line);) out.push_back(sentence(line));
  return out;
}

PageSection step_section(const Report& report, const Simulation& s, const DesignBands& bands) {
  constexpr double kShown = 0.0005;  // share of the step
  PageSection out{"Step", {}, {}, step_picture(s)};
  out.paragraphs.push_back(
      format_seconds(s.step_seconds) + " per step of " + grouped(report.tokens_per_step) + " tokens, " +
      grouped(whole_part(s.tokens_per_second)) + " tokens/s. MFU " + format_percent(s.mfu) + ", HFU " +
      format_percent(s.hfu) + " of " + peak_text(s) + ". Bubble " + format_percent(s.bubble) +
      ", exposed communication " + format_percent(s.exposed) + ".");
  for (std::string& line : band_sentences(report, s, bands)) out.paragraphs.push_back(std::move(line));
  const RunningCost cost = running_cost(report.design.cluster, report.ranks, s.tokens_per_second);
  for (const std::string& line :
       {step_distribution_text(s), running_cost_text(cost), inference_text(report, s)})
    if (!trimmed(line).empty()) out.paragraphs.push_back(sentence(trimmed(line)));
  if (trains(report.design) && report.design.workload.tokens > 0)
    out.paragraphs.push_back(campaign_sentence(campaign(report, s)));
  std::vector<size_t> used;
  PageRow heading{"stage"};
  for (size_t c = 0; c < static_cast<size_t>(kTimeCategoryCount); ++c)
    if (std::any_of(s.stages.begin(), s.stages.end(),
                    [&](const auto& stage) { return stage.seconds[c] > kShown * s.step_seconds; })) {
      used.push_back(c);
      heading.push_back(std::string(time_category_label(static_cast<TimeCategory>(c))));
    }
  out.rows.push_back(std::move(heading));
  for (size_t i = 0; i < s.stages.size(); ++i) {
    PageRow row{std::to_string(i)};
    for (const size_t c : used)
      row.push_back(format_percent(s.step_seconds > 0 ? s.stages[i].seconds[c] / s.step_seconds : 0));
    out.rows.push_back(std::move(row));
  }
  return out;
}

PageSection collectives_section(const Report& report, const Simulation& s) {
  const StageReport& stage = report.stages[static_cast<size_t>(report.memory->peak_stage)];
  PageSection out{"Collectives of stage " + std::to_string(stage.stage) + ", per GPU and step", {}, {}, ""};
  if (stage.collectives.empty()) {
    out.paragraphs.push_back("None.");
    return out;
  }
  out.rows.push_back({"phase", "collective", "group", "GPUs", "level", "calls", "bytes", "time", "exposed"});
  for (size_t i = 0; i < stage.collectives.size(); ++i) {
    const CollectiveValue& c = stage.collectives[i];
    const CollectiveTime& time = s.stages[static_cast<size_t>(stage.stage)].collectives[i];
    out.rows.push_back({spelled(phase_name(c.phase), ' '), spelled(c.op.name(), '-'), c.group,
                        grouped(c.group_size),
                        std::string(network_level_label(time.level, s.machine.network)),
                        grouped(c.count.value), format_bytes(c.bytes.value), format_seconds(time.seconds),
                        format_percent(time.seconds > 0 ? time.exposed / time.seconds : 0)});
  }
  return out;
}

PageSection assumptions_section(const Report& report, const Simulation& s) {
  PageSection out{"Assumptions", {mfu_convention()}, {}, ""};
  if (const std::string why = above_peak_text(s); !why.empty()) out.paragraphs.push_back(sentence(why));
  out.paragraphs.push_back("Matrix products: " + matmul_basis(*s.machine.accelerator, s.product_type) + ".");
  out.paragraphs.push_back("Attention: " + attention_basis(*s.machine.accelerator, AttentionPass::Forward) +
                           ".");
  for (const Problem& problem : report.problems) out.paragraphs.push_back(sentence(to_string(problem)));
  return out;
}

PageSection sources_section(const Report& report) {
  PageSection out{"Sources", {}, {{"value", "", "source"}}, ""};
  if (const Preset* preset = ModelLibrary::instance().preset(report.design.model.preset))
    out.rows.push_back({"Model", preset->name, preset->source});
  for (const MachineSection& section : machine_table(report.design))
    for (const MachineValue& value : section.values)
      out.rows.push_back(
          {value.label, value.value + (value.unit.empty() ? "" : " " + value.unit), value.source});
  return out;
}

}  // namespace

PageReport page_report(const Report& report, const Simulation& simulation, const Sensitivity* sensitivity) {
  constexpr size_t kSettings = 12;
  const DesignBands bands = design_bands(report.design);
  PageReport page{report.design.name,          verdict_of(report, bands), report.memory->fits, {},
                  command_line(report.design), to_json(report.design)};
  page.sections = {step_section(report, simulation, bands), memory_section(*report.memory),
                   model_section(report), layout_section(report), collectives_section(report, simulation)};
  if (sensitivity) page.sections.push_back(sensitivity_section(*sensitivity, kSettings));
  page.sections.push_back(formulas_section(report));
  page.sections.push_back(assumptions_section(report, simulation));
  page.sections.push_back(sources_section(report));
  return page;
}

}  // namespace shardscape

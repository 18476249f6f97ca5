// Verification cards of Megatron-Bridge, and sweeps of one setting in its documents and pull requests. Both
// are read into rows with the fields of Megatron-Bridge's tables (map_megatron_bridge).
#include <algorithm>
#include <regex>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "validation/measured_mapping.h"

namespace shardscape {
namespace {

constexpr const char* kRelease = "26.08";  // of the recipes that the cards and sweeps are closest to

// The last match of the pattern's first group as a number; empty if there is none.
std::optional<int64_t> last_number(const std::string& text, const std::string& pattern) {
  std::optional<int64_t> out;
  // The other matcher of the standard library recurses once per character.
  const std::regex regex(pattern, std::regex::ECMAScript | std::regex_constants::__polynomial);
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it)
    out = std::stoll((*it)[1].str().substr(0, 9));
  return out;
}

// A number that the card's summary prints ("TP1/PP4/CP1/EP32", "GBS/MBS 8192/2"), or else that the text of
// the recipe assigns.
struct CardNumber {
  const char* field;  // of the row of Megatron-Bridge
  const char* summary;
  const char* recipe;
};
constexpr CardNumber kCardNumbers[]{
    {"tp", R"(\bTP(\d+))", R"(\btensor_model_parallel_size = (\d+))"},
    {"pp", R"(\bPP(\d+))", R"(\bpipeline_model_parallel_size = (\d+))"},
    {"cp", R"(\bCP(\d+))", R"(\bcontext_parallel_size = (\d+))"},
    {"ep", R"(\bEP(\d+))", R"(\bexpert_model_parallel_size = (\d+))"},
    {"vp", R"(\bVPP(\d+))", R"(\bvirtual_pipeline_model_parallel_size = (\d+))"},
    {"gbs", R"(GBS/MBS (\d+)/)", R"(\bglobal_batch_size = (\d+))"},
    {"mbs", R"(GBS/MBS \d+/(\d+))", R"(\bmicro_batch_size = (\d+))"},
    {"seq", R"(sequence length (\d+))", R"(\bseq_length = (\d+))"},
};

std::string upper_precision(const std::string& precision) {
  return precision == "bf16"     ? "BF16"
         : precision == "fp8_mx" ? "MXFP8"
         : precision == "fp8_cs" ? "FP8"
                                 : precision;
}

// Why a card is no run of pre-training whose layout is known; empty if it is.
std::string card_why_not(RowMapper& m) {
  const std::string mode = m.text("mode");
  if (mode == "sft" || mode == "lora")
    return "the card is fine-tuning (" + mode + ") with packed sequences of a data set";
  if (mode != "pretrain") return "the recipe trains a model with images: " + m.text("recipe");
  return "";
}

void append_bridge_row(const MeasuredJson& row, const std::string& name, MeasuredSet& out) {
  MeasuredJson one = MeasuredJson::object();
  one["rows"] = MeasuredJson::array({row});
  map_megatron_bridge(one, out);
  out.rows.back().name = out.rows.back().design.name = name;
}

void refuse_row(const std::string& name, const std::string& why, MeasuredSet& out) {
  RowMapper m(MeasuredJson::object(), name);
  m.refuse(why);
  m.out().no_seconds = m.out().no_bytes = why;
  out.rows.push_back(m.finish());
}

// "tp1 pp4 ep16", "mbs 1": the number after the word.
std::optional<int64_t> word_number(const std::string& text, const std::string& word) {
  return last_number(text, "(?:^|[^a-z])" + word + R"( ?(\d+))");
}

void set_or_unmap(MeasuredRow& row, const char* knob, const std::string& text) {
  if (!row.unmapped.empty()) return;
  const Knob* found = find_knob(knob);
  if (!found)
    row.unmapped = std::string("there is no setting ") + knob;
  else if (const auto problem = set_knob(row.design, *found, text))
    row.unmapped = to_string(*problem);
}

// The setting that a row of the sweep changes: the text in its first column.
void apply_case(MeasuredRow& row, const std::string& column, const std::string& text,
                const std::string& cfg) {
  const bool overlap = text.starts_with("EP overlap") || text.starts_with("overlap on") ||
                       (text.find("overlap") == std::string::npos &&
                        cfg.find("EP overlap on") != std::string::npos);
  if (row.design.model.experts > 0) {
    set_or_unmap(row, "dispatcher", cfg.find("HybridEP") != std::string::npos ? "flex" : "alltoall");
    set_or_unmap(row, "ep_comm_overlap", overlap ? "true" : "false");
  }
  if (cfg.find("moe_router+moe_preprocess") != std::string::npos) set_or_unmap(row, "cuda_graphs", "router");
  if (cfg.find("CUDA graphs off") != std::string::npos) set_or_unmap(row, "cuda_graphs", "none");
  if (column.starts_with("recompute") && text != "none" && !text.starts_with("[]")) {
    set_or_unmap(row, "recompute", "selective");
    set_or_unmap(row, "recompute_modules", text.substr(0, text.find(" (OOM")));
  }
  if (row.unmapped.empty())
    for (const Problem& problem : validate(row.design))
      if (problem.severity == Severity::Error && row.unmapped.empty())
        row.unmapped = "the row gives no valid design: " + to_string(problem);
}

// The figure in the column whose head starts or ends with the text; empty without one.
std::optional<double> figure(const MeasuredJson& columns, const MeasuredJson& row, const std::string& head) {
  for (size_t c = 0; c < columns.size() && c < row.size(); ++c) {
    const std::string name = columns[c].is_string() ? columns[c].get<std::string>() : "";
    if (name.find(head) != std::string::npos && row[c].is_number() && row[c].get<double>() > 0)
      return row[c].get<double>();
  }
  return std::nullopt;
}

std::string member_text(const MeasuredJson& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::string sweep_why_not(const std::string& model, const std::string& label, const MeasuredJson& columns,
                          const MeasuredJson& row) {
  if (model.empty()) return "the sweep names no model";
  if (preset_named(model).empty()) return "no preset has the architecture of " + model;
  if (label.find("delay wgrad") != std::string::npos)
    return "weight gradients of experts that run during an exchange have no setting";
  if (!figure(columns, row, "step") && !figure(columns, row, "peak GB"))
    return "the row has neither a step time nor a peak of memory";
  return "";
}

// Sweeps without a sequence length, batch or expert parallelism take those of the other sweeps of the model:
// 4,096 tokens, 1,024 sequences, experts over all GPUs.
void map_sweep(const MeasuredJson& sweep, MeasuredSet& out) {
  const std::string id = member_text(sweep, "id"), cfg = member_text(sweep, "cfg"),
                    hw = member_text(sweep, "hw"), model = member_text(sweep, "model");
  const MeasuredJson none = MeasuredJson::array();
  const MeasuredJson& columns = sweep.contains("columns") ? sweep["columns"] : none;
  for (const MeasuredJson& row : sweep.value("rows", none)) {
    const std::string label = row.is_array() && !row.empty() && row[0].is_string() ? row[0].get<std::string>()
                                                                                   : "",
                      name = id + ": " + label;
    const std::string of = model.substr(0, std::min(model.find(" SFT"), model.find(" (")));
    if (const std::string why = sweep_why_not(of, label, columns, row); !why.empty()) {
      refuse_row(name, why, out);
      continue;
    }
    const auto number = [&](const char* word, int64_t otherwise) {
      if (const auto of_row = word_number(label, word)) return *of_row;
      return word_number(cfg, word).value_or(otherwise);
    };
    MeasuredJson one = {{"model", of},
                        {"precision", cfg.find("FP8") != std::string::npos ? "FP8" : "BF16"},
                        {"release", kRelease}};
    one["system"] = "DGX-" + hw.substr(hw.find(' ') + 1, 4);
    one["gpus"] = last_number(hw, R"(^(\d+))").value_or(0);
    for (const char* axis : {"tp", "pp", "cp"}) one[axis] = number(axis, 1);
    const bool mixture = cfg.find("alltoall") != std::string::npos ||
                         cfg.find("HybridEP") != std::string::npos;
    one["ep"] = number("ep", mixture ? one["gpus"].get<int64_t>() : 1);
    one["vp"] = number("vpp", 1);
    one["mbs"] = number("mbs", 1);
    one["gbs"] = number("gbs", 1024);
    one["seq"] = number("seq", 4096);
    append_bridge_row(one, name, out);
    MeasuredRow& mapped = out.rows.back();
    apply_case(mapped, columns.empty() || !columns[0].is_string() ? "" : columns[0].get<std::string>(), label,
               cfg);
    // The memory of a run that failed is what it had until then, not what it needs.
    mapped.ran = label.find("OOM") == std::string::npos;
    mapped.no_seconds = "the row has no step time";
    if (!*mapped.ran) {
      mapped.no_seconds = mapped.no_bytes = "the run was out of memory";
      continue;
    }
    if (const auto seconds = figure(columns, row, "step s")) mapped.seconds = *seconds;
    if (const auto ms = figure(columns, row, "step ms")) mapped.seconds = *ms * 1e-3;
    if (const auto peak = figure(columns, row, "peak GB")) mapped.bytes = *peak * 1e9;
  }
}

}  // namespace

void map_bridge_cards(const MeasuredJson& set, MeasuredSet& out) {
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, "");
    const std::string name = m.text("card") + " " + m.text("item"), summary = m.text("expected_result"),
                      recipe = m.text("recipe_text");
    if (const std::string why = card_why_not(m); !why.empty()) {
      refuse_row(name, why, out);
      continue;
    }
    MeasuredJson one = {{"model", m.text("card")}, {"release", kRelease}, {"gpus", m.integer("gpus", 1)}};
    one["system"] = "DGX-" + m.text("hardware");
    one["precision"] = upper_precision(m.text("precision"));
    for (const CardNumber& number : kCardNumbers)
      if (const auto value = last_number(summary, number.summary))
        one[number.field] = *value;
      else if (const auto assigned = last_number(recipe, number.recipe))
        one[number.field] = *assigned;
    if (m.has("overrides") && row["overrides"].is_array())
      for (const MeasuredJson& argument : row["overrides"])
        if (const auto seq = argument.is_string()
                                 ? last_number(argument.get<std::string>(), "^--seq_length (\\d+)$")
                                 : std::nullopt)
          one["seq"] = *seq;
    if (!one.contains("gbs") || !one.contains("mbs") || !one.contains("seq")) {
      refuse_row(name, "neither the summary nor the recipe prints the batch and the sequence length", out);
      continue;
    }
    append_bridge_row(one, name, out);
    MeasuredRow& mapped = out.rows.back();
    static const MeasuredJson none = MeasuredJson::object();
    const MeasuredJson& metrics = m.has("metrics") && row["metrics"].is_object() ? row["metrics"] : none;
    const RowMapper figures(metrics, "");
    mapped.seconds = figures.measured("last_10_steps_step_time_ms_avg", 1e-3, mapped.no_seconds);
    mapped.bytes = figures.measured("peak_allocated_memory_gib", kGiB, mapped.no_bytes);
  }
}

void map_megatron_sweeps(const MeasuredJson& set, MeasuredSet& out) {
  for (const MeasuredJson& sweep : set["sweeps"])
    if (sweep.is_object()) map_sweep(sweep, out);
}

}  // namespace shardscape

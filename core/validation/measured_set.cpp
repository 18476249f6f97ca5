#include "validation/measured_set.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "base/data_dir.h"
#include "base/json_text.h"
#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "model/library.h"
#include "validation/measured_mapping.h"
#include "validation/row_text.h"

namespace shardscape {
namespace {

struct Format {
  const char* rows;                 // key of the list of rows, or of the list of names of their columns
  std::vector<const char*> fields;  // fields of a row that identify the format
  void (*map)(const MeasuredJson&, MeasuredSet&);
};

const std::vector<Format>& formats() {
  static const std::vector<Format> list{
      {"rows", {"case", "measured_ms", "measured_alloc_GiB"}, map_megatron_profiled},
      {"rows", {"test", "mem_max_allocated_bytes", "args"}, map_megatron_golden},
      {"rows", {"fsdp", "lbs", "ac", "mode"}, map_torchtitan},
      {"rows", {"hidden", "heads", "mbs", "measured_ms"}, map_megatron_deepspeed},
      {"rows", {"sharding", "act_ckpt", "derived_iteration_s"}, map_composer_fsdp},
      {"rows", {"system", "precision", "derived_iteration_s"}, map_megatron_bridge},
      {"rows", {"framework", "printed_model_flops_per_sequence", "step_seconds"}, map_dgx_cloud},
      {"rows", {"set", "machine", "step_seconds_est", "grad_accum_derived"}, map_nvidia_releases},
      {"rows", {"card", "item", "recipe_text"}, map_bridge_cards},
      {"sweeps", {"id", "columns", "rows"}, map_megatron_sweeps},
      {"rows", {"model_b", "zero_stage", "mfu_pct"}, map_nanotron},
      {"rows", {"model_size", "zero_stage", "oom", "step_seconds"}, map_bigscience},
      {"rows", {"zero_group", "grad_accum", "step_seconds_est"}, map_internevo},
      {"rows", {"batch_per_dp", "tokens_per_batch"}, map_llama3},
      {"rows", {"benchmark", "round", "micro_batches", "step_seconds"}, map_mlperf_training},
      {"rows", {"table", "method", "micro_batch"}, map_finetune},
      {"rows", {"dataset", "lora_rank", "samples_per_s"}, map_gaudi},
      {"rows", {"neuron_cores", "check_topology", "sequences_per_s"}, map_trainium},
      {"rows", {"npus", "tokens_per_s_per_npu"}, map_ascend},
      {"rows", {"source_path", "schedule", "tokens_per_s_per_gpu"}, map_primus},
      {"rows", {"device_type", "slices", "tflops_per_gpu"}, map_maxtext},
      {"table3_5", {"iter_full_recompute_s"}, map_korthikanti},
      {"measured_step", {"time_per_step_s"}, map_deepseek_v3},
      {"rows", {"attention_dp", "moe_tp", "moe_ep", "tpot_mean_ms"}, map_aiconfigurator},
      {"rows", {"disaggregated", "decode", "output_tokens_per_s_per_gpu"}, map_inferencex},
      {"rows", {"parallel", "request_rate", "osl", "tpot_ms"}, map_inferencex_slo},
      {"rows", {"experiment", "stage", "chunk_gap_ms_reported"}, map_blis_stages},
      {"rows", {"engine_kwargs", "request_columns", "requests"}, map_recorded_requests},
      {"rows", {"memory_fraction", "kv_tokens"}, map_kv_capacity},
      {"rows", {"concurrency", "num_speculative_tokens", "budget_requests_per_slot"}, map_closed_loops},
      {"rows", {"scenario", "target_qps", "performance_sample_count"}, map_mlperf},
      {"rows", {"command", "sub_label", "max_concurrency", "output_throughput"}, map_gpustack},
      {"rows", {"prefill_ms", "decode_step_ms"}, map_splitwise},
      {"table1", {"params_b", "heads", "pct_peak"}, map_narayanan},
      {"measured_table4", {"samples_per_gpu_s", "schedule"}, map_zero_bubble},
      {"peak_memory", {"parallel", "measured_GB"}, map_stage_paper},
      {"rows", {"source_path", "fsdp", "tokens_per_s_per_gpu"}, map_fsdp_posts},
      {"columns", {"system", "op", "num_gpus", "latency_us"}, map_nccl},
      {"rows", {"phase", "batch_per_gpu", "tok_s_per_gpu", "mtp"}, map_wide_experts},
  };
  return list;
}

}  // namespace

namespace {

const MeasuredJson& object_or_empty(const MeasuredJson& row) {
  static const MeasuredJson empty = MeasuredJson::object();
  return row.is_object() ? row : empty;
}

// The JSON of a value, shortened to fit a line.
std::string shown(const MeasuredJson& value) {
  constexpr size_t kMost = 40;
  return cut_text(value.dump(-1, ' ', false, MeasuredJson::error_handler_t::replace), kMost);
}

// An integer, also in the form 8.0.
std::optional<int64_t> whole(const MeasuredJson& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
    return std::nullopt;
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  return std::trunc(number) == number && std::abs(number) < 9e15 ? std::optional(static_cast<int64_t>(number))
                                                                 : std::nullopt;
}

}  // namespace

std::string row_number(size_t number) { return "row " + std::to_string(number); }

RowMapper::RowMapper(const MeasuredJson& row, std::string name) : row_(object_or_empty(row)) {
  out_.name = std::move(name);
  out_.design.name = out_.name;
  if (!row.is_object()) refuse("the row is " + shown(row) + ", not an object");
}

bool RowMapper::preset(const std::string& id) {
  if (!id.empty() && apply_preset(out_.design, id)) return true;
  refuse("no preset has this architecture");
  return false;
}

void RowMapper::set(const char* knob, const std::string& text) {
  if (refused()) return;
  const Knob* found = find_knob(knob);
  if (!found) return refuse(std::string("there is no setting ") + knob);
  if (const auto problem = set_knob(out_.design, *found, text)) refuse(to_string(*problem));
}

void RowMapper::set_product(const char* knob, std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (const int64_t factor : factors)
    if (__builtin_mul_overflow(product, factor, &product))
      return refuse(std::string(knob) + " would be too large");
  set(knob, product);
}

void RowMapper::set_gpt_layers(int64_t hidden, int64_t heads) {
  set("hidden", hidden);
  set("heads", heads);
  set("kv_heads", heads);
  set("head_dim", hidden / std::max<int64_t>(heads, 1));
  set_product("ffn", {4, hidden});
}

void RowMapper::set_from(const char* knob, const char* field) {
  if (!has(field)) return;
  if (const auto value = whole(row_[field]))
    set(knob, *value);
  else
    mistyped(field, "a whole number");
}

bool RowMapper::has(const char* field) const {
  const auto it = row_.find(field);
  return it != row_.end() && !it->is_null();
}

void RowMapper::mistyped(const char* field, const char* wanted) {
  refuse(std::string(field) + " is " + shown(row_[field]) + ", not " + wanted);
}

int64_t RowMapper::integer(const char* field, int64_t otherwise) {
  if (!has(field)) return otherwise;
  const auto value = whole(row_[field]);
  if (value && *value >= -kMostOfRow && *value <= kMostOfRow) return *value;
  mistyped(field, value ? "at most 2,147,483,647" : "a whole number");
  return otherwise;
}

std::string RowMapper::text(const char* field, const std::string& otherwise) {
  if (!has(field)) return otherwise;
  if (row_[field].is_string()) return row_[field].get<std::string>();
  mistyped(field, "a string");
  return otherwise;
}

bool RowMapper::flag(const char* field, bool otherwise) {
  if (!has(field)) return otherwise;
  if (row_[field].is_boolean()) return row_[field].get<bool>();
  mistyped(field, "true or false");
  return otherwise;
}

std::optional<double> RowMapper::measured(const char* field, double unit, std::string& why_not) const {
  const auto it = row_.find(field);
  if (it == row_.end()) {
    why_not = std::string("the row has no ") + field;
  } else if (!it->is_number()) {
    why_not = std::string(field) + " is " + shown(*it) + ", not a number";
  } else if (const double value = it->get<double>() * unit; value > 0 && std::isfinite(value)) {
    return value;
  } else {
    why_not = std::string(field) + " is " + shown(*it) + ", not more than 0";
  }
  return std::nullopt;
}

void RowMapper::refuse(const std::string& why) {
  if (!refused()) out_.unmapped = why;
}

MeasuredRow RowMapper::finish() {
  if (!refused())
    for (const Problem& problem : validate(out_.design))
      if (problem.severity == Severity::Error) refuse("the row gives no valid design: " + to_string(problem));
  return std::move(out_);
}

void set_transposed_weights(RowMapper& m, const std::string& accelerator) {
  for (const char* blackwell : {"b200", "b300"})  // and gb200, gb300
    if (accelerator.find(blackwell) != std::string::npos) m.set("transposed_weights", "false");
}

// The text "source" of a set, or its parts if it is a list; otherwise the text "note".
static std::string source_text(const MeasuredJson& set) {
  for (const char* key : {"source", "note"}) {
    const auto it = set.find(key);
    if (it == set.end()) continue;
    if (it->is_string()) return it->get<std::string>();
    std::string text;
    if (it->is_array())
      for (const MeasuredJson& part : *it)
        if (part.is_string()) text += (text.empty() ? "" : "; ") + part.get<std::string>();
    if (!text.empty()) return text;
  }
  return {};
}

Result<MeasuredSet> read_measured_set(const std::string& path) {
  const auto fail = [&](ProblemCode code, const std::string& what, const std::string& accepted) {
    return Problem{code, path, what, accepted};
  };
  const auto text = read_text(path);
  if (const auto* problem = std::get_if<Problem>(&text)) return *problem;
  MeasuredJson set;
  if (auto problem = read_json(std::get<std::string>(text), path, set)) return std::move(*problem);
  if (!set.is_object())
    return fail(ProblemCode::JsonNotAnObject, "the file is not a JSON object", "an object with \"rows\"");
  MeasuredSet out;
  out.name = std::filesystem::path(path).stem().string();
  out.folder = std::filesystem::path(path).parent_path().string();
  out.source = source_text(set);
  for (const Format& format : formats()) {
    const auto rows = set.find(format.rows);
    if (rows == set.end() || !rows->is_array()) continue;
    const auto has = [&](const char* field) {
      return std::any_of(rows->begin(), rows->end(),
                         [&](const MeasuredJson& row) { return row == field || row.contains(field); });
    };
    if (!std::all_of(format.fields.begin(), format.fields.end(), has)) continue;
    try {
      format.map(set, out);
    } catch (const MeasuredJson::exception& error) {
      return fail(ProblemCode::JsonValueUnreadable, "a value cannot be read: " + json_reason(error),
                  "values of the types of a known format");
    }
    return out;
  }
  std::string known;
  for (const Format& format : formats()) {
    known += (known.empty() ? "\"" : "; \"") + std::string(format.rows) + "\" with";
    for (const char* field : format.fields) known += std::string(" ") + field;
  }
  return fail(ProblemCode::WrongKindOfFile, "the fields of the rows match no known format of measured runs",
              known);
}

}  // namespace shardscape

#include "audit/measured_set.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "audit/measured_mapping.h"
#include "design/knobs.h"
#include "design/validate.h"
#include "model/library.h"

namespace shardscape {
namespace {

// Letters and digits, in lower case.
std::string plain(const std::string& name) {
  std::string out;
  for (char c : name)
    if (std::isalnum(static_cast<unsigned char>(c))) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

struct Format {
  const char* rows;                      // the list that a set of this format has
  std::vector<const char*> fields;       // of its rows
  void (*map)(const MeasuredJson&, MeasuredSet&);
};

const std::vector<Format>& formats() {
  static const std::vector<Format> list{
      {"rows", {"case", "measured_ms", "measured_alloc_GiB"}, map_megatron_profiled},
      {"rows", {"fsdp", "lbs", "ac", "mode"}, map_torchtitan},
      {"rows", {"hidden", "heads", "mbs", "measured_ms"}, map_megatron_deepspeed},
      {"rows", {"sharding", "act_ckpt", "derived_iteration_s"}, map_composer_fsdp},
      {"rows", {"system", "precision", "derived_iteration_s"}, map_megatron_bridge},
      {"rows", {"batch_per_dp", "tokens_per_batch"}, map_llama3},
      {"table3_5", {"iter_full_recompute_s"}, map_korthikanti},
      {"measured_step", {"time_per_step_s"}, map_deepseek_v3},
  };
  return list;
}

}  // namespace

RowMapper::RowMapper(const MeasuredJson& row, std::string name) : row_(row) {
  out_.name = std::move(name);
  out_.design.name = out_.name;
}

bool RowMapper::preset(const std::string& id) {
  if (!id.empty() && apply_preset(out_.design, id)) return true;
  refuse("no preset has this architecture");
  return false;
}

void RowMapper::set(const char* knob, const std::string& text) {
  if (refused()) return;
  const Knob* of = find_knob(knob);
  if (!of) return refuse(std::string("there is no knob ") + knob);
  if (const auto problem = set_knob(out_.design, *of, text)) refuse(to_string(*problem));
}

void RowMapper::set_from(const char* knob, const char* field) {
  if (const auto it = row_.find(field); it != row_.end() && it->is_number_integer()) set(knob, it->get<int64_t>());
}

int64_t RowMapper::integer(const char* field, int64_t otherwise) const {
  const auto it = row_.find(field);
  return it != row_.end() && it->is_number_integer() ? it->get<int64_t>() : otherwise;
}

std::optional<double> RowMapper::number(const char* field) const {
  const auto it = row_.find(field);
  return it != row_.end() && it->is_number() ? std::optional(it->get<double>()) : std::nullopt;
}

std::string RowMapper::text(const char* field, const std::string& otherwise) const {
  const auto it = row_.find(field);
  return it != row_.end() && it->is_string() ? it->get<std::string>() : otherwise;
}

void RowMapper::refuse(const std::string& why) {
  if (!refused()) out_.unmapped = why;
}

MeasuredRow RowMapper::finish() {
  if (!refused())
    for (const Problem& problem : validate(out_.design))
      if (problem.severity == Severity::Error) refuse("no valid design: " + to_string(problem));
  return std::move(out_);
}

std::string preset_named(const std::string& name) {
  // Names under which models go elsewhere.
  const std::string known = plain(name);
  for (const auto& [alias, id] : {std::pair{"llama3405b", "llama3.1-405b"}, {"llama318b", "llama3-8b"}, {"llama3170b", "llama3-70b"},
                                  {"deepseekv2lite", "deepseek-v2-lite"}, {"22b", "megatron-22b"}, {"175b", "gpt3-175b-megatron"},
                                  {"530b", "mt-nlg-530b"}, {"1t", "megatron-1t"}})
    if (known == alias) return id;
  for (const Preset& preset : ModelLibrary::instance().presets())
    if (plain(preset.id) == known) return preset.id;
  return {};
}

std::variant<MeasuredSet, Problem> read_measured_set(const std::string& path) {
  const auto fail = [&](const std::string& what, const std::string& accepted) { return Problem{Severity::Error, path, what, accepted, {}}; };
  std::ifstream file(path);
  if (!file) return fail("the file cannot be read", "a JSON file of measured runs");
  const MeasuredJson set = MeasuredJson::parse(file, nullptr, false);
  if (set.is_discarded() || !set.is_object()) return fail("the file is not a JSON object", "an object with \"rows\"");
  MeasuredSet out;
  out.name = std::filesystem::path(path).stem().string();
  for (const char* key : {"source", "note"})
    if (const auto it = set.find(key); out.source.empty() && it != set.end() && it->is_string()) out.source = it->get<std::string>();
  for (const Format& format : formats()) {
    const auto rows = set.find(format.rows);
    if (rows == set.end() || !rows->is_array() || rows->empty() || !rows->front().is_object()) continue;
    const auto has = [&](const char* field) {
      return std::any_of(rows->begin(), rows->end(), [&](const MeasuredJson& row) { return row.contains(field); });
    };
    if (!std::all_of(format.fields.begin(), format.fields.end(), has)) continue;
    format.map(set, out);
    return out;
  }
  std::string known;
  for (const Format& format : formats()) {
    known += (known.empty() ? "\"" : "; \"") + std::string(format.rows) + "\" with";
    for (const char* field : format.fields) known += std::string(" ") + field;
  }
  return fail("its rows have the fields of no known set of measured runs", known);
}

}  // namespace shardscape

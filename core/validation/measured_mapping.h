// From the fields of a measured row to a design. Private to core/audit: it shows the JSON library.
#pragma once

#include <initializer_list>
#include <optional>

#include "symbolic/json_value.h"
#include "validation/measured_set.h"

namespace shardscape {

using MeasuredJson = nlohmann::json;

// Sets knobs one by one; the first that the design does not take is why the row is not mapped, and so is the
// first field of another type than its place has. A field that is missing or null is not there.
class RowMapper {
 public:
  RowMapper(const MeasuredJson& row, std::string name);  // a row that is no object is refused
  bool preset(const std::string& id);                    // false: there is none
  void set(const char* knob, const std::string& text);
  void set(const char* knob, int64_t value) { set(knob, std::to_string(value)); }
  void set_product(const char* knob, std::initializer_list<int64_t> factors);
  // The row's number, where it has one.
  void set_from(const char* knob, const char* field);
  int64_t integer(const char* field, int64_t otherwise);
  std::string text(const char* field, const std::string& otherwise = "");
  bool flag(const char* field, bool otherwise);
  // What was measured, in units of so many seconds or bytes; only what is more than nothing is taken.
  void seconds_from(const char* field, double unit = 1) {
    out_.seconds = measured(field, unit, out_.no_seconds);
  }
  void bytes_from(const char* field, double unit) { out_.bytes = measured(field, unit, out_.no_bytes); }
  std::optional<double> measured(const char* field, double unit, std::string& why_not) const;
  bool has(const char* field) const;
  void refuse(const std::string& why);  // the first reason stands
  bool refused() const { return !out_.unmapped.empty(); }
  const MeasuredJson& row() const { return row_; }
  MeasuredRow& out() { return out_; }
  // Checks the design as a whole.
  MeasuredRow finish();

 private:
  void mistyped(const char* field, const char* wanted);
  const MeasuredJson& row_;
  MeasuredRow out_;
};

// The preset whose id is this name but for case and punctuation: "Qwen3_30B_a3B". Empty where there is none.
std::string preset_named(const std::string& name);

// "row 3": of one that has no name of its own.
std::string row_number(size_t number);

// One function per format; each appends its rows.
void map_megatron_profiled(const MeasuredJson& set,
                           MeasuredSet& out);  // Megatron-core on one node: SimuMax's releases
void map_torchtitan(const MeasuredJson& set, MeasuredSet& out);
void map_megatron_deepspeed(const MeasuredJson& set, MeasuredSet& out);  // vTrain's runs
void map_korthikanti(const MeasuredJson& set, MeasuredSet& out);
void map_composer_fsdp(const MeasuredJson& set, MeasuredSet& out);  // llm-foundry's tables
void map_megatron_bridge(const MeasuredJson& set, MeasuredSet& out);
void map_llama3(const MeasuredJson& set, MeasuredSet& out);
void map_deepseek_v3(const MeasuredJson& set, MeasuredSet& out);

}  // namespace shardscape

#include "report/report_json.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/units.h"
#include "design/document.h"
#include "plan/report.h"
#include "report/text_columns.h"
#include "symbolic/json_value.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

Json quantity(const Quantity& q) { return json_quantity(q.value, *q.formula); }

Json problem_json(const Problem& p) {
  Json fixes = Json::array();
  for (const Fix& fix : p.fixes) {
    Json settings = Json::object();
    for (const auto& [knob, text] : fix.settings) settings[knob] = text;
    fixes.push_back({{"label", fix.label}, {"settings", settings}});
  }
  return {{"code", code_text(p.code)}, {"severity", p.severity == Severity::Error ? "error" : "note"},
          {"where", p.where},          {"what", p.what},
          {"accepted", p.accepted},    {"fixes", fixes}};
}

Json derived_json(const std::vector<DerivedSymbol>& symbols, const Binding& binding) {
  Json out = Json::array();
  for (const DerivedSymbol& d : symbols)
    out.push_back({{"symbol", d.symbol.name()},
                   {"definition", d.definition()},
                   {"value", binding.get(d.symbol).value_or(0)}});
  return out;
}

Json stage_json(const Report& r, const StageReport& s) {
  Json out;
  out["stage"] = s.stage;
  out["layers"] = s.layers;
  out["ranks"] = r.ranks / static_cast<int64_t>(r.stages.size());
  Json chunks = Json::array();
  for (const StageChunk& chunk : s.chunks)
    chunks.push_back({{"first_layer", chunk.first_layer}, {"layers", chunk.layers}});
  out["chunks"] = chunks;
  out["microbatches_in_flight"] = s.in_flight;
  out["parameters"] = quantity(s.parameters);
  Json memory = Json::object();
  for (int c = 0; c < kMemoryCategoryCount; ++c) {
    Json entry = quantity(s.memory[c]);
    Json parts = Json::array();
    for (const PartValue& part : s.parts[c]) {
      Json p = quantity(part.bytes);
      p["name"] = part.name;
      parts.push_back(p);
    }
    entry["parts"] = parts;
    memory[std::string(memory_category_name(static_cast<MemoryCategory>(c)))] = entry;
  }
  out["memory"] = memory;
  out["memory_total"] = json_number(s.memory_total);
  Json flops = Json::object();
  for (const FlopsValue& f : s.flops) {
    Json entry = quantity(f.counted);
    entry["useful"] = quantity(f.useful);
    flops[f.name()][std::string(phase_name(f.phase))] = entry;
  }
  out["flops"] = flops;
  out["flops_total"] = json_number(s.flops_total);
  out["useful_flops_total"] = json_number(s.useful_flops_total);
  Json collectives = Json::array();
  for (const CollectiveValue& c : s.collectives)
    collectives.push_back({{"phase", phase_name(c.phase)},
                           {"op", c.op.name()},
                           {"group", c.group},
                           {"group_size", c.group_size},
                           {"dtype", dtype_name(c.dtype)},
                           {"count", json_number(c.count.value)},
                           {"elements", json_number(c.elements.value)},
                           {"bytes", json_number(c.bytes.value)},
                           {"formula",
                            {{"count", c.count.formula->text()},
                             {"elements", c.elements.formula->text()},
                             {"bytes", c.bytes.formula->text()}}}});
  out["collectives"] = collectives;
  if (!s.host.empty() || !s.host_memory.empty()) {
    Json transfers = Json::array(), memory = Json::array();
    for (const HostValue& h : s.host)
      transfers.push_back({{"phase", phase_name(h.phase)},
                           {"op", host_op_name(h.op)},
                           {"what", h.what},
                           {"count", quantity(h.count)},
                           {"bytes", quantity(h.bytes)}});
    for (const PartValue& part : s.host_memory) {
      Json p = quantity(part.bytes);
      p["name"] = part.name;
      memory.push_back(p);
    }
    out["host"] = {{"transfers", transfers}, {"memory", memory}};
  }
  if (const auto& derived = stage_derived(r, s); !derived.empty())
    out["derived_symbols"] = derived_json(derived, s.binding);
  Json symbols = Json::object();
  for (const auto& [symbol, value] : s.binding.items()) symbols[symbol.name()] = value;
  out["symbols"] = symbols;
  return out;
}

// "0-3 | 16-19"
std::string chunks_text(const StageReport& s) {
  std::string out;
  for (const StageChunk& chunk : s.chunks) {
    if (!out.empty()) out += " | ";
    const std::string first = std::to_string(chunk.first_layer);
    out += chunk.layers == 0   ? "none"
           : chunk.layers == 1 ? first
                               : first + "-" + std::to_string(chunk.first_layer + chunk.layers - 1);
  }
  return out;
}

}  // namespace

std::string report_json(const Report& r) {
  Json out;
  out["design"] = Json::parse(to_json(r.design));
  out["valid"] = r.valid();
  Json problems = Json::array();
  for (const Problem& p : r.problems) problems.push_back(problem_json(p));
  out["problems"] = problems;
  if (!r.valid()) return json_document(out);
  out["model"] = {{"parameters", quantity(r.model_parameters)},
                  {"active_parameters", quantity(r.active_parameters)},
                  {"kv_cache_bytes_per_token", quantity(r.kv_cache_bytes)}};
  if (const double exact = r.kv_cache_per_token; exact < to_double(r.kv_cache_bytes.value))
    out["model"]["kv_cache_bytes_per_token"]["value"] = exact;
  if (r.window_bytes.value > 0) out["model"]["window_bytes_per_sequence"] = quantity(r.window_bytes);
  if (r.state_bytes.value > 0) out["model"]["state_bytes_per_sequence"] = quantity(r.state_bytes);
  out["ranks"] = r.ranks;
  out["microbatches"] = r.microbatches;
  if (r.ring_position) out["ring_position"] = *r.ring_position;
  out["tokens_per_step"] = r.tokens_per_step;
  out["derived_symbols"] = derived_json(r.derived, r.binding);
  out["step"] = {{"flops", r.step_flops}, {"communicated_bytes", r.step_comm_bytes}};
  Json stages = Json::array();
  for (const StageReport& s : r.stages) stages.push_back(stage_json(r, s));
  out["stages"] = stages;
  return json_document(out);
}

std::string report_text(const Report& r) {
  std::string out;
  for (const Problem& p : r.problems)
    out += (p.severity == Severity::Error ? "error: " : "note: ") + to_string(p) + "\n";
  if (!r.valid()) return out;
  out += r.design.name + ": " + format_count(r.model_parameters.value) + " parameters" +
         (r.active_parameters.value == r.model_parameters.value
              ? ""
              : " (" + format_count(r.active_parameters.value) + " active)") +
         " on " + grouped(r.ranks) + " ranks (tp " + std::to_string(r.design.parallel.tp) + ", pp " +
         std::to_string(r.design.parallel.pp) + ", dp " + std::to_string(r.design.parallel.dp) +
         (r.design.parallel.cp > 1 ? ", cp " + std::to_string(r.design.parallel.cp) : "") + ")\n";
  out += "per step: " + grouped(r.tokens_per_step) + " tokens, " + grouped(r.microbatches) +
         " microbatches per replica, " + format_flops(whole_part(r.step_flops)) + " counted\n" +
         (r.ring_position
              ? "attention FLOPs: of rank " + std::to_string(*r.ring_position) + " of the ring (ic)\n\n"
              : "\n");
  for (const StageReport& s : r.stages) {
    out += "stage " + std::to_string(s.stage) + ": " + std::to_string(s.layers) + " layers, " +
           std::to_string(s.in_flight) + (s.chunks.size() > 1 ? " microbatch chunks" : " microbatches") +
           " in flight, " + grouped(s.parameters.value) + " parameters per rank\n";
    if (s.chunks.size() > 1) out += "  virtual stages: layers " + chunks_text(s) + "\n";
    for (const DerivedSymbol& d : stage_derived(r, s))
      out += "  " + d.definition() + " = " + grouped(s.binding.get(d.symbol).value_or(0)) + "\n";
    for (int c = 0; c < kMemoryCategoryCount; ++c)
      if (s.memory[c].value != 0)
        out += "  " + pad(std::string(memory_category_label(static_cast<MemoryCategory>(c))), 18, false) +
               pad(format_bytes(s.memory[c].value), 12) + "   " + s.memory[c].formula->text() + "\n";
    out += "  " + pad("Total", 18, false) + pad(format_bytes(s.memory_total), 12) + "\n";
    for (const FlopsValue& f : s.flops)
      out += "  " + pad(f.name() + " " + std::string(phase_name(f.phase)), 26, false) +
             pad(format_flops(f.counted.value), 14) + "   " + f.counted.formula->text() + "\n";
    for (const CollectiveValue& c : s.collectives)
      out += "  " +
             pad(std::string(phase_name(c.phase)) + " " + std::string(c.op.name()) + " " + c.group, 34,
                 false) +
             pad(grouped(c.count.value), 8) + " x" + pad(format_bytes(c.bytes.value), 12) + "   " +
             c.bytes.formula->text() + "\n";
    for (const HostValue& h : s.host)
      out += "  " +
             pad(std::string(phase_name(h.phase)) + " " + std::string(host_op_name(h.op)) + " " + h.what +
                     ", host",
                 34, false) +
             pad(grouped(h.count.value), 8) + " x" + pad(format_bytes(h.bytes.value), 12) + "   " +
             h.bytes.formula->text() + "\n";
    for (const PartValue& part : s.host_memory)
      out += "  " + pad("host memory: " + part.name, 34, false) + pad("", 10) +
             pad(format_bytes(part.bytes.value), 12) + "   " + part.bytes.formula->text() + "\n";
    out += "\n";
  }
  return out;
}

}  // namespace shardscape

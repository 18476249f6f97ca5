#include "validation/measured_collectives.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "design/knobs/knobs.h"
#include "model/library.h"
#include "performance/collective_time.h"
#include "timing/machine_of.h"
#include "validation/measured_mapping.h"

namespace shardscape {
namespace {

struct System {
  const char *name, *accelerator;
};
constexpr System kSystems[]{{"a100_sxm", "a100-80gb"},      {"h100_sxm", "h100-80gb"},
                            {"h200_sxm", "h200-sxm-141gb"}, {"b200_sxm", "b200-hgx-180gb"},
                            {"b300_sxm", "b300-hgx-270gb"}, {"gb200", "gb200-nvl72-186gb"},
                            {"gb300", "gb300-nvl72-279gb"}};

// The place of a column; the number of columns if it is missing.
size_t place_of(const MeasuredJson& columns, const char* name) {
  return static_cast<size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin());
}

Machine machine_with(const std::string& accelerator) {
  Design design;
  apply_preset(design, "llama3-8b");
  if (const auto problem = set_knob(design, *find_knob("accelerator"), accelerator)) return {};
  return machine_of(design);
}

}  // namespace

void map_nccl(const MeasuredJson& set, MeasuredSet& out) {
  const MeasuredJson &columns = set["columns"], &rows = set.value("rows", MeasuredJson::array());
  const size_t system = place_of(columns, "system"), op = place_of(columns, "op"),
               dtype = place_of(columns, "dtype"), ranks = place_of(columns, "num_gpus"),
               elements = place_of(columns, "message_size_elements"), us = place_of(columns, "latency_us");
  size_t number = 0;
  for (const MeasuredJson& row : rows) {
    ++number;
    const auto leave_out = [&](const std::string& why) {
      MeasuredRow of;
      of.name = row_number(number);
      of.unmapped = why;
      of.seconds = 0;  // a time that has no prediction
      out.rows.push_back(std::move(of));
    };
    const size_t last = std::max({system, op, dtype, ranks, elements, us});
    if (!row.is_array() || row.size() <= last || !row[system].is_string() || !row[op].is_string() ||
        !row[dtype].is_string() || !row[ranks].is_number_integer() || !row[elements].is_number() ||
        !row[us].is_number()) {
      leave_out("the row is " + row.dump().substr(0, 60) + ", not a list with the values of the columns");
      continue;
    }
    const auto known = std::find_if(std::begin(kSystems), std::end(kSystems),
                                    [&](const System& of) { return row[system] == of.name; });
    const std::string name = row[op] == "alltoall" ? "all_to_all" : row[op].get<std::string>();
    const auto kind = find_collective_kind(name);
    const double width = row[dtype] == "half" ? 2 : row[dtype] == "int8" ? 1 : 0;
    if (known == std::end(kSystems) || !kind || width == 0 || !(row[us].get<double>() > 0)) {
      leave_out("no counterpart for " + row.dump().substr(0, 60));
      continue;
    }
    out.collectives.push_back({known->accelerator, *kind, row[ranks].get<int64_t>(),
                               row[elements].get<double>() * width, row[us].get<double>() * 1e-6});
  }
}

std::vector<CollectiveErrors> collective_errors(const std::vector<CollectiveMeasurement>& rows) {
  std::map<std::string, Machine> machines;
  std::map<std::pair<CollectiveKind, int>, CollectiveErrors> sums;
  for (const CollectiveMeasurement& row : rows) {
    const auto [machine, fresh] = machines.try_emplace(row.accelerator);
    if (fresh) machine->second = machine_with(row.accelerator);
    const GroupSpan span{row.ranks, row.ranks};
    const auto error = [&](const CollectiveEstimate& of) {
      return 100 * std::abs(of.seconds / row.seconds - 1);
    };
    const double model = error(collective_estimate(machine->second, row.kind, row.bytes, span)),
                 formulas = error(collective_formula(machine->second.network, row.kind, row.bytes, span));
    for (const int decade :
         {-1, static_cast<int>(std::floor(std::log10(std::clamp(row.bytes, 1.0, 1e18))))}) {
      CollectiveErrors& of = sums[{row.kind, decade}];
      of.kind = row.kind;
      of.decade = decade;
      ++of.rows;
      of.model += model;
      of.formulas += formulas;
    }
  }
  std::vector<CollectiveErrors> out;
  for (auto& [key, of] : sums) {
    of.model /= static_cast<double>(of.rows);
    of.formulas /= static_cast<double>(of.rows);
    out.push_back(of);
  }
  return out;
}

}  // namespace shardscape

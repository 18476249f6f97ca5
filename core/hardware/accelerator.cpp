#include "hardware/accelerator.h"

#include <algorithm>
#include <cmath>

#include "hardware/catalogue_file.h"
#include "hardware/catalogue_text.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

double number(const JsonFile& file, const json& entry, const std::string& key, const std::string& near,
              bool needed) {
  const auto it = entry.find(key);
  if (it == entry.end() && !needed) return 0;
  const double value = it != entry.end() && it->is_number() ? it->get<double>() : 0;
  if (!(value > 0 && value < 1e9)) {
    file.fail(ProblemCode::DataValue, near, "\"" + key + "\" of \"" + near + "\" is missing or out of range",
              "a number above 0 and below 10^9");
  }
  return value;
}

Accelerator accelerator(const JsonFile& file, const json& entry) {
  if (!entry.is_object())
    file.fail(ProblemCode::DataValue, "accelerators", entry.dump() + " is not an accelerator",
              "an object in braces");
  file.only(entry, {"id",           "aliases",     "name",
                    "bf16_tflops",  "memory_gb",   "memory_gbps",
                    "scaleup_gbps", "nic_gbps",    "channel_gbps",
                    "source",       "sources",     "note",
                    "family",       "processors",  "collective_processors",
                    "fp8_tflops",   "fp4_tflops",  "int8_tops",
                    "fp32_tflops",  "board_watts", "price_per_hour",
                    "device_gib"});
  Accelerator item;
  item.id = file.text(entry, "id");
  item.name = file.text(entry, "name");
  item.sources = read_sources(
      file, entry, item.id,
      {"bf16_tflops", "fp8_tflops", "fp4_tflops", "int8_tops", "fp32_tflops", "processors",
       "collective_processors", "memory_gb", "device_gib", "memory_gbps", "scaleup_gbps", "nic_gbps",
       "channel_gbps", "board_watts", "price_per_hour"});
  if (const auto aliases = entry.find("aliases"); aliases != entry.end()) {
    if (!aliases->is_array())
      file.fail(ProblemCode::DataValue, item.id, "\"aliases\" of \"" + item.id + "\" is not a list",
                "a list of strings");
    for (const json& alias : *aliases) {
      if (!alias.is_string())
        file.fail(ProblemCode::DataValue, item.id, alias.dump() + " is not an alias", "a string in quotes");
      item.aliases.push_back(alias.get<std::string>());
    }
  }
  item.bf16_tflops = number(file, entry, "bf16_tflops", item.id, true);
  item.family = file.text_or(entry, "family", "");
  item.processors = std::llround(number(file, entry, "processors", item.id, false));
  item.collective_processors = std::llround(number(file, entry, "collective_processors", item.id, false));
  item.fp8_tflops = number(file, entry, "fp8_tflops", item.id, false);
  item.fp4_tflops = number(file, entry, "fp4_tflops", item.id, false);
  item.int8_tops = number(file, entry, "int8_tops", item.id, false);
  item.fp32_tflops = number(file, entry, "fp32_tflops", item.id, false);
  item.memory_gb = number(file, entry, "memory_gb", item.id, true);
  item.memory_bytes = std::llround(item.memory_gb * 1073741824.0);
  item.device_bytes = std::llround(number(file, entry, "device_gib", item.id, false) * 1073741824.0);
  item.memory_gbps = number(file, entry, "memory_gbps", item.id, true);
  item.scaleup_gbps = number(file, entry, "scaleup_gbps", item.id, false);
  item.nic_gbps = number(file, entry, "nic_gbps", item.id, false);
  item.channel_gbps = number(file, entry, "channel_gbps", item.id, false);
  item.board_watts = number(file, entry, "board_watts", item.id, false);
  item.price_per_hour = number(file, entry, "price_per_hour", item.id, false);
  return item;
}

const Catalogue<Accelerator>& accelerator_catalogue() {
  static const Catalogue<Accelerator> instance = read_catalogue("accelerators.json", "accelerators",
                                                                accelerator);
  return instance;
}

}  // namespace

const std::vector<Accelerator>& accelerators() { return accelerator_catalogue().items; }

const std::vector<Problem>& accelerator_problems() { return accelerator_catalogue().problems; }

std::vector<Problem> accelerator_text_problems(const std::string& text, const std::string& name) {
  std::vector<Problem> problems;
  read_catalogue_text(text, name, "accelerators", accelerator, problems);
  return problems;
}

const Accelerator* find_accelerator(const std::string& name) {
  if (const Accelerator* item = accelerator_catalogue().find(name)) return item;
  for (const Accelerator& item : accelerators()) {
    if (std::find(item.aliases.begin(), item.aliases.end(), name) != item.aliases.end()) return &item;
  }
  return nullptr;
}

bool has_matrix_units(const Accelerator& a, DType type) {
  if (type == DType::Int8) return a.int8_tops > 0;
  return type == DType::NVFP4 || type == DType::MXFP8 ? a.fp4_tflops > 0 : a.fp8_tflops > 0;
}

double peak_flops(const Accelerator& a, DType compute) {
  const double fp8 = a.fp8_tflops > 0 ? a.fp8_tflops : a.bf16_tflops;
  switch (compute) {
    case DType::FP8:
    case DType::FP8Block:
    case DType::MXFP8: return fp8 * 1e12;
    case DType::Int8: return (a.int8_tops > 0 ? a.int8_tops : a.bf16_tflops) * 1e12;
    case DType::NVFP4: return (a.fp4_tflops > 0 ? a.fp4_tflops : fp8) * 1e12;
    // If the rate of plain float32 is not published: 1/8 of the bfloat16 rate, because tensor cores need
    // several passes.
    case DType::FP32: return (a.fp32_tflops > 0 ? a.fp32_tflops : a.bf16_tflops / 8) * 1e12;
    case DType::BF16:
    case DType::FP16:
    case DType::Int64:
    case DType::Int32:
    case DType::Bool:
    case DType::FP8Block2D:  // from here on types of stored weights and caches, in which no unit computes
    case DType::FP8BlockE8M0:
    case DType::MXFP4:
    case DType::Int4G32:
    case DType::Int4G128:
    case DType::FP8Entry:
    case DType::E5M6:
    case DType::Int8Block:
    case DType::NF4:
    case DType::NF4Double: return a.bf16_tflops * 1e12;
  }
  return a.bf16_tflops * 1e12;
}

}  // namespace shardscape

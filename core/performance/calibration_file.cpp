// Reads and writes calibration files.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/real_text.h"
#include "model/json_reader.h"
#include "performance/calibration.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

// Indexed by AttentionPass.
constexpr std::array<std::string_view, 3> kPasses{"forward", "backward", "decode"};

class Reader {
 public:
  Reader(const std::string& text, const std::string& name) : file_(text, name) {}

  Calibration read() {
    const json& root = file_.root();
    file_.only(
        root, {"format", "accelerator", "basis", "note", "source", "scaleup_gbps", "matmul", "attention",
               "memory", "host", "training_factor", "training_products", "attention_kernels", "collectives"});
    if (file_.integer(root, "format") != 1)
      file_.fail(ProblemCode::UnknownFormat, "format", "format " + root["format"].dump() + " is not known",
                 "1");
    Calibration out;
    out.accelerator = file_.text(root, "accelerator");
    out.basis = file_.text_or(root, "basis", "");
    out.note = file_.text_or(root, "note", "");
    out.source = file_.text_or(root, "source", "");
    each(root, "matmul", [&](const json& entry) { out.matmul.push_back(matmul(entry)); });
    each(root, "attention", [&](const json& entry) { out.attention.push_back(attention(entry)); });
    if (root.contains("memory")) out.memory = memory(file_.object(root, "memory"));
    if (root.contains("host")) {
      const json& host = file_.object(root, "host");
      file_.only(host, {"source", "launch_us"});
      out.host_source = file_.text(host, "source");
      out.host_launch_us = number(host, "launch_us", 0, 0, 1e6);
    }
    each(root, "training_factor", [&](const json& entry) {
      file_.only(entry, {"dtype", "factor", "source", "unaligned_share"});
      out.training.push_back({dtype(entry), number(entry, "factor", 1, 1, 10), file_.text(entry, "source"),
                              number(entry, "unaligned_share", 0, 0, 1)});
    });
    each(root, "training_products", [&](const json& entry) {
      file_.only(entry, {"dtype", "sustained", "accumulate", "experts", "source"});
      out.training_products.push_back({dtype(entry), number(entry, "sustained", 1, 0.01, 1),
                                       number(entry, "accumulate", 0, 0, 2),
                                       number(entry, "experts", 1, 1, 10), file_.text(entry, "source")});
    });
    each(root, "attention_kernels", [&](const json& entry) {
      file_.only(entry, {"kernel", "factor", "source"});
      out.attention_kernels.push_back(
          {file_.text(entry, "kernel"), number(entry, "factor", 1, 1, 100), file_.text(entry, "source")});
    });
    each(root, "collectives", [&](const json& entry) { out.collectives.push_back(collective(entry)); });
    for (auto& m : out.matmul) m.from = out.accelerator;
    for (auto& a : out.attention) a.from = out.accelerator;
    if (out.memory) out.memory->from = out.accelerator;
    return out;
  }

 private:
  template <typename F>
  void each(const json& root, const char* key, F read) {
    if (!root.contains(key)) return;
    for (const json& entry : file_.array(root, key)) {
      if (!entry.is_object())
        file_.fail(ProblemCode::DataValue, key, "an entry of \"" + std::string(key) + "\" is not an object",
                   "an object in braces");
      read(entry);
    }
  }

  double number(const json& in, const char* key, double fallback, double least, double most) {
    const auto it = in.find(key);
    if (it == in.end()) return fallback;
    if (!it->is_number() || !(it->get<double>() >= least && it->get<double>() <= most)) {
      file_.fail(ProblemCode::DataValue, key, "\"" + std::string(key) + "\" is " + it->dump(),
                 "a number from " + json(least).dump() + " to " + json(most).dump());
    }
    return it->get<double>();
  }

  DType dtype(const json& in) {
    const std::string name = file_.text(in, "dtype");
    const auto type = dtype_from_name(name);
    if (!type || !is_arithmetic(*type))
      file_.fail(ProblemCode::DataValue, name, "\"" + name + "\" is not an element type",
                 "bfloat16, float16, float32, float8, float8_block, mxfp8 or nvfp4");
    return *type;
  }

  HeldOut held_out(const json& in) {
    if (!in.contains("held_out")) return {};
    const json& held = file_.object(in, "held_out");
    file_.only(held, {"rows", "median_percent", "p90_percent"});
    return {file_.integer(held, "rows"), number(held, "median_percent", 0, 0, 1e6),
            number(held, "p90_percent", 0, 0, 1e6)};
  }

  std::vector<double> numbers(const json& in, const char* key, double least, double most) {
    std::vector<double> out;
    for (const json& value : file_.array(in, key)) {
      if (!value.is_number() || !(value.get<double>() >= least && value.get<double>() <= most)) {
        file_.fail(ProblemCode::DataValue, key, "\"" + std::string(key) + "\" holds " + value.dump(),
                   "numbers from " + json(least).dump() + " to " + json(most).dump());
      }
      out.push_back(value.get<double>());
    }
    return out;
  }

  std::vector<double> ascending(const json& in, const char* key) {
    std::vector<double> out = numbers(in, key, 1e-3, 1e15);
    bool ok = !out.empty();
    for (size_t i = 1; i < out.size(); ++i) ok = ok && out[i - 1] < out[i];
    if (!ok)
      file_.fail(ProblemCode::DataValue, key, "\"" + std::string(key) + "\" is empty or not ascending",
                 "ascending numbers");
    return out;
  }

  ResidualGrid grid(const json& in, const std::array<const char*, 3>& axes) {
    ResidualGrid out;
    if (!in.contains("log_residual")) return out;
    size_t count = 1;
    for (size_t axis = 0; axis < 3; ++axis) {
      out.knots[axis] = ascending(in, axes[axis]);
      count *= out.knots[axis].size();
    }
    out.values = numbers(in, "log_residual", -5, 5);
    if (out.values.size() != count) {
      file_.fail(ProblemCode::DataValue, "log_residual",
                 "\"log_residual\" holds " + std::to_string(out.values.size()) + " numbers",
                 std::to_string(count) + ", one for each combination of \"" + axes[0] + "\", \"" + axes[1] +
                     "\" and \"" + axes[2] + "\"");
    }
    out.prepare();
    return out;
  }

  MatmulCalibration matmul(const json& in) {
    file_.only(in,
               {"dtype", "source", "held_out", "tiles", "wave", "tile_overhead", "k_overhead", "launch_us",
                "split_us", "memory_share", "sharpness", "scale", "m", "n", "k", "log_residual"});
    MatmulCalibration out;
    out.dtype = dtype(in);
    out.source = file_.text(in, "source");
    out.held_out = held_out(in);
    for (const json& tile : file_.array(in, "tiles")) {
      const auto side = [&](size_t i) { return tile[i].is_number() && tile[i].get<double>() >= 1; };
      if (!tile.is_array() || tile.size() != 2 || !side(0) || !side(1))
        file_.fail(ProblemCode::DataValue, "tiles", tile.dump() + " is not a tile",
                   "[rows, columns], both at least 1");
      out.tiles.emplace_back(tile[0].get<double>(), tile[1].get<double>());
    }
    if (out.tiles.empty())
      file_.fail(ProblemCode::DataValue, "tiles", "\"tiles\" is empty", "at least one [rows, columns]");
    out.wave = number(in, "wave", out.wave, 0, 1);
    out.tile_overhead = number(in, "tile_overhead", out.tile_overhead, 0, 1e4);
    out.k_overhead = number(in, "k_overhead", out.k_overhead, 0, 1e5);
    out.launch_us = number(in, "launch_us", out.launch_us, 0, 1e4);
    out.split_us = number(in, "split_us", out.split_us, 0, 1e4);
    out.memory_share = number(in, "memory_share", out.memory_share, 0.01, 10);
    out.sharpness = number(in, "sharpness", out.sharpness, 1, 100);
    out.scale = number(in, "scale", out.scale, 0.01, 100);
    out.residual = grid(in, {"m", "n", "k"});
    return out;
  }

  AttentionCalibration attention(const json& in) {
    file_.only(in, {"dtype", "pass", "causal", "training", "source", "held_out", "launch_us", "scale", "keys",
                    "parallel", "head_dim", "log_residual"});
    AttentionCalibration out;
    out.dtype = dtype(in);
    const std::string pass = file_.text(in, "pass");
    const auto known = std::find(kPasses.begin(), kPasses.end(), pass);
    if (known == kPasses.end())
      file_.fail(ProblemCode::DataValue, pass, "\"" + pass + "\" is not a pass",
                 "forward, backward or decode");
    out.pass = static_cast<AttentionPass>(known - kPasses.begin());
    out.causal = file_.boolean_or(in, "causal", true);
    out.training = file_.boolean_or(in, "training", false);
    if (out.training && out.pass != AttentionPass::Forward)
      file_.fail(ProblemCode::DataValue, "training", "\"training\" is only valid for forwards",
                 "no key \"training\"");
    out.source = file_.text(in, "source");
    out.held_out = held_out(in);
    out.launch_us = number(in, "launch_us", out.launch_us, 0, 1e4);
    out.scale = number(in, "scale", out.scale, 0.01, 100);
    out.residual = grid(in, {"keys", "parallel", "head_dim"});
    return out;
  }

  MemoryCalibration memory(const json& in) {
    file_.only(in, {"source", "held_out", "launch_us", "share", "cache_mb", "cache_share", "routing_share",
                    "routing_source"});
    MemoryCalibration out;
    out.source = file_.text(in, "source");
    out.held_out = held_out(in);
    out.launch_us = number(in, "launch_us", out.launch_us, 0, 1e4);
    out.share = number(in, "share", out.share, 0.01, 1);
    out.cache_mb = number(in, "cache_mb", 0, 0, 1e6);
    out.cache_share = number(in, "cache_share", out.share, out.share, 100);
    out.routing_share = number(in, "routing_share", 0, 0.01, 1);
    if (out.routing_share > 0) out.routing_source = file_.text(in, "routing_source");
    return out;
  }

  CollectiveCurve collective(const json& in) {
    file_.only(in, {"op", "ranks", "per_domain", "in_network", "bytes", "us"});
    CollectiveCurve out{file_.text(in, "op"), file_.integer(in, "ranks"), file_.integer(in, "per_domain"),
                        ascending(in, "bytes"), numbers(in, "us", 0, 1e12)};
    if (out.us.size() != out.bytes.size()) {
      file_.fail(ProblemCode::DataValue, "us", "\"us\" holds " + std::to_string(out.us.size()) + " numbers",
                 std::to_string(out.bytes.size()) + ", one for each of \"bytes\"");
    }
    return out;
  }

  JsonFile file_;
};

// Prints JSON with lists of numbers on one line, because only programs read these tables.
void write(const json& value, int indent, std::string& out) {
  const std::string pad(static_cast<size_t>(indent) + 1, ' ');
  const auto numbers = [](const json& list) {
    return list.is_array() && !list.empty() && list[0].is_number();
  };
  if (value.is_primitive() || value.empty() || numbers(value) || (value.is_array() && numbers(value[0]))) {
    out += value.dump(-1, ' ', false, json::error_handler_t::replace);
    return;
  }
  out += value.is_object() ? "{\n" : "[\n";
  bool first = true;
  for (const auto& [key, item] : value.items()) {
    if (!first) out += ",\n";
    first = false;
    out += pad;
    if (value.is_object()) out += json(key).dump() + ": ";
    write(item, indent + 1, out);
  }
  out += "\n" + std::string(static_cast<size_t>(indent), ' ') + (value.is_object() ? "}" : "]");
}

double rounded(double value, double unit) { return std::round(value / unit) * unit; }

// Rounds through text, so that no number is written with 17 digits.
json rounded_text(double value) { return json::parse(real_text(value, 6)); }

json list(const std::vector<double>& values) {
  json out = json::array();
  for (double v : values) out.push_back(rounded_text(v));
  return out;
}

json held_out_json(const HeldOut& held) {
  return {{"rows", held.rows},
          {"median_percent", rounded_text(rounded(held.median_percent, 0.01))},
          {"p90_percent", rounded_text(rounded(held.p90_percent, 0.01))}};
}

void put_grid(json& out, const ResidualGrid& grid, const std::array<const char*, 3>& axes) {
  if (grid.empty()) return;
  for (size_t axis = 0; axis < 3; ++axis) out[axes[axis]] = list(grid.knots[axis]);
  json& values = out["log_residual"] = json::array();
  for (double v : grid.values) values.push_back(rounded_text(rounded(v, 0.001) + 0.0));
}

}  // namespace

Result<Calibration> read_calibration(const std::string& text, const std::string& name) {
  try {
    return Reader(text, name).read();
  } catch (const DataError& error) {
    return error.problem;
  } catch (const json::exception& error) {
    return Problem{ProblemCode::JsonValueUnreadable, name,
                   std::string("a value cannot be read: ") + json_reason(error), "a calibration in JSON"};
  }
}

std::string calibration_json(const Calibration& c) {
  json root{{"format", 1}, {"accelerator", c.accelerator}};
  if (!c.basis.empty()) root["basis"] = c.basis;
  if (!c.note.empty()) root["note"] = c.note;
  if (!c.source.empty()) root["source"] = c.source;
  for (const MatmulCalibration& m : c.matmul) {
    json entry{{"dtype", dtype_name(m.dtype)}, {"source", m.source}};
    if (m.held_out.rows > 0) entry["held_out"] = held_out_json(m.held_out);
    json& tiles = entry["tiles"] = json::array();
    for (const auto& [rows, columns] : m.tiles) tiles.push_back({rounded_text(rows), rounded_text(columns)});
    entry.update({{"wave", rounded_text(m.wave)},
                  {"tile_overhead", rounded_text(m.tile_overhead)},
                  {"k_overhead", rounded_text(m.k_overhead)},
                  {"launch_us", rounded_text(m.launch_us)},
                  {"split_us", rounded_text(m.split_us)},
                  {"memory_share", rounded_text(m.memory_share)},
                  {"sharpness", rounded_text(m.sharpness)},
                  {"scale", rounded_text(m.scale)}});
    put_grid(entry, m.residual, {"m", "n", "k"});
    root["matmul"].push_back(std::move(entry));
  }
  for (const AttentionCalibration& a : c.attention) {
    json entry{
        {"dtype", dtype_name(a.dtype)}, {"pass", kPasses[static_cast<size_t>(a.pass)]}, {"causal", a.causal}};
    if (a.training) entry["training"] = true;
    entry["source"] = a.source;
    if (a.held_out.rows > 0) entry["held_out"] = held_out_json(a.held_out);
    entry.update({{"launch_us", rounded_text(a.launch_us)}, {"scale", rounded_text(a.scale)}});
    put_grid(entry, a.residual, {"keys", "parallel", "head_dim"});
    root["attention"].push_back(std::move(entry));
  }
  if (c.memory) {
    json entry{{"source", c.memory->source}};
    if (c.memory->held_out.rows > 0) entry["held_out"] = held_out_json(c.memory->held_out);
    entry.update(
        {{"launch_us", rounded_text(c.memory->launch_us)}, {"share", rounded_text(c.memory->share)}});
    if (c.memory->cache_mb > 0)
      entry.update({{"cache_mb", rounded_text(c.memory->cache_mb)},
                    {"cache_share", rounded_text(c.memory->cache_share)}});
    if (c.memory->routing_share > 0)
      entry.update({{"routing_share", rounded_text(c.memory->routing_share)},
                    {"routing_source", c.memory->routing_source}});
    root["memory"] = std::move(entry);
  }
  if (c.host_launch_us > 0)
    root["host"] = {{"source", c.host_source}, {"launch_us", rounded_text(c.host_launch_us)}};
  for (const TrainingFactor& t : c.training) {
    root["training_factor"].push_back(
        {{"dtype", dtype_name(t.dtype)}, {"factor", rounded_text(t.factor)}, {"source", t.source}});
    if (t.unaligned_share > 0)
      root["training_factor"].back()["unaligned_share"] = rounded_text(t.unaligned_share);
  }
  for (const TrainingMatmuls& t : c.training_products) {
    root["training_products"].push_back({{"dtype", dtype_name(t.dtype)},
                                         {"sustained", rounded_text(t.sustained)},
                                         {"accumulate", rounded_text(t.accumulate)},
                                         {"experts", rounded_text(t.experts)},
                                         {"source", t.source}});
  }
  for (const KernelFactor& k : c.attention_kernels) {
    root["attention_kernels"].push_back(
        {{"kernel", k.kernel}, {"factor", rounded_text(k.factor)}, {"source", k.source}});
  }
  for (const CollectiveCurve& curve : c.collectives) {
    root["collectives"].push_back({{"op", curve.op},
                                   {"ranks", curve.ranks},
                                   {"per_domain", curve.per_domain},
                                   {"bytes", list(curve.bytes)},
                                   {"us", list(curve.us)}});
  }
  std::string out;
  write(root, 0, out);
  return out + "\n";
}

}  // namespace shardscape

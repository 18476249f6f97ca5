#include "accuracy/error_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>

#include "base/data_dir.h"
#include "base/shown_text.h"
#include "hardware/accelerator.h"
#include "model/json_reader.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

constexpr std::array<std::string_view, kBandMetricCount> kMetrics{"time", "memory", "tpot", "ttft"};

// The index of a word, whose names the accepted values are.
template <class Enum, class Name>
Enum word(const JsonFile& file, const json& entry, const char* key, int count, const Name& name) {
  const std::string text = file.text(entry, key);
  std::string accepted;
  for (int i = 0; i < count; ++i) {
    if (name(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
    accepted += (i > 0 ? ", " : "") + std::string(name(static_cast<Enum>(i)));
  }
  file.fail(ProblemCode::DataValue, text, std::string(key) + " \"" + text + "\" is not known", accepted);
}

double number_of(const JsonFile& file, const json& value) {
  if (!value.is_number())
    JsonFile::fail(ProblemCode::DataValue, file.place(value), value.dump() + " is not a log ratio",
                   "a number");
  return value.get<double>();
}

std::vector<double> numbers(const JsonFile& file, const json& list) {
  if (!list.is_array())
    JsonFile::fail(ProblemCode::DataValue, file.place(list), list.dump() + " is not a list",
                   "a list of numbers");
  std::vector<double> out;
  out.reserve(list.size());
  for (const json& value : list) out.push_back(number_of(file, value));
  return out;
}

// The members that both kinds of samples have.
template <class Sample>
Sample read_head(const JsonFile& file, const json& entry) {
  Sample out;
  out.set = file.text(entry, "set");
  out.metric = word<BandMetric>(file, entry, "metric", kBandMetricCount, band_metric_name);
  out.of.accelerator = file.text(entry, "accelerator");
  if (!find_accelerator(out.of.accelerator))
    file.fail(ProblemCode::DataValue, out.of.accelerator,
              "the catalogue has no accelerator \"" + out.of.accelerator + "\"", "an id of the catalogue");
  out.of.precision = word<PrecisionClass>(file, entry, "precision", kPrecisionClassCount,
                                          precision_class_name);
  out.of.kind = word<ModelKind>(file, entry, "kind", kModelKindCount, model_kind_name);
  out.of.scale = word<ScaleClass>(file, entry, "scale", kScaleClassCount, scale_class_name);
  return out;
}

ErrorSample read_sample(const JsonFile& file, const json& entry) {
  file.only(entry, {"set", "metric", "accelerator", "precision", "kind", "scale", "log_ratios"});
  auto out = read_head<ErrorSample>(file, entry);
  out.log_ratios = numbers(file, file.array(entry, "log_ratios"));
  return out;
}

PairSample read_pairs(const JsonFile& file, const json& entry) {
  file.only(entry,
            {"set", "metric", "accelerator", "precision", "kind", "scale", "settings", "workloads", "ids"});
  auto out = read_head<PairSample>(file, entry);
  out.settings = file.text(entry, "settings");
  for (const json& of : file.array(entry, "workloads")) {
    out.workloads.push_back(numbers(file, of));
    if (out.workloads.back().empty())
      JsonFile::fail(ProblemCode::DataValue, file.place(of), "a workload has no pairs",
                     "at least one number");
  }
  const json& ids = file.array(entry, "ids");
  for (const json& id : ids) {
    if (!id.is_number_integer())
      JsonFile::fail(ProblemCode::DataValue, file.place(id), shortened(id.dump()) + " is no id of a workload",
                     "a whole number");
    out.ids.push_back(id.get<int64_t>());
  }
  if (out.ids.size() != out.workloads.size())
    JsonFile::fail(ProblemCode::DataValue, file.place(ids), "the lists of workloads and ids differ in length",
                   "an id per workload");
  return out;
}

struct Samples {
  MeasuredErrors all;
  std::vector<Problem> problems;

  Samples() {
    for (const auto& path : data_files("resources/accuracy")) {
      const auto text = read_text(path);
      const auto* problem = std::get_if<Problem>(&text);
      auto read = problem ? Result<MeasuredErrors>(*problem)
                          : read_measured_errors(std::get<std::string>(text), path.string());
      if (auto* mistake = std::get_if<Problem>(&read))
        problems.push_back(std::move(*mistake));
      else
        add(std::get<MeasuredErrors>(std::move(read)));
    }
  }

  void add(MeasuredErrors later) {
    std::set<std::string> sets;
    for (const ErrorSample& of : later.samples) sets.insert(of.set);
    for (const PairSample& of : later.pairs) sets.insert(of.set);
    const auto append = [&](auto& list, auto& more) {
      std::erase_if(list, [&](const auto& of) { return sets.count(of.set) > 0; });
      list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    };
    append(all.samples, later.samples);
    append(all.pairs, later.pairs);
  }
};

const Samples& samples() {
  static const Samples instance;
  return instance;
}

json head_json(const auto& of) {
  return {{"set", of.set},
          {"metric", band_metric_name(of.metric)},
          {"accelerator", of.of.accelerator},
          {"precision", precision_class_name(of.of.precision)},
          {"kind", model_kind_name(of.of.kind)},
          {"scale", scale_class_name(of.of.scale)}};
}

json rounded(const std::vector<double>& values) {
  constexpr double kDecimals = 1e4;
  json out = json::array();
  for (const double value : values) out.push_back(std::round(value * kDecimals) / kDecimals);
  return out;
}

}  // namespace

std::string_view band_metric_name(BandMetric metric) { return kMetrics[static_cast<size_t>(metric)]; }

std::optional<BandMetric> find_band_metric(std::string_view name) {
  const auto it = std::find(kMetrics.begin(), kMetrics.end(), name);
  return it == kMetrics.end() ? std::nullopt : std::optional(static_cast<BandMetric>(it - kMetrics.begin()));
}

const std::vector<ErrorSample>& error_samples() { return samples().all.samples; }
const std::vector<PairSample>& pair_samples() { return samples().all.pairs; }
const std::vector<Problem>& error_samples_problems() { return samples().problems; }

Result<MeasuredErrors> read_measured_errors(const std::string& text, const std::string& name) {
  try {
    const JsonFile file(text, name);
    file.only(file.root(), {"note", "samples", "pairs"});
    MeasuredErrors out;
    for (const json& entry : file.array(file.root(), "samples"))
      out.samples.push_back(read_sample(file, entry));
    if (file.root().contains("pairs"))
      for (const json& entry : file.array(file.root(), "pairs")) out.pairs.push_back(read_pairs(file, entry));
    return out;
  } catch (const DataError& error) {
    return error.problem;
  }
}

std::string measured_errors_json(const MeasuredErrors& errors) {
  std::string out =
      "{\"note\": \"Logarithms of measured / predicted of measured runs, and of ratios of two runs. "
      "shardscape-cli validate --bands FILE SET... writes this file.\",\n \"samples\": [";
  const auto line = [&](const json& entry, bool first) { out += (first ? "\n  " : ",\n  ") + entry.dump(); };
  for (const ErrorSample& sample : errors.samples) {
    json entry = head_json(sample);
    entry["log_ratios"] = rounded(sample.log_ratios);
    line(entry, &sample == errors.samples.data());
  }
  out += "\n ],\n \"pairs\": [";
  for (const PairSample& sample : errors.pairs) {
    json entry = head_json(sample);
    entry["settings"] = sample.settings;
    json& workloads = entry["workloads"] = json::array();
    for (const std::vector<double>& of : sample.workloads) workloads.push_back(rounded(of));
    entry["ids"] = sample.ids;
    line(entry, &sample == errors.pairs.data());
  }
  return out + "\n ]}\n";
}

}  // namespace shardscape

#include "accuracy/error_samples.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/data_dir.h"
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

ErrorSample read_sample(const JsonFile& file, const json& entry) {
  file.only(entry, {"set", "metric", "accelerator", "precision", "kind", "scale", "log_ratios"});
  ErrorSample out;
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
  for (const json& value : file.array(entry, "log_ratios")) {
    if (!value.is_number())
      JsonFile::fail(ProblemCode::DataValue, file.place(value), value.dump() + " is not a log ratio",
                     "a number");
    out.log_ratios.push_back(value.get<double>());
  }
  return out;
}

struct Samples {
  std::vector<ErrorSample> all;
  std::vector<Problem> problems;

  Samples() {
    for (const auto& path : data_files("resources/accuracy")) {
      const auto text = read_text(path);
      const auto* problem = std::get_if<Problem>(&text);
      auto read = problem ? Result<std::vector<ErrorSample>>(*problem)
                          : read_error_samples(std::get<std::string>(text), path.string());
      if (auto* mistake = std::get_if<Problem>(&read))
        problems.push_back(std::move(*mistake));
      else
        add(std::get<std::vector<ErrorSample>>(std::move(read)));
    }
  }

  void add(std::vector<ErrorSample> later) {
    std::erase_if(all, [&](const ErrorSample& of) {
      return std::any_of(later.begin(), later.end(), [&](const ErrorSample& l) { return l.set == of.set; });
    });
    all.insert(all.end(), std::make_move_iterator(later.begin()), std::make_move_iterator(later.end()));
  }
};

const Samples& samples() {
  static const Samples instance;
  return instance;
}

}  // namespace

std::string_view band_metric_name(BandMetric metric) { return kMetrics[static_cast<size_t>(metric)]; }

std::optional<BandMetric> find_band_metric(std::string_view name) {
  const auto it = std::find(kMetrics.begin(), kMetrics.end(), name);
  return it == kMetrics.end() ? std::nullopt : std::optional(static_cast<BandMetric>(it - kMetrics.begin()));
}

const std::vector<ErrorSample>& error_samples() { return samples().all; }
const std::vector<Problem>& error_samples_problems() { return samples().problems; }

Result<std::vector<ErrorSample>> read_error_samples(const std::string& text, const std::string& name) {
  try {
    const JsonFile file(text, name);
    file.only(file.root(), {"note", "samples"});
    std::vector<ErrorSample> out;
    for (const json& entry : file.array(file.root(), "samples")) out.push_back(read_sample(file, entry));
    return out;
  } catch (const DataError& error) {
    return error.problem;
  }
}

std::string error_samples_json(const std::vector<ErrorSample>& list) {
  constexpr double kDecimals = 1e4;
  std::string out =
      "{\"note\": \"Log ratios measured / predicted of measured runs. shardscape-cli validate --bands FILE "
      "SET... "
      "writes this file.\",\n \"samples\": [";
  for (size_t i = 0; i < list.size(); ++i) {
    const ErrorSample& s = list[i];
    json ratios = json::array();
    for (const double ratio : s.log_ratios) ratios.push_back(std::round(ratio * kDecimals) / kDecimals);
    const json entry{{"set", s.set},
                     {"metric", band_metric_name(s.metric)},
                     {"accelerator", s.of.accelerator},
                     {"precision", precision_class_name(s.of.precision)},
                     {"kind", model_kind_name(s.of.kind)},
                     {"scale", scale_class_name(s.of.scale)},
                     {"log_ratios", ratios}};
    out += (i > 0 ? ",\n  " : "\n  ") + entry.dump();
  }
  return out + "\n ]}\n";
}

}  // namespace shardscape

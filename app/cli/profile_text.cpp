#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/cli/profile_output.h"
#include "app/cli/text.h"
#include "base/shown_text.h"
#include "base/units.h"

namespace shardscape {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kShownKernels = 12, kShownLayers = 8, kNameWidth = 60, kShownStreams = 6;

std::string percent(double share) { return significant(100 * share) + " %"; }
std::string seconds(double value) { return value == 0 ? "0 s" : format_seconds(value); }
std::string difference(double value) { return (value < 0 ? "-" : "+") + seconds(std::abs(value)); }
std::string calls(double value) {
  const double whole = std::round(value);
  return std::abs(value - whole) < 1e-6 ? grouped(static_cast<Wide>(whole)) : significant(value, 4);
}

std::string table(const Rows& rows) {
  std::vector<Align> aligns(rows.front().size(), Align::Right);
  aligns.front() = Align::Left;
  return text_table(rows, aligns);
}

std::string rank_name(const RankProfile& profile) {
  return profile.rank ? "rank " + std::to_string(*profile.rank) : profile.file;
}

std::string head(const RankProfile& p) {
  std::string out = p.file + "\n";
  if (p.rank) out += "rank " + grouped(*p.rank) + (p.ranks ? " of " + grouped(*p.ranks) + ", " : ", ");
  out += (p.device.empty() ? "a device without a name" : p.device) + ", " + grouped(p.events) + " events";
  if (p.skipped > 0) out += ", " + grouped(p.skipped) + " of them without a usable time";
  if (p.step.other_devices > 0)
    out += "; only device " + std::to_string(p.step.device) + " counts, the busiest of " +
           std::to_string(p.step.other_devices + 1);
  return out + "\n";
}

std::string steps_text(const ProfiledStep& step) {
  const std::string number = grouped(step.steps) + (step.steps == 1 ? " step" : " steps");
  if (!step.annotated)
    return number + ": the whole trace; annotate steps with profiler.step(), or give --steps";
  return "mean of " + number +
         (step.steps == 1
              ? ""
              : ", " + seconds(step.host_fastest) + " to " + seconds(step.host_slowest) + " on the host");
}

std::string measured_table(const ProfiledStep& step) {
  std::vector<size_t> order(step.categories.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return step.categories[a] > step.categories[b]; });
  Rows rows{{"", "measured", "share"}};
  for (const size_t c : order) {
    const double value = step.categories[c];
    if (value > 0)
      rows.push_back({std::string(profile_category_label(static_cast<ProfileCategory>(c))), seconds(value),
                      percent(value / step.seconds)});
  }
  return table(rows);
}

std::string compared_table(const ProfileComparison& comparison) {
  Rows rows{{"", "measured", "predicted", "difference"}};
  const auto add = [&](const ComparedTime& time) {
    rows.push_back(
        {time.label, seconds(time.measured), seconds(time.predicted), difference(time.difference())});
  };
  for (const ComparedTime& part : comparison.parts) add(part);
  add(comparison.step);
  return table(rows);
}

std::string collective_name(const CollectiveKey& key) {
  return std::string(collective_kind_name(key.kind)) +
         (key.group_size > 0 ? " over " + grouped(key.group_size) + " ranks" : "") +
         (key.dtype.empty() ? "" : ", " + key.dtype) + (key.small ? ", at most 1 KiB each" : "");
}
std::string bytes(double value, bool sized = true) {
  return sized ? format_bytes(static_cast<Wide>(std::llround(value))) : "not recorded";
}

std::string collectives_text(const ProfiledStep& step) {
  if (step.collectives.empty()) return "";
  Rows rows{{"collectives of a step", "calls", "bytes", "time", "exposed"}};
  for (const auto& [key, total] : step.collectives)
    rows.push_back({collective_name(key), calls(total.calls), bytes(total.bytes, total.sized_calls > 0),
                    seconds(total.seconds), seconds(total.exposed)});
  return "\n" + table(rows);
}

std::string compared_collectives(const std::vector<ComparedCollective>& list) {
  if (list.empty()) return "";
  Rows rows{{"collectives of a step", "calls", "predicted", "bytes", "predicted", "time", "predicted"}};
  for (const ComparedCollective& row : list)
    rows.push_back({collective_name(row.key), calls(row.measured_calls), calls(row.predicted_calls),
                    bytes(row.measured_bytes, row.sized || row.measured_calls == 0),
                    bytes(row.predicted_bytes), seconds(row.measured_seconds),
                    seconds(row.predicted_seconds)});
  return "\n" + table(rows);
}

std::string layers_text(const ProfiledStep& step) {
  if (step.layers.empty()) return "";
  std::vector<ProfiledLayer> layers = step.layers;
  std::stable_sort(layers.begin(), layers.end(), [](const ProfiledLayer& a, const ProfiledLayer& b) {
    return a.forward + a.backward > b.forward + b.backward;
  });
  Rows rows{{std::to_string(layers.size()) + " layers, longest first", "forward", "backward"}};
  for (size_t i = 0; i < std::min(layers.size(), kShownLayers); ++i)
    rows.push_back({layers[i].name, seconds(layers[i].forward), seconds(layers[i].backward)});
  return "\n" + table(rows);
}

std::string compared_layers(const std::vector<ComparedLayer>& layers) {
  if (layers.empty()) return "";
  Rows rows{{std::to_string(layers.size()) + " layers, largest difference first", "forward", "predicted",
             "backward", "predicted", "difference"}};
  for (size_t i = 0; i < std::min(layers.size(), kShownLayers); ++i) {
    const ComparedLayer& layer = layers[i];
    rows.push_back({layer.name + " (layer " + std::to_string(layer.layer) + ")",
                    seconds(layer.forward.measured), seconds(layer.forward.predicted),
                    seconds(layer.backward.measured), seconds(layer.backward.predicted),
                    difference(layer.difference())});
  }
  return "\n" + table(rows);
}

// Names of kernels can have thousands of characters.
std::string short_name(const std::string& name) {
  return shortened(name.starts_with("void ") ? name.substr(5) : name, kNameWidth);
}

std::string kernels_text(const ProfiledStep& step) {
  Rows rows{{"kernels that take longest", "kind", "calls", "time", "share"}};
  for (size_t i = 0; i < std::min(step.kernels.size(), kShownKernels); ++i) {
    const KernelRow& kernel = step.kernels[i];
    rows.push_back({short_name(kernel.name), std::string(profile_category_label(kernel.category)),
                    calls(kernel.calls), seconds(kernel.seconds), percent(kernel.seconds / step.seconds)});
  }
  return "\n" + text_table(rows, {Align::Left, Align::Left, Align::Right, Align::Right, Align::Right});
}

std::string streams_text(const ProfiledStep& step) {
  std::string out = "\nbusy " + percent(step.busy / step.seconds) + " of the step; streams: ";
  for (size_t i = 0; i < std::min(step.streams.size(), kShownStreams); ++i)
    out += (i ? ", " : "") + std::to_string(step.streams[i].stream) + " (" + seconds(step.streams[i].busy) +
           ")";
  if (step.streams.size() > kShownStreams)
    out += " and " + std::to_string(step.streams.size() - kShownStreams) + " more";
  if (step.communication > 0)
    out += "\ncommunication " + seconds(step.communication) + ", of which compute hides " +
           seconds(step.hidden);
  if (step.classified < 1)
    out += "\nkernels of unknown kind: " + percent(1 - step.classified) + " of the time of kernels";
  return out + "\n";
}

std::string ranks_text(const ProfileAnswer& answer) {
  if (answer.ranks.size() < 2) return "";
  Rows rows{{std::to_string(answer.ranks.size()) + " profiles", "step", "compute", "exposed communication",
             "launch gaps"}};
  std::vector<double> compute;
  for (const RankProfile& rank : answer.ranks) {
    compute.push_back(rank.compute());
    rows.push_back({rank_name(rank), seconds(rank.step.seconds), seconds(rank.compute()),
                    seconds(rank.exposed()),
                    seconds(rank.step.categories[static_cast<size_t>(ProfileCategory::LaunchGaps)])});
  }
  std::sort(compute.begin(), compute.end());
  const double median = compute[(compute.size() - 1) / 2];
  std::string out = table(rows);
  if (median > 0)
    out += "the slowest computes " + percent(compute.back() / median - 1) + " longer than the median\n";
  return out + "\n";
}

}  // namespace

std::string profile_text(const ProfileAnswer& answer) {
  const RankProfile& shown = answer.ranks[answer.shown];
  const ProfiledStep& step = shown.step;
  std::string out = ranks_text(answer) + head(shown) + "step " + seconds(step.seconds) + " on the device (" +
                    steps_text(step) + ")\n";
  if (!answer.comparison)
    return out + "\n" + measured_table(step) + collectives_text(step) + layers_text(step) +
           kernels_text(step) + streams_text(step);
  const ProfileComparison& comparison = *answer.comparison;
  const double more = comparison.step.difference();
  out += "predicted " + seconds(comparison.step.predicted) + " for stage " +
         std::to_string(comparison.stage) + " of " + answer.design + " on " + answer.accelerator +
         ": the run takes " + seconds(std::abs(more)) + (more < 0 ? " less" : " more");
  if (comparison.step.predicted > 0) out += " (" + percent(std::abs(more) / comparison.step.predicted) + ")";
  out += "\n";
  for (const std::string& note : comparison.notes) out += "note: " + note + "\n";
  return out + "\n" + compared_table(comparison) + compared_collectives(comparison.collectives) +
         compared_layers(comparison.layers) + kernels_text(step) + streams_text(step);
}

}  // namespace shardscape

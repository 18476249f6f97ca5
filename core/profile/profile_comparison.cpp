#include "profile/profile_comparison.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <tuple>

#include "base/units.h"
#include "plan/rank_mesh.h"
#include "plan/stage_layout.h"

namespace shardscape {
namespace {

using Category = ProfileCategory;

template <class Row>
void largest_first(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::abs(a.difference()) > std::abs(b.difference());
  });
}

// The counterparts of the categories of a profile. Every category of a simulation occurs once. Receives of
// NCCL run while they wait, so the bubble is a part of the messages of a profile.
std::vector<TimeCategory> counterparts(Category category) {
  switch (category) {
    case Category::MatrixProducts: return {TimeCategory::MatrixProducts};
    case Category::Attention: return {TimeCategory::Attention};
    case Category::Optimizer: return {TimeCategory::Optimizer};
    case Category::MemoryBound: return {TimeCategory::MemoryBound};
    case Category::Collectives:
      return {TimeCategory::TensorComm, TimeCategory::ContextComm, TimeCategory::ExpertComm,
              TimeCategory::DataComm};
    case Category::Messages: return {TimeCategory::PipelineComm, TimeCategory::Bubble};
    case Category::LaunchGaps: return {TimeCategory::Host};
    case Category::Unknown:
    case Category::Copies:
    case Category::OtherIdle: return {};
  }
  return {};
}

std::vector<ComparedTime> compared_parts(const ProfiledStep& step, const StageTimes& times) {
  std::vector<ComparedTime> out;
  for (int c = 0; c < kProfileCategoryCount; ++c) {
    const auto category = static_cast<Category>(c);
    ComparedTime row{std::string(profile_category_name(category)),
                     std::string(profile_category_label(category)), step.categories[static_cast<size_t>(c)],
                     0};
    for (const TimeCategory part : counterparts(category))
      row.predicted += times.seconds[static_cast<size_t>(part)];
    if (row.measured > 0 || row.predicted > 0) out.push_back(std::move(row));
  }
  largest_first(out);
  return out;
}

bool has_groups(const ProfiledStep& step) {
  return std::all_of(step.collectives.begin(), step.collectives.end(), [](const auto& row) {
    return row.first.kind == CollectiveKind::SendRecv || row.first.group_size > 0;
  });
}

CollectiveKey compared_key(CollectiveKey key, bool groups) {
  if (key.kind == CollectiveKind::SendRecv || !groups) return {key.kind, 0, {}, false};
  return key;
}

// times: null without a simulation.
std::vector<ComparedCollective> collective_rows(const ProfiledStep& step, const StageReport& stage,
                                                const StageTimes* times) {
  std::map<CollectiveKey, ComparedCollective> rows;
  const bool groups = has_groups(step);
  for (const auto& [key, total] : step.collectives) {
    ComparedCollective& row = rows[compared_key(key, groups)];
    row.measured_calls += total.calls;
    row.measured_bytes += total.bytes;
    row.measured_seconds += total.seconds;
    row.sized = row.sized && std::abs(total.sized_calls - total.calls) < 1e-9;
  }
  for (size_t i = 0; i < stage.collectives.size(); ++i) {
    const CollectiveValue& value = stage.collectives[i];
    if (value.group_size < 2 || value.count.value == 0) continue;
    const CollectiveKind kind = value.op.is_message() ? CollectiveKind::SendRecv
                                                      : *find_collective_kind(value.op.name());
    const bool small = static_cast<double>(value.bytes.value) <=
                       kSmallCollective * static_cast<double>(value.count.value);
    ComparedCollective& row = rows[compared_key(
        {kind, value.group_size, std::string(dtype_name(value.dtype)), small}, groups)];
    row.predicted_calls += static_cast<double>(value.count.value);
    row.predicted_bytes += static_cast<double>(value.bytes.value);
    if (times && value.op.part() != CommPart::Send) row.predicted_seconds += times->collectives[i].seconds;
  }
  std::vector<ComparedCollective> out;
  for (auto& [key, row] : rows) {
    row.key = key;
    out.push_back(std::move(row));
  }
  return out;
}

// Seconds of the layers of the stage, by layer of the model.
std::map<int64_t, ComparedLayer> predicted_layers(const Report& report, const StageReport& stage,
                                                  const StageTimes& times) {
  std::map<int64_t, ComparedLayer> out;
  const StageLayout layout = stage_layout(report, stage);
  for (const SimulatedLayer& simulated : times.layers) {
    const int64_t layer = layout.instances[static_cast<size_t>(simulated.instance)].layer;
    if (layer < 0) continue;
    ComparedLayer& into = out[layer];
    into.layer = layer;
    (simulated.part == Part::Forward ? into.forward : into.backward).predicted += simulated.end -
                                                                                  simulated.begin;
  }
  return out;
}

std::vector<ComparedLayer> compared_layers(const ProfiledStep& step, const Report& report,
                                           const StageReport& stage, const StageTimes& times,
                                           std::vector<std::string>& notes) {
  std::vector<ComparedLayer> out;
  if (step.layers.empty()) return out;
  const auto predicted = predicted_layers(report, stage, times);
  if (predicted.size() != step.layers.size()) {
    notes.push_back("the profile has " + std::to_string(step.layers.size()) + " layers (" +
                    step.layer_ranges + "), stage " + std::to_string(stage.stage) + " of the design has " +
                    std::to_string(predicted.size()) + ": layers are not compared");
    return out;
  }
  auto measured = step.layers.begin();  // a program counts the layers of its own stage from 0
  for (const auto& [number, layer] : predicted) {
    ComparedLayer row = layer;
    row.name = measured->name;
    row.forward.measured = measured->forward;
    row.backward.measured = measured->backward;
    ++measured;
    out.push_back(std::move(row));
  }
  largest_first(out);
  return out;
}

// The first word with a digit behind a letter: "A100" of "NVIDIA A100-SXM4-80GB". "" if there is none.
std::string product_word(const std::string& device) {
  std::string word;
  bool digit = false;
  for (const char c : device + ' ') {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalpha(byte) || (std::isdigit(byte) && !word.empty())) {
      word += static_cast<char>(std::toupper(byte));
      digit = digit || std::isdigit(byte);
    } else if (digit) {
      return word;
    } else {
      word.clear();
    }
  }
  return {};
}

bool other_product(const std::string& device, const std::string& accelerator) {
  const std::string a = product_word(device), b = product_word(accelerator);
  return !a.empty() && !b.empty() && a != b;
}

}  // namespace

bool ComparedCollective::same_volume() const {
  const auto same = [](double a, double b) { return std::abs(a - b) <= 1e-6 * std::max({1.0, a, b}); };
  return same(measured_calls, predicted_calls) && (!sized || same(measured_bytes, predicted_bytes));
}

std::vector<ComparedCollective> compare_collectives(const ProfiledStep& step, const StageReport& stage) {
  return collective_rows(step, stage, nullptr);
}

ProfileComparison compare_profile(const RankProfile& profile, const Report& report,
                                  const Simulation& simulation) {
  const auto& [rank, ranks] = std::tie(profile.rank, profile.ranks);
  const ProfiledStep& step = profile.step;
  ProfileComparison out;
  const std::string& accelerator = simulation.machine.accelerator->name;
  if (other_product(profile.device, accelerator))
    out.notes.push_back("the profile is of " + profile.device + ", the design has " + accelerator);
  if (ranks && *ranks != report.ranks)
    out.notes.push_back("the profiled job has " + grouped(*ranks) + " ranks, the design has " +
                        grouped(report.ranks));
  if (rank && *rank < report.ranks)
    out.stage = stage_of_rank(report, *rank);
  else if (report.stages.size() > 1)
    out.notes.push_back("the profile does not say which stage it ran: stage 0 is compared");
  const auto stage = static_cast<size_t>(out.stage);
  const StageTimes& times = simulation.stages[stage];
  out.step = {"step", "Step", step.seconds, simulation.step_seconds};
  out.parts = compared_parts(step, times);
  out.collectives = collective_rows(step, report.stages[stage], &times);
  std::stable_sort(out.collectives.begin(), out.collectives.end(), [](const auto& a, const auto& b) {
    return std::abs(a.measured_seconds - a.predicted_seconds) >
           std::abs(b.measured_seconds - b.predicted_seconds);
  });
  if (!has_groups(step))
    out.notes.push_back(
        "the profile does not record the groups and sizes of its collectives: they are "
        "compared by kind");
  out.layers = compared_layers(step, report, report.stages[stage], times, out.notes);
  return out;
}

}  // namespace shardscape

#include "ui/views/profile/profile_models.h"

#include <algorithm>
#include <cmath>

#include "ui/plot/comparison_cells.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

TableCell time_cell(double seconds) { return real_cell(seconds, time_text(seconds)); }
TableCell difference_cell(double seconds) { return real_cell(seconds, difference_text(seconds)); }
TableCell share_cell(double share) { return real_cell(100 * share, percent_text(share)); }
TableCell calls_cell(double calls) {
  const double whole = std::round(calls);
  return real_cell(calls, std::abs(calls - whole) < 1e-6 ? grouped_text(static_cast<Wide>(whole))
                                                         : QString::number(calls, 'f', 1));
}
TableCell bytes_cell(double bytes, bool recorded, UnitSystem units) {
  return recorded ? number_cell(static_cast<Wide>(std::llround(bytes)),
                                bytes_text(static_cast<Wide>(std::llround(bytes)), units))
                  : no_cell();
}

QString collective_text(const CollectiveKey& key) {
  QString out = words(collective_kind_name(key.kind));
  if (key.group_size > 0) out += ProfilePartModel::tr(" over %1 ranks").arg(grouped_text(key.group_size));
  if (!key.dtype.empty()) out += QStringLiteral(", ") + text_of(key.dtype);
  if (key.small) out += ProfilePartModel::tr(", at most 1 KiB each");
  return out;
}

}  // namespace

QString time_text(double seconds) { return seconds == 0 ? QStringLiteral("0") : seconds_text(seconds); }

QString difference_text(double seconds) {
  if (seconds == 0) return QStringLiteral("0");
  return (seconds < 0 ? QString(QChar(0x2212)) : QStringLiteral("+")) + seconds_text(std::abs(seconds));
}

QString rank_text(const RankProfile& profile) {
  return profile.rank ? ProfilePartModel::tr("rank %1").arg(*profile.rank) : text_of(profile.file);
}

std::vector<ComparedTime> measured_parts(const ProfiledStep& step) {
  std::vector<ComparedTime> out;
  for (size_t i = 0; i < step.categories.size(); ++i) {
    const auto category = static_cast<ProfileCategory>(i);
    if (step.categories[i] > 0)
      out.push_back({std::string(profile_category_name(category)),
                     std::string(profile_category_label(category)), step.categories[i], 0});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const ComparedTime& a, const ComparedTime& b) { return a.measured > b.measured; });
  return out;
}

void ProfilePartModel::setParts(const std::vector<ComparedTime>& parts, const ComparedTime& step,
                                bool predicted) {
  std::vector<TableColumn> columns{
      {tr("Part of the step"), QStringLiteral("part"), false, {}},
      {tr("Measured"), QStringLiteral("measured (s)"), true, {}},
      {tr("Share"), QStringLiteral("share (%)"), true, tr("Of the measured step")}};
  if (predicted) {
    columns.push_back({tr("Predicted"), QStringLiteral("predicted (s)"), true, {}});
    columns.push_back(
        {tr("Difference"), QStringLiteral("difference (s)"), true, tr("Measured minus predicted")});
  }
  Rows rows;
  const auto add = [&](const ComparedTime& part, bool strong) {
    rows.push_back({text_cell(text_of(part.label), text_of(part.key)), time_cell(part.measured),
                    share_cell(step.measured > 0 ? part.measured / step.measured : 0)});
    if (predicted) {
      rows.back().push_back(time_cell(part.predicted));
      rows.back().push_back(difference_cell(part.difference()));
    }
    if (strong)
      for (TableCell& cell : rows.back()) cell.strong = true;
  };
  for (const ComparedTime& part : parts) add(part, false);
  add(step, true);
  assign(std::move(columns), std::move(rows));
}

void ProfileCollectiveModel::setCollectives(const ProfiledStep& step, const ProfileComparison* comparison,
                                            UnitSystem units) {
  Rows rows;
  std::vector<TableColumn> columns{{tr("Collective"), QStringLiteral("collective"), false, {}},
                                   {tr("Calls"), QStringLiteral("calls"), true, {}}};
  const TableColumn bytes{tr("Bytes"), QStringLiteral("bytes"), true, tr("Of the full buffers of a step")};
  const TableColumn time{tr("Time"), QStringLiteral("time (s)"), true, {}};
  if (comparison) {
    columns.insert(columns.end(), {{tr("Calls\npredicted"), QStringLiteral("predicted calls"), true, {}},
                                   bytes,
                                   {tr("Bytes\npredicted"), QStringLiteral("predicted bytes"), true, {}},
                                   time,
                                   {tr("Time\npredicted"), QStringLiteral("predicted time (s)"), true, {}}});
    for (const ComparedCollective& row : comparison->collectives) {
      const bool measured = row.measured_calls > 0;
      rows.push_back({text_cell(collective_text(row.key)), calls_cell(row.measured_calls),
                      calls_cell(row.predicted_calls),
                      bytes_cell(row.measured_bytes, row.sized || !measured, units),
                      bytes_cell(row.predicted_bytes, true, units), time_cell(row.measured_seconds),
                      time_cell(row.predicted_seconds)});
      rows.back().front().alarm = !row.same_volume();
      if (!row.same_volume()) rows.back().front().tip = tr("The run and the design differ in calls or bytes");
    }
  } else {
    columns.insert(columns.end(), {bytes, time, {tr("Exposed"), QStringLiteral("exposed (s)"), true, {}}});
    for (const auto& [key, total] : step.collectives)
      rows.push_back({text_cell(collective_text(key)), calls_cell(total.calls),
                      bytes_cell(total.bytes, total.sized_calls > 0, units), time_cell(total.seconds),
                      time_cell(total.exposed)});
  }
  assign(std::move(columns), std::move(rows));
}

void ProfileLayerModel::setLayers(const ProfiledStep& step, const ProfileComparison* comparison) {
  Rows rows;
  std::vector<TableColumn> columns{{tr("Layer"), QStringLiteral("layer"), false, {}},
                                   {tr("Forward"), QStringLiteral("forward (s)"), true, {}}};
  if (comparison) {
    columns.insert(columns.end(),
                   {{tr("Forward\npredicted"), QStringLiteral("predicted forward (s)"), true, {}},
                    {tr("Backward"), QStringLiteral("backward (s)"), true, {}},
                    {tr("Backward\npredicted"), QStringLiteral("predicted backward (s)"), true, {}},
                    {tr("Difference"), QStringLiteral("difference (s)"), true, {}}});
    for (const ComparedLayer& layer : comparison->layers)
      rows.push_back({text_cell(text_of(layer.name)), time_cell(layer.forward.measured),
                      time_cell(layer.forward.predicted), time_cell(layer.backward.measured),
                      time_cell(layer.backward.predicted), difference_cell(layer.difference())});
  } else {
    columns.push_back({tr("Backward"), QStringLiteral("backward (s)"), true, {}});
    for (const ProfiledLayer& layer : step.layers)
      rows.push_back({text_cell(text_of(layer.name)), time_cell(layer.forward), time_cell(layer.backward)});
  }
  assign(std::move(columns), std::move(rows));
}

void ProfileKernelModel::setKernels(const ProfiledStep& step) {
  Rows rows;
  for (const KernelRow& kernel : step.kernels)
    rows.push_back({text_cell(text_of(kernel.name)),
                    text_cell(text_of(profile_category_label(kernel.category))), calls_cell(kernel.calls),
                    time_cell(kernel.seconds), share_cell(kernel.seconds / step.seconds)});
  assign({{tr("Kernel"), QStringLiteral("kernel"), false, {}},
          {tr("Kind"), QStringLiteral("kind"), false, {}},
          {tr("Calls"), QStringLiteral("calls"), true, {}},
          {tr("Time"), QStringLiteral("time (s)"), true, {}},
          {tr("Share"), QStringLiteral("share (%)"), true, tr("Of the step")}},
         std::move(rows));
}

void ProfileRankModel::setRanks(const std::vector<RankProfile>& ranks) {
  Rows rows;
  for (const RankProfile& rank : ranks)
    rows.push_back({text_cell(rank_text(rank)), time_cell(rank.step.seconds), time_cell(rank.compute()),
                    time_cell(rank.exposed()),
                    time_cell(rank.step.categories[static_cast<size_t>(ProfileCategory::LaunchGaps)])});
  assign({{tr("Profile"), QStringLiteral("profile"), false, {}},
          {tr("Step"), QStringLiteral("step (s)"), true, {}},
          {tr("Compute"), QStringLiteral("compute (s)"), true, {}},
          {tr("Exposed\ncommunication"), QStringLiteral("exposed communication (s)"), true, {}},
          {tr("Launch gaps"), QStringLiteral("launch gaps (s)"), true, {}}},
         std::move(rows));
}

}  // namespace shardscape::ui

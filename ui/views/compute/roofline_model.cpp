#include "ui/views/compute/roofline_model.h"

#include <algorithm>

#include "ui/views/compute/roofline_canvas.h"

namespace shardscape::ui {
void RooflineModel::setRoofline(const Report& report, const Roofline& roofline, UnitSystem units,
                                const std::vector<ComparedRoofline>& others) {
  Rows rows;
  for (auto it = roofline.points.rbegin(); it != roofline.points.rend(); ++it) {
    const RooflinePoint& point = *it;
    const Op& op = report.graph().segments[static_cast<size_t>(point.segment)].op(point.op);
    const double share = point.rate() / std::max(1.0, roofline.attainable(point));
    rows.push_back(
        {text_cell(roofline_title(report, point)),
         text_cell(words(phase_name(op.phase)), text_of(phase_name(op.phase))),
         text_cell(text_of(dtype_name(point.compute))),
         number_cell(static_cast<Wide>(point.flops), flops_text(static_cast<Wide>(point.flops))),
         number_cell(static_cast<Wide>(point.bytes), bytes_text(static_cast<Wide>(point.bytes), units)),
         real_cell(point.intensity(), QString::fromStdString(significant(point.intensity()))),
         real_cell(point.seconds, QString::fromStdString(format_seconds(point.seconds))),
         real_cell(point.rate() * 1e-12, QString::fromStdString(significant(point.rate() * 1e-12))),
         real_cell(share, percent_text(share))});
    for (const ComparedRoofline& other : others) {
      const int same = same_point(report, point, other);
      const std::optional<double> takes = same < 0
                                              ? std::nullopt
                                              : std::optional(
                                                    other.roofline.points[static_cast<size_t>(same)].seconds);
      for (TableCell& cell : comparisonCells(point.seconds, takes, [](double seconds) {
             return QString::fromStdString(format_seconds(seconds));
           }))
        rows.back().push_back(std::move(cell));
    }
  }
  std::vector<TableColumn> columns{
      {tr("Operation"), QStringLiteral("operation"), false, {}},
      {tr("Phase"), QStringLiteral("phase"), false, {}},
      {tr("Type"), QStringLiteral("compute type"), false, tr("Precision of the arithmetic")},
      {tr("FLOPs"), QStringLiteral("FLOP"), true, tr("Of one run on one rank")},
      {tr("Bytes"), QStringLiteral("bytes"), true, tr("Read from memory and written to it")},
      {tr("FLOP/byte"), QStringLiteral("FLOP per byte"), true, {}, true},
      {tr("Takes"), QStringLiteral("seconds"), true, {}},
      {tr("TFLOP/s"), QStringLiteral("TFLOP per second"), true, {}, true},
      {tr("Of roof"), QStringLiteral("share of attainable"), true,
       tr("Share of the roof: the lower of the peak and FLOPs per byte times the bandwidth (of the cache for "
          "ops that fit into it). Fused ops can exceed the roof")}};
  for (const ComparedRoofline& other : others)
    for (TableColumn& column :
         comparisonColumns(other.member, tr("takes"), QStringLiteral("seconds"),
                           tr("On the stage at the same relative place of its pipeline")))
      columns.push_back(std::move(column));
  assign(std::move(columns), std::move(rows));
}

}  // namespace shardscape::ui

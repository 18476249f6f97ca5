// Time to draw the timeline of 64 stages, 128 microbatches and 8 virtual stages into a 1100x640 image at
// several zoom levels.
#include <QApplication>
#include <QElapsedTimer>
#include <QImage>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "support/bench_figures.h"
#include "timing/schedule_simulation.h"
#include "ui/toolkit/theme.h"
#include "ui/views/timeline/gantt_painter.h"
#include "ui/views/timeline/spans_model.h"

using namespace shardscape;
using namespace shardscape::ui;
using bench::Figure;

namespace {

constexpr int kStages = 64, kMicrobatches = 128, kChunks = 8, kRounds = 40;
const QSize kImage(1100, 640);

void measure(const std::string& name, const GanttSteps& steps, const GanttView& view, bool critical,
             std::vector<Figure>& figures) {
  QImage image(kImage, QImage::Format_ARGB32_Premultiplied);
  std::vector<double> times;
  GanttMarks marks;
  LaidOutTexts texts;
  marks.ground = Theme::instance().colors().ground;
  marks.critical = critical;
  for (int round = -3; round < kRounds; ++round) {  // the first rounds fill glyph caches
    QElapsedTimer timer;
    timer.start();
    QPainter painter(&image);
    painter.fillRect(image.rect(), marks.ground);
    const GanttLayout layout(QRectF(QPointF(), QSizeF(kImage)), steps, view);
    paint_gantt(painter, layout, marks, {}, texts);
    painter.end();
    if (round >= 0) times.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
  }
  figures.push_back({name + ", median", bench::percentile(times, 0.5), "ms", "< 16 ms"});
  figures.push_back({name + ", 95th percentile", bench::percentile(times, 0.95), "ms", ""});
}

}  // namespace

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  Theme::instance().setMode(Theme::Mode::Light);
  const auto report = make_report(default_design());
  ActionSeconds seconds;
  seconds.forward = 0.010;
  seconds.backward_input = 0.011;
  seconds.backward_weight = 0.010;
  seconds.message = 0.0008;
  const auto simulation = std::make_shared<const Simulation>(
      simulate_schedule(make_schedule(ScheduleKind::OneFOneB, kStages, kMicrobatches, kChunks), seconds));
  QElapsedTimer timer;
  timer.start();
  const auto lanes = std::make_shared<const Lanes>(simulation);
  const double layout_ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
  const double step = simulation->step_seconds;
  const GanttSteps alone{{0, {}, report, lanes, -1}};
  GanttSteps five;
  for (int member = 0; member < 5; ++member)
    five.push_back({member, QStringLiteral("tp 8"), report, lanes, -1});
  std::vector<Figure> figures;
  measure("whole step", alone, {0, step, 0}, false, figures);
  measure("whole step, critical path", alone, {0, step, 0}, true, figures);
  measure("a tenth", alone, {step * 0.45, step / 10, 0}, false, figures);
  measure("a hundredth", alone, {step * 0.5, step / 100, 300}, false, figures);
  measure("one box", alone, {step * 0.5, 0.05, 300}, false, figures);
  measure("five designs, whole step", five, {0, step, 0}, false, figures);
  SpansModel table;
  timer.restart();
  table.setLanes(lanes, kStages / 2, {{1, lanes}, {2, lanes}, {3, lanes}, {4, lanes}});
  const double table_ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
  timer.restart();
  // As many rows as determine the widths of columns.
  for (int row = 0; row < std::min(1000, table.rowCount()); ++row)
    for (int column = 0; column < table.columnCount(); ++column) table.index(row, column).data();
  const double texts_ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
  figures.push_back({"layout", layout_ms, "ms", ""});
  figures.push_back({"table of a stage next to four designs", table_ms, "ms", ""});
  figures.push_back({"texts of its first 1,000 rows", texts_ms, "ms", ""});
  return bench::report_figures("Drawing " + std::to_string(kStages) + " stages x " +
                                   std::to_string(kMicrobatches) + " microbatches x " +
                                   std::to_string(kChunks) + " virtual stages into 1100x640",
                               figures, argc, argv);
}

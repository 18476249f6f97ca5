// Time to draw the timeline of 64 stages, 128 microbatches and 8 virtual stages into a 1100x640 image at
// several zoom levels.
#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QImage>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "timing/schedule_simulation.h"
#include "ui/toolkit/theme.h"
#include "ui/views/timeline/gantt_painter.h"
#include "ui/views/timeline/spans_model.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

constexpr int kStages = 64, kMicrobatches = 128, kChunks = 8, kRounds = 40;
const QSize kImage(1100, 640);

struct Row {
  std::string name;
  double median, p95;
};

Row measure(const std::string& name, const GanttSteps& steps, const GanttView& view, bool critical) {
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
  std::sort(times.begin(), times.end());
  return {name, times[times.size() / 2], times[times.size() * 95 / 100]};
}

}  // namespace

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  const QStringList arguments = app.arguments();
  const qsizetype json = arguments.indexOf("--json");
  if (json > 0 && json + 1 >= arguments.size()) {
    std::fprintf(stderr, "--json wants a file\n");
    return 2;
  }
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
  const std::vector<Row> rows{measure("whole step", alone, {0, step, 0}, false),
                              measure("whole step, critical path", alone, {0, step, 0}, true),
                              measure("a tenth", alone, {step * 0.45, step / 10, 0}, false),
                              measure("a hundredth", alone, {step * 0.5, step / 100, 300}, false),
                              measure("one box", alone, {step * 0.5, 0.05, 300}, false),
                              measure("five designs, whole step", five, {0, step, 0}, false)};
  SpansModel table;
  timer.restart();
  table.setLanes(lanes, kStages / 2, {{1, lanes}, {2, lanes}, {3, lanes}, {4, lanes}});
  const double table_ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
  timer.restart();
  // As many rows as determine the widths of columns.
  for (int row = 0; row < std::min(1000, table.rowCount()); ++row)
    for (int column = 0; column < table.columnCount(); ++column) table.index(row, column).data();
  const double texts_ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
  std::printf(
      "timeline drawing, %d stages, %d microbatches, %d virtual stages: %zu boxes, laid out in %.1f ms; "
      "image %dx%d, %d rounds\n",
      kStages, kMicrobatches, kChunks, lanes->items(), layout_ms, kImage.width(), kImage.height(), kRounds);
  std::printf(
      "table of a stage compared with four designs: %d rows matched in %.1f ms, texts of the first 1,000 in "
      "%.1f "
      "ms\n",
      table.rowCount(), table_ms, texts_ms);
  std::printf("%-28s %12s %12s   aim: median under 16 ms\n", "view", "median ms", "95 % ms");
  for (const Row& row : rows) std::printf("%-28s %12.2f %12.2f\n", row.name.c_str(), row.median, row.p95);
  if (json > 0) {
    QFile file(arguments[json + 1]);
    if (!file.open(QIODevice::WriteOnly)) {
      std::fprintf(stderr, "cannot write %s: %s\n", qPrintable(file.fileName()),
                   qPrintable(file.errorString()));
      return 1;
    }
    QByteArray text = QString("{\"bench\": \"timeline_draw\", \"boxes\": %1, \"layout_ms\": %2, \"views\": [")
                          .arg(lanes->items())
                          .arg(layout_ms)
                          .toUtf8();
    for (size_t i = 0; i < rows.size(); ++i)
      text += QString("%1{\"view\": \"%2\", \"median_ms\": %3, \"p95_ms\": %4}")
                  .arg(i ? ", " : "", QString::fromStdString(rows[i].name))
                  .arg(rows[i].median)
                  .arg(rows[i].p95)
                  .toUtf8();
    file.write(text + "]}\n");
  }
  return 0;
}

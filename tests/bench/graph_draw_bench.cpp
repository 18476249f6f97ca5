// Time to draw a graph of 5,000 nodes into a 1440x900 image at three zoom levels.
#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QImage>
#include <QPainter>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "ui/toolkit/theme.h"
#include "ui/views/graph/sheet_builder.h"
#include "ui/views/graph/sheet_painter.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

constexpr int kNodes = 5000, kRounds = 60;
const QSize kImage(1440, 900);

// Llama 3.1 405B, fully expanded, forward and backward, with enough layers for the number of nodes.
Design bench_design(int64_t layers) {
  Design design = default_design();
  apply_preset(design, "llama3.1-405b");
  design.model.layers = layers;
  design.parallel.tp = 8;
  design.parallel.pp = 4;
  design.parallel.dp = 1;
  design.parallel.sequence_parallel = true;
  return design;
}

Expanded everything(const GraphTree& tree) {
  Expanded expanded;
  for (int stage = 0; stage < tree.stages(); ++stage) expanded.insert(tree.stage_node(stage));
  for (int unit = 0; unit < tree.units(); ++unit) {
    expanded.insert(tree.unit_node(unit));
    for (const bool backward : {false, true})
      for (const LaneChild& child : tree.lane(tree.segment_of(unit), backward).children)
        if (child.is_block())
          expanded.insert({NodeLevel::Block, tree.stage_of(unit), unit, backward, child.block});
  }
  return expanded;
}

int nodes_in_view(const Sheet& sheet, const ViewTransform& view, QPointF at, const QRectF& clip) {
  int count = 0;
  for (const Piece& piece : sheet.pieces) {
    const QRectF rect = piece.rect.translated(at);
    if (!view.map(rect).intersects(clip)) continue;
    count += 1 +
             (piece.inside ? nodes_in_view(*piece.inside, view, rect.topLeft() + piece.inside_at, clip) : 0);
  }
  return count;
}

struct Row {
  std::string name;
  double zoom;
  int nodes;
  double median, p95;
};

Row measure(const std::string& name, const Sheet& sheet, double zoom, QPointF middle,
            const SheetFonts& fonts) {
  QImage image(kImage, QImage::Format_ARGB32_Premultiplied);
  const QRectF clip{QPointF(), QSizeF(kImage)};
  const ViewTransform view{zoom, clip.center() - middle * zoom};
  std::vector<double> times;
  for (int round = -3; round < kRounds; ++round) {  // the first rounds fill glyph caches
    QElapsedTimer timer;
    timer.start();
    QPainter painter(&image);
    painter.fillRect(image.rect(), Theme::instance().colors().ground);
    paint_sheet(painter, sheet, view, clip, fonts, {});
    painter.end();
    if (round >= 0) times.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
  }
  std::sort(times.begin(), times.end());
  return {name, zoom, nodes_in_view(sheet, view, {}, clip), times[times.size() / 2],
          times[times.size() * 95 / 100]};
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
  const Theme& theme = Theme::instance();
  const SheetFonts fonts{theme.uiFont(13, QFont::DemiBold), theme.uiFont(13), theme.monoFont(12),
                         theme.monoFont(11), theme.uiFont(12)};

  std::shared_ptr<const Sheet> sheet;
  double layout_ms = 0;
  int64_t layers = 4;
  for (; layers <= 400; layers += 4) {
    const auto report = make_report(bench_design(layers));
    if (!report || !report->valid()) {
      std::fprintf(stderr, "no report for %lld layers: %s\n", static_cast<long long>(layers),
                   report && !report->problems.empty() ? to_string(report->problems.front()).c_str() : "");
      return 1;
    }
    const GraphTree tree(report);
    const Expanded expanded = everything(tree);
    SheetCache cache;
    QElapsedTimer timer;
    timer.start();
    sheet = SheetBuilder(tree, {Passes::Both, false, UnitSystem::Binary}, fonts, expanded, cache, {}).root();
    layout_ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    if (sheet->nodes >= kNodes) break;
  }

  const double fit = std::min(kImage.width() / sheet->size.width(), kImage.height() / sheet->size.height());
  const QPointF middle(sheet->size.width() / 2, sheet->size.height() / 2);
  const std::vector<Row> rows{measure("whole graph", *sheet, fit, middle, fonts),
                              measure("half way", *sheet, 0.25, middle, fonts),
                              measure("near", *sheet, 1, middle, fonts)};
  std::printf(
      "graph drawing, %d nodes (%lld layers, both directions, all unfolded), layout %.1f ms, image %dx%d, %d "
      "rounds\n",
      sheet->nodes, static_cast<long long>(layers), layout_ms, kImage.width(), kImage.height(), kRounds);
  std::printf("%-14s %8s %14s %12s %12s   aim: median under 16 ms\n", "view", "zoom", "nodes in view",
              "median ms", "95 % ms");
  for (const Row& row : rows)
    std::printf("%-14s %8.4f %14d %12.2f %12.2f\n", row.name.c_str(), row.zoom, row.nodes, row.median,
                row.p95);
  if (json > 0) {
    QFile file(arguments[json + 1]);
    if (!file.open(QIODevice::WriteOnly)) {
      std::fprintf(stderr, "cannot write %s: %s\n", qPrintable(file.fileName()),
                   qPrintable(file.errorString()));
      return 1;
    }
    QByteArray text = QString("{\"bench\": \"graph_draw\", \"nodes\": %1, \"layout_ms\": %2, \"views\": [")
                          .arg(sheet->nodes)
                          .arg(layout_ms)
                          .toUtf8();
    for (size_t i = 0; i < rows.size(); ++i)
      text += QString(
                  "%1{\"view\": \"%2\", \"zoom\": %3, \"nodes_in_view\": %4, \"median_ms\": %5, \"p95_ms\": "
                  "%6}")
                  .arg(i ? ", " : "", QString::fromStdString(rows[i].name))
                  .arg(rows[i].zoom)
                  .arg(rows[i].nodes)
                  .arg(rows[i].median)
                  .arg(rows[i].p95)
                  .toUtf8();
    file.write(text + "]}\n");
  }
  return 0;
}

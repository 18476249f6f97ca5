// Time to draw a graph of 5,000 nodes into a 1440x900 image at three zoom levels.
#include <QApplication>
#include <QElapsedTimer>
#include <QImage>
#include <QPainter>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "support/bench_figures.h"
#include "ui/toolkit/theme.h"
#include "ui/views/graph/sheet_builder.h"
#include "ui/views/graph/sheet_painter.h"

using namespace shardscape;
using namespace shardscape::ui;
using bench::Figure;

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

void measure(const std::string& name, const Sheet& sheet, double zoom, QPointF middle,
             const SheetFonts& fonts, std::vector<Figure>& figures) {
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
  const std::string of = name + ", " + std::to_string(nodes_in_view(sheet, view, {}, clip)) + " nodes, ";
  figures.push_back({of + "median", bench::percentile(times, 0.5), "ms", "< 16 ms"});
  figures.push_back({of + "95th percentile", bench::percentile(times, 0.95), "ms", ""});
}

}  // namespace

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
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
    sheet = SheetBuilder(tree, {.passes = Passes::Both}, fonts, expanded, cache, {}).root();
    layout_ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    if (sheet->nodes >= kNodes) break;
  }

  const double fit = std::min(kImage.width() / sheet->size.width(), kImage.height() / sheet->size.height());
  const QPointF middle(sheet->size.width() / 2, sheet->size.height() / 2);
  std::vector<Figure> figures;
  measure("whole graph", *sheet, fit, middle, fonts, figures);
  measure("half way", *sheet, 0.25, middle, fonts, figures);
  measure("near", *sheet, 1, middle, fonts, figures);
  figures.push_back({"layout", layout_ms, "ms", ""});
  return bench::report_figures("Drawing " + std::to_string(sheet->nodes) + " graph nodes into 1440x900",
                               figures, argc, argv);
}

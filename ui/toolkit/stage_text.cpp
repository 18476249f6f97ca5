#include "ui/toolkit/stage_text.h"

#include <QCoreApplication>
#include <QStringList>

#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("StageText", text); }

QString range_text(const StageChunk& chunk) {
  if (chunk.layers == 0) return tr("none");
  const QString first = grouped_text(chunk.first_layer);
  return chunk.layers == 1
             ? first
             : QStringLiteral("%1 … %2").arg(first, grouped_text(chunk.first_layer + chunk.layers - 1));
}

}  // namespace

QString layers_text(const StageReport& stage) {
  if (stage.chunks.size() < 2) return counted_text(stage.layers, tr("layer"), tr("layers"));
  QStringList ranges;
  for (const StageChunk& chunk : stage.chunks) ranges.append(range_text(chunk));
  return tr("layers %1").arg(ranges.join(QStringLiteral(" | ")));
}

QString in_flight_text(const StageReport& stage) {
  return stage.chunks.size() < 2
             ? counted_text(stage.in_flight, tr("microbatch in flight"), tr("microbatches in flight"))
             : counted_text(stage.in_flight, tr("microbatch chunk in flight"),
                            tr("microbatch chunks in flight"));
}

}  // namespace shardscape::ui

#include "ui/plot/picture_caption.h"

#include <QCoreApplication>
#include <QStringList>

#include "base/units.h"
#include "base/version.h"
#include "hardware/accelerator.h"
#include "hardware/network_catalogue.h"
#include "plan/report.h"
#include "ui/session/comparisons.h"
#include "ui/session/session.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("PictureCaption", text); }

// "8 x NVIDIA H100 SXM 80 GB". Also of designs that are not valid.
QString cluster_text(const Design& design) {
  const ClusterSpec& cluster = design.cluster;
  const ParallelSpec& p = design.parallel;
  const Wide ranks = static_cast<Wide>(p.tp) * p.pp * p.dp * p.cp;
  const Accelerator* accelerator = find_accelerator(cluster.accelerator);
  const QString name = tr("%1 × %2").arg(text_of(grouped(ranks)),
                                         text_of(accelerator ? accelerator->name : cluster.accelerator));
  return cluster.network == "auto" ? name : tr("%1, network %2").arg(name, text_of(cluster.network));
}

}  // namespace

QString designCaption(const Design& design) {
  const WorkloadSpec& w = design.workload;
  QStringList parts{Comparisons::nameOf(design)};
  parts << (w.mode == Mode::Decode ? tr("context %1").arg(text_of(grouped(w.context_length)))
                                   : tr("sequence %1").arg(text_of(grouped(w.seq))))
        << tr("batch %1").arg(text_of(grouped(w.batch)))
        << tr("microbatch %1").arg(text_of(grouped(w.microbatch))) << cluster_text(design);
  return parts.join(QStringLiteral(" · "));
}

QString pictureCaption(const Session& session, QDate day) {
  const bool shown = !session.current() && session.report();
  const QString present = designCaption(shown ? session.report()->design : session.design());
  QStringList lines;
  if (session.comparisons()->size() == 0) {
    lines << present;
  } else {
    for (int place = 0; place <= session.comparisons()->size(); ++place) {
      const int member = Comparisons::place(place);
      lines << QStringLiteral("%1: %2").arg(
          Comparisons::letter(member),
          member == 0 ? present
                      : designCaption(session.comparisons()->all()[static_cast<size_t>(member - 1)].design));
    }
  }
  lines << tr("Shardscape %1 · %2").arg(QString::fromLatin1(program_version()), day.toString(Qt::ISODate));
  return lines.join(u'\n');
}

}  // namespace shardscape::ui

#include "ui/toolkit/band_tip.h"

#include <QCoreApplication>

namespace shardscape::ui {

QString bandTip(const QString& range, const ErrorBand& band) {
  return QCoreApplication::translate("BandTip", "80 % band: %1, from the errors of %2.")
      .arg(range, QString::fromStdString(band.basis));
}

}  // namespace shardscape::ui

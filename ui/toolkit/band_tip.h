// The text of a tool tip on a band: the range, and the measured rows behind it.
#pragma once

#include <QString>

#include "accuracy/error_band.h"

namespace shardscape::ui {

// range: "8.41 s to 10.3 s".
QString bandTip(const QString& range, const ErrorBand& band);

}  // namespace shardscape::ui

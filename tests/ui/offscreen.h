// Set up before the application of a window test exists: no screen, and settings of the test only.
#pragma once

#include <unistd.h>

#include <QDir>
#include <QSettings>
#include <QStandardPaths>

namespace shardscape {

inline void go_offscreen() {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QStandardPaths::setTestModeEnabled(true);
  QSettings::setPath(QSettings::IniFormat, QSettings::UserScope,
                     QDir::tempPath() + QString("/shardscape-test-%1").arg(getpid()));
}

}  // namespace shardscape

// Asks where to save a file.
#pragma once

#include <QString>

class QWidget;

namespace shardscape::ui {

// proposal: folder and name. suffix, without a dot: of names without one. The dialog asks before a file is
// replaced, also the one with the suffix. Empty: cancelled.
QString askWhereToSave(QWidget* parent, const QString& title, const QString& proposal, const QString& filter,
                       const QString& suffix);

}  // namespace shardscape::ui

// The theme of the desktop: the colour scheme that its portal names (org.freedesktop.appearance), followed
// while the program runs.
#pragma once

#include <QObject>
#include <optional>

#include "ui/toolkit/theme.h"

class QDBusVariant;
class QPalette;

namespace shardscape::ui {

class DesktopTheme : public QObject {
  Q_OBJECT
 public:
  // otherwise: the mode if no portal names one.
  explicit DesktopTheme(Theme::Mode otherwise);
  Theme::Mode mode() const { return of_portal_.value_or(otherwise_); }

 Q_SIGNALS:
  void changed();

 private Q_SLOTS:
  void follow(const QString& space, const QString& key, const QDBusVariant& value);

 private:
  void askPortal();
  const Theme::Mode otherwise_;
  std::optional<Theme::Mode> of_portal_;
};

Theme::Mode modeOf(const QPalette& palette);

}  // namespace shardscape::ui

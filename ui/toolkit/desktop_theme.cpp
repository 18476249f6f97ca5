#include "ui/toolkit/desktop_theme.h"

#include <QFileInfo>
#include <QPalette>
#include <QtDBus/QDBusConnection>
#include <QtDBus/QDBusConnectionInterface>
#include <QtDBus/QDBusMessage>
#include <QtDBus/QDBusVariant>

namespace shardscape::ui {
namespace {

constexpr int kPatience = 300;  // ms; a portal that answers later counts as none
constexpr char kService[] = "org.freedesktop.portal.Desktop", kPath[] = "/org/freedesktop/portal/desktop",
               kInterface[] = "org.freedesktop.portal.Settings", kSpace[] = "org.freedesktop.appearance",
               kKey[] = "color-scheme";

// Without an address D-Bus would start a bus of its own.
bool hasSessionBus() {
  return qEnvironmentVariableIsSet("DBUS_SESSION_BUS_ADDRESS") ||
         QFileInfo::exists(qEnvironmentVariable("XDG_RUNTIME_DIR") + QStringLiteral("/bus"));
}

// 1 prefers dark, 2 prefers light, 0 has no preference. The portal wraps a value once, or twice in "Read".
std::optional<Theme::Mode> modeOfScheme(QVariant value) {
  while (value.canConvert<QDBusVariant>()) value = value.value<QDBusVariant>().variant();
  switch (value.toUInt()) {
    case 1: return Theme::Mode::Dark;
    case 2: return Theme::Mode::Light;
    default: return std::nullopt;
  }
}

}  // namespace

DesktopTheme::DesktopTheme(Theme::Mode otherwise) : otherwise_(otherwise) { askPortal(); }

Theme::Mode modeOf(const QPalette& palette) {
  return palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness()
             ? Theme::Mode::Dark
             : Theme::Mode::Light;
}

void DesktopTheme::askPortal() {
  if (!hasSessionBus()) return;
  QDBusConnection bus = QDBusConnection::sessionBus();
  // A portal that does not run is not started: its start takes seconds.
  if (!bus.isConnected() || !bus.interface()->isServiceRegistered(kService)) return;
  bus.connect(kService, kPath, kInterface, "SettingChanged", this,
              SLOT(follow(QString, QString, QDBusVariant)));
  QDBusMessage read = QDBusMessage::createMethodCall(kService, kPath, kInterface, "Read");
  read << QString(kSpace) << QString(kKey);
  const QDBusMessage answer = bus.call(read, QDBus::Block, kPatience);
  if (answer.type() == QDBusMessage::ReplyMessage && !answer.arguments().isEmpty())
    of_portal_ = modeOfScheme(answer.arguments().front());
}

void DesktopTheme::follow(const QString& space, const QString& key, const QDBusVariant& value) {
  if (space != QLatin1String(kSpace) || key != QLatin1String(kKey)) return;
  of_portal_ = modeOfScheme(QVariant::fromValue(value));
  Q_EMIT changed();
}

}  // namespace shardscape::ui

#include "ui/shell/recent_menu.h"

#include <QDir>
#include <QFileInfo>

#include "ui/shell/settings.h"

namespace shardscape::ui {
namespace {

// "~/designs" instead of the home folder's full path.
QString short_folder(const QFileInfo& file) {
  QString folder = QDir::toNativeSeparators(file.absolutePath());
  const QString home = QDir::toNativeSeparators(QDir::homePath());
  if (folder == home || folder.startsWith(home + QDir::separator())) folder.replace(0, home.size(), u'~');
  return folder;
}

}  // namespace

RecentMenu::RecentMenu(QWidget* parent) : QMenu(tr("Open &recent"), parent) {
  setObjectName(QStringLiteral("recent_menu"));
  setToolTipsVisible(true);
  connect(this, &QMenu::aboutToShow, this, &RecentMenu::fill);
  fill();
}

void RecentMenu::fill() {
  clear();
  const QStringList files = settings::recentFiles();
  for (const QString& path : files) {
    const QFileInfo file(path);
    const bool there = file.exists();
    QString name = file.fileName();
    name.replace(u'&', QStringLiteral("&&"));
    QAction* action = addAction(there ? tr("%1  in %2").arg(name, short_folder(file))
                                      : tr("%1  is no longer in %2").arg(name, short_folder(file)));
    action->setToolTip(path);
    action->setEnabled(there);
    connect(action, &QAction::triggered, this, [this, path] { Q_EMIT fileRequested(path); });
  }
  if (files.isEmpty()) addAction(tr("No design was opened or saved yet"))->setEnabled(false);
  addSeparator();
  QAction* reopen = addAction(tr("Open the last design at &start"));
  reopen->setObjectName(QStringLiteral("reopen_last"));
  reopen->setCheckable(true);
  reopen->setChecked(settings::reopensLast());
  connect(reopen, &QAction::toggled, this, [](bool on) { settings::setReopensLast(on); });
  QAction* forget = addAction(tr("&Clear this list"));
  forget->setEnabled(!files.isEmpty());
  connect(forget, &QAction::triggered, this, [] { settings::clearRecentFiles(); });
}

}  // namespace shardscape::ui

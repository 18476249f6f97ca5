#include "ui/shell/render_views.h"

#include <QApplication>
#include <QBuffer>
#include <QDir>
#include <QElapsedTimer>
#include <QTabWidget>
#include <QThread>

#include "base/atomic_write.h"
#include "ui/shell/main_window.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/theme_choice.h"
#include "ui/views/explore/explore_job.h"
#include "ui/views/explore/explore_view.h"
#include "ui/views/graph/graph_view.h"

namespace shardscape::ui {
namespace {

// Waits until layouts, timers and the threads of views are idle.
void waitUntilDrawn(MainWindow& window) {
  QElapsedTimer clock;
  clock.start();
  if (auto* graph = qobject_cast<GraphView*>(window.tabs()->currentWidget())) graph->waitForGraph();
  while (clock.elapsed() < 250 || window.explore()->job()->loading()) {
    QApplication::processEvents(QEventLoop::AllEvents, 20);
    QThread::msleep(5);
  }
}

}  // namespace

Result<QStringList> renderViews(MainWindow& window, const QString& folder) {
  if (!QDir().mkpath(folder)) {
    return Problem{ProblemCode::FolderNotWritable, folder.toStdString(), "the folder cannot be made",
                   "a folder that can be written to"};
  }
  const ThemeChoice theme_before = ThemeChooser::instance().choice();
  QStringList files;
  window.show();
  for (const QSize size : {QSize(1280, 800), QSize(2560, 1440)}) {
    window.resize(size);
    window.resetLayout();
    for (const Theme::Mode mode : {Theme::Mode::Light, Theme::Mode::Dark}) {
      Theme::instance().setMode(mode);
      for (int view = 0; view < viewNames().size(); ++view) {
        window.showView(view);
        waitUntilDrawn(window);
        const QString name = QString("%1-%2-%3x%4.png")
                                 .arg(viewNames()[view].toLower(),
                                      mode == Theme::Mode::Dark ? "dark" : "light")
                                 .arg(size.width())
                                 .arg(size.height());
        const QString path = QDir(folder).absoluteFilePath(name);
        QBuffer picture;
        picture.open(QIODevice::WriteOnly);
        window.grab().save(&picture, "PNG");
        const QByteArray& bytes = picture.data();
        if (auto problem = atomic_write(path.toStdString(),
                                        {bytes.constData(), static_cast<size_t>(bytes.size())}))
          return *problem;
        files << path;
      }
    }
  }
  ThemeChooser::instance().choose(theme_before);
  return files;
}

}  // namespace shardscape::ui

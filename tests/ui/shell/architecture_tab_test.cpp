// The architecture editor in the window, and own files with mistakes at the start.
#include <QApplication>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <memory>

#include "model/library.h"
#include "offscreen.h"
#include "support/longest_run.h"
#include "ui/form/config_form.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/session/session.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_bar.h"
#include "ui/toolkit/theme.h"
#include "ui/views/architecture/architecture_view.h"
#include "ui/views/graph/graph_canvas.h"

using namespace shardscape;
using namespace shardscape::ui;

class ArchitectureTabTest : public QObject {
  Q_OBJECT

  QTemporaryDir home_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<MainWindow> window_;

 private Q_SLOTS:
  void init() {
    qputenv("XDG_DATA_HOME", home_.path().toUtf8());
    session_ = std::make_unique<Session>();
    session_->waitForReport();
    window_ = std::make_unique<MainWindow>(session_.get());
    window_->resize(1280, 800);
    window_->show();
  }
  void cleanup() {
    window_.reset();
    session_.reset();
  }

  // The form's link opens the editor, which takes the place of the inspector.
  void opens_from_the_form() {
    QVERIFY(window_->inspector()->isVisible());
    auto* link = window_->form()->findChild<QPushButton*>("architecture_link");
    QVERIFY(link);
    QTest::mouseClick(link, Qt::LeftButton);
    QCOMPARE(window_->tabs()->currentWidget(), static_cast<QWidget*>(window_->architecture()));
    QVERIFY(!window_->inspector()->isVisible());
    window_->showView(0);
    QVERIFY(window_->inspector()->isVisible());
  }

  // The text stands next to the graph that it makes.
  void text_has_a_graph() {
    window_->tabs()->setCurrentWidget(window_->architecture());
    window_->architecture()->showPage(ArchitectureView::Text);
    QTRY_VERIFY_WITH_TIMEOUT(window_->architecture()->text()->checked(), test::kLongestRun);
    auto* canvas = window_->architecture()->findChild<GraphCanvas*>();
    QVERIFY(canvas && canvas->isVisible());
    QVERIFY(canvas->width() > 200);
  }

  void broken_files_are_reported() {
    QVERIFY(!window_->messageBar()->isVisible());
    const QString path = home_.filePath("shardscape/models/architectures/broken.json");
    QVERIFY(QDir().mkpath(QFileInfo(path).path()));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{\n \"architecture\": 7\n}\n");
    file.close();
    session_->reloadLibrary();
    session_->waitForReport();
    const auto problems = session_->allProblems();
    QVERIFY(std::any_of(problems.begin(), problems.end(), [&](const Problem& problem) {
      return problem.severity == Severity::Note && problem.where == path.toStdString() + ":2:18";
    }));
    MainWindow other(session_.get());
    QVERIFY2(other.messageBar()->text().contains(path + ":2:18"), qPrintable(other.messageBar()->text()));
    QVERIFY(QFile::remove(path));
    session_->reloadLibrary();
    QVERIFY(ModelLibrary::instance().problems().empty());
  }
};

int main(int argc, char** argv) {
  go_offscreen();
  QApplication app(argc, argv);
  Theme::instance().setMode(Theme::Mode::Light);
  ArchitectureTabTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "architecture_tab_test.moc"

// Traces and profiles that a person drops get a window of their own; the design stays.
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "design/document.h"
#include "offscreen.h"
#include "profile/run_file.h"
#include "support/profile_trace.h"
#include "support/trace_bundle.h"
#include "ui/shell/importer.h"
#include "ui/shell/main_window.h"
#include "ui/views/profile/profile_window.h"
#include "ui/views/trace/trace_loader.h"
#include "ui/views/trace/trace_window.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class RunWindowsTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { openWindow(); }
  void cleanup() { closeWindow(); }

  void a_dropped_bundle_has_a_window() {
    QTemporaryDir folder;
    test::good_bundle().save(folder.path().toStdString());
    const Design before = session_->design();
    dropFile(folder.path());
    auto* trace = window_->findChild<TraceWindow*>();
    QVERIFY(trace);
    QTRY_VERIFY(trace->loader()->overview());
    QCOMPARE(trace->loader()->ranks().size(), 4);
    QVERIFY(session_->design() == before);
  }

  void a_dropped_profile_has_a_window() {
    QTemporaryDir folder;
    const QString path = folder.filePath("rank0.json");
    test::ProfileTrace().launch(1, 0).kernel("gemm", 5, 10, 1).write(path.toStdString());
    dropFile(path);
    auto* profile = window_->findChild<ProfileWindow*>();
    QVERIFY(profile);
    QTRY_COMPARE(profile->ranks().size(), size_t{1});
    QTRY_VERIFY(profile->comparison());
  }

  // What opens in front of the window: previews and windows of runs.
  void documents_are_told_from_others() {
    QTemporaryDir folder;
    test::good_bundle().save(folder.path().toStdString());
    const QString profile = folder.filePath("rank0.json"), launch = folder.filePath("run.sh"),
                  design = folder.filePath("d.json");
    test::ProfileTrace().launch(1, 0).kernel("gemm", 5, 10, 1).write(profile.toStdString());
    QFile script(launch);
    QVERIFY(script.open(QIODevice::WriteOnly));
    script.write("torchrun pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4\n");
    script.close();
    QVERIFY(!save_design(session_->design(), design.toStdString()));
    for (const QString& path : {folder.path(), folder.filePath("trace.0.et"), profile, launch})
      QVERIFY2(!Importer::isDocument(path), qPrintable(path));
    for (const QString& path : {design, folder.filePath("missing.json")})
      QVERIFY2(Importer::isDocument(path), qPrintable(path));
  }

  void other_files_are_neither_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("design") << QByteArray(R"({"format": "shardscape", "model": {}})");
    QTest::newRow("config.json") << QByteArray(R"({"architectures": ["LlamaForCausalLM"]})");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("list") << QByteArray("[1, 2]");
  }
  void other_files_are_neither() {
    QFETCH(QByteArray, text);
    QTemporaryDir folder;
    QFile file(folder.filePath("a.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
    file.close();
    QVERIFY(kind_of_run_file(file.fileName().toStdString()) == RunFile::None);
  }
};

QTEST_MAIN(RunWindowsTest)
#include "run_windows_test.moc"

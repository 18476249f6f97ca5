// Import of a config.json by menu and drop, with preview. The searchable list of models.
#include <QAbstractItemModelTester>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStandardItemModel>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>
#include <memory>

#include "model/library.h"
#include "offscreen.h"
#include "ui/shell/document.h"
#include "ui/shell/import_dialog.h"
#include "ui/shell/main_window.h"
#include "ui/shell/preset_box.h"
#include "ui/shell/preset_popup.h"
#include "ui/views/architecture/architecture_view.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class ImportDialogTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  ImportDialog* dialog() { return window_->findChild<ImportDialog*>(); }
  void drop(const char* name) { dropFile(QString(SHARDSCAPE_TEST_DATA "/hf/") + name + ".json"); }
  void click(const char* button) {
    QTest::mouseClick(dialog()->findChild<QPushButton*>(button), Qt::LeftButton);
  }
  bool says(const QString& text) { return labelSays(dialog(), text); }
  // Writes a changed copy of a file of tests/data/hf.
  QString changedFile(const char* name, const QJsonObject& changes) {
    QFile from(QString(SHARDSCAPE_TEST_DATA "/hf/") + name + ".json");
    if (!from.open(QIODevice::ReadOnly)) return {};
    QJsonObject object = QJsonDocument::fromJson(from.readAll()).object();
    for (auto it = changes.begin(); it != changes.end(); ++it) object[it.key()] = it.value();
    QFile to(folder_.filePath(QString("my-") + name + ".json"));
    const QByteArray json = QJsonDocument(object).toJson();
    return to.open(QIODevice::WriteOnly) && to.write(json) == json.size() ? to.fileName() : QString();
  }
  QTemporaryDir folder_;

 private Q_SLOTS:
  void init() { openWindow(); }
  void cleanup() { closeWindow(); }

  void dropShowsAPreviewThatIsApplied() {
    const Design before = session_->design();
    drop("gemma-2b");
    QVERIFY(dialog());
    QCOMPARE(dialog()->windowTitle(), QString("Import gemma-2b.json"));  // nothing is imported yet
    QVERIFY(!says("Imported"));
    QVERIFY(session_->design() == before);
    QVERIFY(says("Gemma 2B") && says("2,506,172,416 parameters"));
    auto* model = qobject_cast<QStandardItemModel*>(
        dialog()->findChild<QTreeView*>("import_fields")->model());
    QVERIFY(model);
    QCOMPARE(model->rowCount(), 3);
    const QAbstractItemModelTester tester(model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QVERIFY(!model->findItems("num_hidden_layers", Qt::MatchExactly | Qt::MatchRecursive).isEmpty());
    click("import_apply");
    QTRY_VERIFY(!dialog());
    QCOMPARE(session_->design().model.preset, std::string("gemma-2b"));
    QVERIFY(session_->design().parallel == before.parallel && session_->design().cluster == before.cluster);
    window_->actions().undo->trigger();
    QVERIFY(session_->design() == before);
  }

  // A model without a preset has its name in the box, also after a save, and stays in the list.
  void anImportedModelIsNamedAndStaysInTheList() {
    dropFile(changedFile("gemma-2b", {{"num_hidden_layers", 20}}));
    QVERIFY(dialog());
    click("import_apply");
    QTRY_VERIFY(!dialog());
    QCOMPARE(session_->design().model.layers, int64_t{20});
    auto* box = window_->findChild<PresetBox*>();
    QCOMPARE(box->currentText(), QString("my-gemma-2b, imported"));

    const QString path = folder_.filePath("study.json");
    QVERIFY(window_->document()->savePath(path));
    QVERIFY(window_->document()->openPath(path));
    QCOMPARE(box->currentText(), QString("my-gemma-2b, imported"));

    session_->applyPreset("llama3-8b");
    QCOMPARE(box->currentText(), QString("Llama 3 8B"));
    QCOMPARE(box->count(), static_cast<int>(ModelLibrary::instance().presets().size()));
    const int steps = session_->undoStack()->count();
    box->showPopup();
    PresetPopup* popup = box->popup();
    const QAbstractItemModelTester tester(popup->model(),
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(popup->model()->item(0)->text(), QString("Yours"));
    QCOMPARE(popup->model()->item(1)->text(), QString("my-gemma-2b"));
    QVERIFY(popup->model()->item(2)->text() != "my-gemma-2b");  // once, although imported and opened
    QTest::keyClicks(popup->line(), "imported gemma");
    QCOMPARE(popup->model()->rowCount(), 2);
    QTest::keyClick(popup->line(), Qt::Key_Return);
    QVERIFY(!popup->isVisible());
    QCOMPARE(session_->design().model.layers, int64_t{20});
    QCOMPARE(box->currentText(), QString("my-gemma-2b, imported"));
    QCOMPARE(session_->undoStack()->count(), steps + 1);
    window_->actions().undo->trigger();
    QCOMPARE(box->currentText(), QString("Llama 3 8B"));
  }

  void cancelChangesNothing() {
    const Design before = session_->design();
    drop("gpt2-xl");
    click("import_cancel");
    QTRY_VERIFY(!dialog());
    QVERIFY(session_->design() == before);
    QVERIFY(!session_->undoStack()->canUndo());
  }

  void failedImportsGiveTheReason() {
    drop("olmoe-1b-7b");
    QVERIFY(says("norms of queries and keys over all heads"));
    QVERIFY(!dialog()->findChild<QPushButton*>("import_apply")->isEnabled());
    QTest::keyClick(dialog(), Qt::Key_Escape);
    QTRY_VERIFY(!dialog());
  }

  // Fields that may change the model are shown. The others are one line that can be opened.
  void fieldsWithoutEffectAreFolded() {
    dropFile(changedFile("llama3-8b", {{"memory_slots", 4}, {"num_beams", 1}, {"id2label", QJsonObject()}}));
    QVERIFY(dialog());
    auto* tree = dialog()->findChild<QTreeView*>("import_fields");
    auto* model = qobject_cast<QStandardItemModel*>(tree->model());
    const int last = model->rowCount() - 1;
    const QStandardItem* folded = model->item(last);
    QCOMPARE(folded->text(), QString("%1 fields do not change the architecture").arg(folded->rowCount()));
    QVERIFY(folded->rowCount() > 5 && !tree->isExpanded(folded->index()));
    QVERIFY(says(folded->text()));
    const QStandardItem* unknown = model->item(last - 1);
    QCOMPARE(unknown->text(), QString("Unknown: check whether these change the model (1)"));
    QVERIFY(tree->isExpanded(unknown->index()));
    QCOMPARE(unknown->child(0)->text(), QString("memory_slots"));
    tree->setCurrentIndex(folded->index());
    QTest::keyClick(tree, Qt::Key_Right);
    QVERIFY(tree->isExpanded(folded->index()));
    const auto beams = model->findItems("num_beams", Qt::MatchExactly | Qt::MatchRecursive);
    QCOMPARE(beams.size(), 1);
    QCOMPARE(beams.front()->parent(), folded);
    click("import_cancel");
    QTRY_VERIFY(!dialog());
  }

  // A file of an invented type becomes an approximation, with its differences listed.
  void anUnknownTypeIsImportedAsTheNearest() {
    const QJsonObject changes{{"model_type", "mine"},
                              {"architectures", QJsonArray{"MineForCausalLM"}},
                              {"memory_slots", 4},
                              {"hidden_act", "relu"}};
    dropFile(changedFile("llama3-8b", changes));
    QVERIFY(dialog());
    auto* as = dialog()->findChild<QPushButton*>("import_as");
    QVERIFY(as->isVisible());
    QCOMPARE(as->text(), QString("Import as llama"));
    QVERIFY(says("the model type \"mine\" is not known") && says("\"memory_slots\""));
    QVERIFY(!dialog()->findChild<QPushButton*>("import_apply")->isEnabled());
    click("import_as");
    QVERIFY(!as->isVisible());
    QVERIFY(dialog()->findChild<QLabel*>("import_approximation")->isVisible());
    QVERIFY(says("Imported as llama"));
    QVERIFY(!dialog()->findChild<QLabel*>("dialog_error")->isVisible());
    auto* model = qobject_cast<QStandardItemModel*>(
        dialog()->findChild<QTreeView*>("import_fields")->model());
    const QAbstractItemModelTester tester(model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QVERIFY(model->item(0)->text().startsWith("Different"));
    QCOMPARE(model->item(0)->child(0)->text(), QString("hidden_act"));
    click("import_architecture");  // applies the model and opens the editor
    QTRY_VERIFY(!dialog());
    QCOMPARE(session_->design().model.architecture, std::string("llama"));
    QCOMPARE(window_->findChild<PresetBox*>()->currentText(), QString("my-llama3-8b, imported"));
    QCOMPARE(window_->tabs()->currentWidget(), static_cast<QWidget*>(window_->architecture()));
  }

  // The editor opens without an import too; the model then stays.
  void anUnknownTypeLeadsToTheEditor() {
    const Design before = session_->design();
    dropFile(changedFile("llama3-8b", {{"model_type", "mine"}, {"architectures", QJsonArray()}}));
    click("import_architecture");
    QTRY_VERIFY(!dialog());
    QVERIFY(session_->design() == before);
    QCOMPARE(window_->tabs()->currentWidget(), static_cast<QWidget*>(window_->architecture()));
  }

  void presetListIsGroupedAndSearched() {
    auto* box = window_->findChild<PresetBox*>();
    QCOMPARE(box->count(), static_cast<int>(ModelLibrary::instance().presets().size()));
    box->setFocus();
    QTest::keyClick(box, Qt::Key_F4);
    PresetPopup* popup = box->popup();
    QVERIFY(popup->isVisible());
    const QAbstractItemModelTester tester(popup->model(),
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    const int all = popup->model()->rowCount();
    QVERIFY(all > box->count() + 8);  // the list also has headings
    QTest::keyClicks(popup->line(), "gemma2 27");
    QCOMPARE(popup->model()->rowCount(), 2);
    QTest::keyClick(popup->line(), Qt::Key_Return);
    QVERIFY(!popup->isVisible());
    QCOMPARE(session_->design().model.preset, std::string("gemma2-27b"));
    QCOMPARE(box->currentText(), QString("Gemma 2 27B"));

    box->showPopup();
    QCOMPARE(popup->model()->rowCount(), all);
    QTest::keyClick(popup->line(), Qt::Key_Up);
    QTest::keyClick(popup->line(), Qt::Key_Up);
    QTest::keyClick(popup->line(), Qt::Key_Up);  // passes the heading, into the previous family
    QTest::keyClick(popup->line(), Qt::Key_Return);
    QVERIFY(session_->design().model.architecture != "gemma2");

    box->showPopup();
    QTest::keyClicks(popup->line(), "qwen3-235b");
    QVERIFY2(popup->model()->item(1)->toolTip().contains("Published: 256 H100, tp 2, pp 8, ep 32\nMegatron"),
             qPrintable(popup->model()->item(1)->toolTip()));
    QTest::keyClick(popup->line(), Qt::Key_Escape);

    // With its published layout, or as the layout was.
    auto* layout = popup->findChild<QCheckBox*>("published_layout");
    const auto pick = [&](const char* words, bool published) {
      box->showPopup();
      layout->setChecked(published);
      QTest::keyClicks(popup->line(), words);
      QTest::keyClick(popup->line(), Qt::Key_Return);
      return session_->design().parallel;
    };
    const ParallelSpec before = session_->design().parallel;
    QVERIFY(!(before == pick("mixtral-8x7b", true)));
    QCOMPARE(session_->design().parallel.ep, int64_t{8});
    QCOMPARE(session_->design().workload.batch, int64_t{256});
    const ParallelSpec published = session_->design().parallel;
    QVERIFY(pick("llama3-8b", false).pp == published.pp);
    layout->setChecked(true);

    box->showPopup();
    QTest::keyClicks(popup->line(), "zzzz");
    QCOMPARE(popup->model()->rowCount(), 0);
    QTest::keyClick(popup->line(), Qt::Key_Return);
    QVERIFY(popup->isVisible());
    QTest::keyClick(popup->line(), Qt::Key_Escape);
    QVERIFY(!popup->isVisible());
  }
};

QTEST_MAIN(ImportDialogTest)
#include "import_dialog_test.moc"

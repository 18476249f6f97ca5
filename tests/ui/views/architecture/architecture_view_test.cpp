// The architecture editor, driven by mouse and keyboard.
#include <QAbstractItemModelTester>
#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QStandardItemModel>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QUndoStack>
#include <memory>

#include "design/knobs/knobs.h"
#include "model/library.h"
#include "model/own_files.h"
#include "offscreen.h"
#include "support/longest_run.h"
#include "ui/session/session.h"
#include "ui/shell/preset_popup.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/theme.h"
#include "ui/views/architecture/architecture_view.h"
#include "ui/views/architecture/layers_page.h"
#include "ui/views/architecture/sizes_model.h"

using namespace shardscape;
using namespace shardscape::ui;

class ArchitectureViewTest : public QObject {
  Q_OBJECT

  QTemporaryDir home_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<ArchitectureView> view_;
  std::shared_ptr<const Report> shown_;  // as a graph

  template <class T>
  T* find(const QString& name) const {
    T* found = view_->findChild<T*>(name);
    if (!found) qWarning("no widget %s", qPrintable(name));
    return found;
  }
  QString modelText(const char* knob) const {
    return QString::fromStdString(knob_text(session_->design(), *find_knob(knob)));
  }
  QString architecture() const { return QString::fromStdString(session_->design().model.architecture); }
  // Opens the list and chooses an entry with the keyboard.
  void choose(const QString& box_name, const QString& call) {
    auto* box = find<QComboBox>(box_name);
    QVERIFY(box);
    const int index = box->findData(call);
    QVERIFY2(index >= 0, qPrintable(call));
    box->showPopup();
    box->view()->setCurrentIndex(box->model()->index(index, 0));
    QTest::keyClick(box->view(), Qt::Key_Return);
    session_->waitForReport();
  }
  void openPreset(const char* id) {
    session_->applyPreset(id);
    session_->waitForReport();
  }
  void waitForCheck() { QTRY_VERIFY_WITH_TIMEOUT(view_->text()->checked(), test::kLongestRun); }

 private Q_SLOTS:
  void init() {
    qputenv("XDG_DATA_HOME", home_.path().toUtf8());
    session_ = std::make_unique<Session>();
    session_->waitForReport();
    shown_.reset();
    view_ = std::make_unique<ArchitectureView>(
        session_.get(), new QWidget,
        [this](std::shared_ptr<const Report> report) { shown_ = std::move(report); });
    view_->resize(1120, 760);
    view_->show();
  }
  void cleanup() {
    view_.reset();
    session_.reset();
  }

  void showsThePattern() {
    openPreset("deepseek-v3");
    QCOMPARE(find<QLineEdit>("prefix")->text(), "dense*3");
    QCOMPARE(find<QLineEdit>("repeat")->text(), "moe");
    QCOMPARE(find<QLineEdit>("suffix")->text(), "");
    QCOMPARE(find<QComboBox>("mixer_moe")->currentData().toString(), "latent_attention");
    QCOMPARE(find<QComboBox>("feed_forward_moe")->currentData().toString(), "sigmoid_moe + shared_mlp");
    QCOMPARE(find<QComboBox>("feed_forward_dense")->currentData().toString(), "gated_mlp");
    QVERIFY(find<QWidget>("pattern_strip")->accessibleDescription().contains("3 × dense, 58 × moe"));
    openPreset("qwen3-next-80b-a3b");
    QCOMPARE(find<QLineEdit>("repeat")->text(), "linear*3, full");
  }

  // A mixer is chosen, undone and redone as one step.
  void choosesAPart() {
    const Wide before = session_->report()->model_parameters.value;
    choose("feed_forward_layer", "relu2_mlp");
    QCOMPARE(architecture(), "llama; layer = layer(feed_forward = relu2_mlp)");
    QVERIFY(session_->report()->model_parameters.value < before);
    session_->undoStack()->undo();
    session_->waitForReport();
    QCOMPARE(session_->report()->model_parameters.value, before);
  }

  // Missing sizes come from a preset, so that the model can be counted at once.
  void otherMixersGetTheirSizes() {
    for (const char* mixer : {"gated_delta_net", "latent_attention", "mamba2_mixer"}) {
      choose("mixer_layer", mixer);
      QVERIFY2(session_->current(), mixer);
      QCOMPARE(find<QComboBox>("mixer_layer")->currentData().toString(), mixer);
    }
    choose("mixer_layer", "self_attention(rope)");
    QCOMPARE(architecture(), "llama");
  }

  // A mixer with a sliding window asks for the width, and offers the usual one.
  void aWindowNeedsItsWidth() {
    QTest::mouseClick(find<QPushButton>("copy_layer"), Qt::LeftButton);
    session_->waitForReport();
    QVERIFY(!find<QFrame>("issue_line")->isVisible());
    choose("mixer_layer_2", "self_attention(rope, window)");
    auto* issue = dynamic_cast<IssueLine*>(find<QFrame>("issue_line"));
    QVERIFY(issue && issue->isVisible());
    QVERIFY2(issue->text().contains("\"layer_2\"") && issue->text().contains("no width"),
             qPrintable(issue->text()));
    QTest::mouseClick(issue->fixButton(), Qt::LeftButton);
    QTRY_COMPARE(modelText("window"), QString("4096"));
    session_->waitForReport();
    QVERIFY(!issue->isVisible());
    session_->undoStack()->undo();
    session_->waitForReport();
    QVERIFY(issue->isVisible());
  }

  void newKindAndPattern() {
    QTest::mouseClick(find<QPushButton>("copy_layer"), Qt::LeftButton);
    session_->waitForReport();
    QCOMPARE(modelText("layer_pattern"), "layer*, layer_2");
    choose("mixer_layer_2", "gated_delta_net");
    QCOMPARE(architecture(), "llama; layer_2 = layer(mixer = gated_delta_net)");
    auto* repeat = find<QLineEdit>("repeat");
    repeat->setFocus();
    repeat->selectAll();
    QTest::keyClicks(repeat, "layer_2*3, layer");
    find<QLineEdit>("suffix")->clear();
    QTest::keyClick(repeat, Qt::Key_Return);
    session_->waitForReport();
    QCOMPARE(modelText("layer_pattern"), "(layer_2*3, layer)*");
    QVERIFY(session_->current());
    for (int step = 0; step < 3; ++step) session_->undoStack()->undo();
    session_->waitForReport();
    QCOMPARE(architecture(), "llama");
    QCOMPARE(modelText("layer_pattern"), "");
  }

  void badPatternIsExplained() {
    auto* repeat = find<QLineEdit>("repeat");
    repeat->setFocus();
    repeat->selectAll();
    QTest::keyClicks(repeat, "layer**3");
    QTest::keyClick(repeat, Qt::Key_Return);
    QCOMPARE(modelText("layer_pattern"), "");
    QVERIFY(find<QFrame>("issue_line")->isVisible());
  }

  void sizesOfAKind() {
    openPreset("qwen3-next-80b-a3b");
    QTableView* table = view_->layers()->sizes();
    const QAbstractItemModelTester tester(table->model(),
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    QAbstractItemModel* model = table->model();
    const int full = 4;  // label, symbol, model, linear, full
    int heads = -1;
    for (int row = 0; row < model->rowCount(); ++row)
      if (model->index(row, 1).data().toString() == "H") heads = row;
    QVERIFY(heads >= 0);
    QCOMPARE(model->index(heads, 3).data().toString(), QString("–"));  // no heads in linear layers
    QVERIFY(model->setData(model->index(heads, full), "32", Qt::EditRole));
    session_->waitForReport();
    QCOMPARE(modelText("variants"), "full: full heads=32");
    QVERIFY(!model->setData(model->index(heads, full), "many", Qt::EditRole));
    QVERIFY(model->setData(model->index(heads, full), "", Qt::EditRole));
    session_->waitForReport();
    QCOMPARE(modelText("variants"), "");
  }

  void textIsCheckedWhileTyped() {
    QTest::mouseClick(find<QPushButton>("duplicate"), Qt::LeftButton);
    auto* editor = view_->text()->editor();
    QVERIFY(editor->isVisible());
    waitForCheck();
    const ArchitectureCheck* check = view_->text()->check();
    QVERIFY(check->counted());
    QCOMPARE(shown_, check->report);
    QCOMPARE(check->kind.id, std::string("llama_2"));
    QTextCursor cursor = editor->document()->find("gated_mlp");
    editor->setTextCursor(cursor);
    QTest::keyClicks(editor, "gated_mpl");
    waitForCheck();
    auto* mistake = find<QPushButton>("mistake");
    QVERIFY2(mistake->text().startsWith("Line 10, column 14: ") && mistake->text().contains("gated_mlp"),
             qPrintable(mistake->text()));
    QVERIFY(!find<QPushButton>("save_text")->isEnabled());
    QCOMPARE(editor->extraSelections().size(), 2);
    editor->moveCursor(QTextCursor::Start);
    QTest::mouseClick(mistake, Qt::LeftButton);
    QCOMPARE(editor->textCursor().blockNumber(), 9);
    QCOMPARE(editor->textCursor().positionInBlock(), 13);
    // Undo belongs to the text while the editor has the focus.
    for (int i = 0; i < 3 && !editor->toPlainText().contains("gated_mlp"); ++i)
      QTest::keyClick(editor, Qt::Key_Z, Qt::ControlModifier);
    waitForCheck();
    QVERIFY(view_->text()->check()->ok());
    QCOMPARE(architecture(), "llama");
  }

  // A mistake of the whole text has no line, and nothing is marked.
  void aTextThatIsTooLong() {
    QTest::mouseClick(find<QPushButton>("duplicate"), Qt::LeftButton);
    auto* editor = view_->text()->editor();
    waitForCheck();
    const int width = editor->width();
    editor->setPlainText(QString(70000, QChar(32)) + editor->toPlainText());
    waitForCheck();
    auto* mistake = find<QPushButton>("mistake");
    QVERIFY2(mistake->text().startsWith("Whole text: the file has 7"), qPrintable(mistake->text()));
    QVERIFY(mistake->toolTip().contains("65536 bytes"));
    QVERIFY(editor->extraSelections().isEmpty());
    QVERIFY(!find<QPushButton>("save_text")->isEnabled());
    QCOMPARE(editor->width(), width);
  }

  // Another text in the editor is an edit that undo takes back.
  void whatWasTypedComesBack() {
    view_->showPage(ArchitectureView::Text);
    auto* editor = find<QPlainTextEdit>("architecture_text");
    view_->text()->duplicate("llama", false);
    const QString before = editor->toPlainText() + "  ";
    editor->moveCursor(QTextCursor::End);
    editor->insertPlainText("  ");
    view_->text()->duplicate("gpt", false);
    QVERIFY(editor->toPlainText() != before);
    editor->undo();
    QCOMPARE(editor->toPlainText(), before);
  }

  // The name is asked in the page: nothing blocks the window.
  void savesTheModel() {
    view_->activateWindow();  // the keyboard reaches the active window alone
    QVERIFY(QTest::qWaitForWindowActive(view_.get()));
    QTest::mouseClick(find<QPushButton>("save_model"), Qt::LeftButton);
    auto* name = find<QLineEdit>("model_name");
    QVERIFY(name->isVisible() && name->hasFocus() && !find<QPushButton>("save_model")->isVisible());
    QTest::keyClick(name, Qt::Key_Escape);
    QVERIFY(!name->isVisible() && find<QPushButton>("save_model")->isVisible());
    QTest::mouseClick(find<QPushButton>("save_model"), Qt::LeftButton);
    name->clear();
    QTest::keyClick(name, Qt::Key_Return);
    QVERIFY(find<QFrame>("issue_line")->isVisible() && name->isVisible());
    QTest::keyClicks(name, "My model");
    QTest::mouseClick(find<QPushButton>("save_named"), Qt::LeftButton);
    session_->waitForReport();
    QVERIFY(!name->isVisible() && !find<QFrame>("issue_line")->isVisible());
    QVERIFY(QFile::exists(home_.filePath("shardscape/models/presets/my-model.json")));
    QCOMPARE(session_->design().name, std::string("My model"));
    // The list of models has it under a heading of its own.
    PresetPopup list(view_.get());
    list.line()->setText("My model");
    const auto headings = list.model()->findItems("Yours");
    QCOMPARE(headings.size(), 1);
    QCOMPARE(list.model()->item(headings[0]->row() + 1)->text(), QString("My model"));
  }

  // The file of another own model is replaced only when the person saves under its name twice.
  void anotherModelIsNotReplacedAtOnce() {
    const QString path = home_.filePath("shardscape/models/presets/taken.json");
    const auto text = [&] {
      QFile file(path);
      return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    };
    QVERIFY(std::holds_alternative<std::filesystem::path>(
        save_own("presets", "taken", preset_text("taken", "Taken", session_->design().model, 1024))));
    const QByteArray before = text();
    QTest::mouseClick(find<QPushButton>("save_model"), Qt::LeftButton);
    auto* name = find<QLineEdit>("model_name");
    name->setText("taken!");
    QTest::mouseClick(find<QPushButton>("save_named"), Qt::LeftButton);
    QVERIFY(find<QFrame>("issue_line")->isVisible() && name->isVisible());
    QCOMPARE(text(), before);
    QTest::mouseClick(find<QPushButton>("save_named"), Qt::LeftButton);
    QVERIFY(!name->isVisible() && text().contains("taken!"));
  }

  // Every entry of a list says what it is before it names a block.
  void partsHaveLabels() {
    for (const char* list : {"mixer_layer", "feed_forward_layer"}) {
      auto* box = find<QComboBox>(list);
      QSet<QString> texts;
      for (int i = 0; i < box->count(); ++i) {
        QVERIFY2(box->itemText(i) != box->itemData(i).toString(), qPrintable(box->itemText(i)));
        QVERIFY2(box->itemText(i).front().isUpper(), qPrintable(box->itemText(i)));
        texts << box->itemText(i);
      }
      QCOMPARE(texts.size(), box->count());
    }
    auto* box = find<QComboBox>("feed_forward_layer");
    QCOMPARE(box->itemText(box->findData("gated_mlp")), "SwiGLU MLP");
  }

  void savesUnderYours() {
    QTest::mouseClick(find<QPushButton>("duplicate"), Qt::LeftButton);
    auto* editor = view_->text()->editor();
    waitForCheck();
    editor->setTextCursor(editor->document()->find("gated_mlp"));
    QTest::keyClicks(editor, "relu2_mlp");
    editor->setTextCursor(editor->document()->find("llama_2"));
    QTest::keyClicks(editor, "square");
    waitForCheck();
    QTest::mouseClick(find<QPushButton>("use_text"), Qt::LeftButton);
    session_->waitForReport();
    QCOMPARE(architecture(), "square");
    QVERIFY(session_->current());
    QVERIFY(QFile::exists(home_.filePath("shardscape/models/architectures/square.json")));
    QCOMPARE(find<QComboBox>("texts")->itemText(0), "Yours: square (architecture)");
    // Another text of the same id changes the design without a restart.
    const Wide before = session_->report()->model_parameters.value;
    editor->setTextCursor(editor->document()->find("relu2_mlp"));
    QTest::keyClicks(editor, "gated_mlp");
    waitForCheck();
    QTest::mouseClick(find<QPushButton>("save_text"), Qt::LeftButton);
    session_->waitForReport();
    QVERIFY(session_->report()->model_parameters.value > before);
  }
};

int main(int argc, char** argv) {
  go_offscreen();
  QApplication app(argc, argv);
  Theme::instance().setMode(Theme::Mode::Light);
  ArchitectureViewTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "architecture_view_test.moc"

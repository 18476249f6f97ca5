#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>
#include <memory>

#include "offscreen.h"
#include "ui/form/config_form.h"
#include "ui/form/issue_line.h"
#include "ui/form/knob_row.h"
#include "ui/state/session.h"
#include "ui/theme/theme.h"

using namespace shardscape;
using namespace shardscape::ui;

class FormTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  std::unique_ptr<Session> session_;
  std::unique_ptr<ConfigForm> form_;

  template <class Widget>
  Widget* field(const char* id) {
    return qobject_cast<Widget*>(form_->row(id)->fieldWidget());
  }
  QLineEdit* focused(const char* id) {
    auto* line = field<QLineEdit>(id);
    form_->focusKnob(id);
    return line;
  }
  QString mark(const char* id) { return form_->row(id)->fieldWidget()->property("knob").toString(); }

 private Q_SLOTS:
  void init() {
    Theme::instance().setMode(Theme::Mode::Light);
    session_ = std::make_unique<Session>();
    form_ = std::make_unique<ConfigForm>(session_.get());
    form_->resize(300, 900);
    form_->show();
    QVERIFY(QTest::qWaitForWindowExposed(form_.get()));
    form_->activateWindow();
    session_->waitForReport();
  }
  void cleanup() {
    form_.reset();
    session_.reset();
  }

  void everyKnobHasANamedField() {
    for (const Knob& knob : knobs()) {
      KnobRow* row = form_->row(QString::fromStdString(knob.id));
      QVERIFY2(row, knob.id.c_str());
      QVERIFY(!row->fieldWidget()->accessibleName().isEmpty());
      QVERIFY(!row->toolTip().isEmpty());
      QVERIFY2(mark(knob.id.c_str()).isEmpty(), knob.id.c_str());
    }
  }

  void typingRecomputes() {
    QLineEdit* seq = focused("seq");
    QTest::keyClicks(seq, "4096");  // the old figure is selected
    QCOMPARE(session_->design().workload.seq, 4096);
    QTRY_COMPARE(session_->report()->design.workload.seq, 4096);
    QCOMPARE(seq->text(), QString("4096"));
    QTest::keyClick(seq, Qt::Key_Return);
    QCOMPARE(seq->text(), QString("4,096"));
    QCOMPARE(mark("seq"), QString("differs"));
    QCOMPARE(session_->undoStack()->count(), 1);
  }

  void stepsByKeyboard() {
    QLineEdit* batch = focused("batch");
    const auto value = [&] { return session_->design().workload.batch; };
    const auto start = value();
    QTest::keyClick(batch, Qt::Key_Up);
    QCOMPARE(value(), start + 1);
    QTest::keyClick(batch, Qt::Key_Down);
    QTest::keyClick(batch, Qt::Key_Up, Qt::ControlModifier);
    QCOMPARE(value(), start * 2);
    QTest::keyClick(batch, Qt::Key_Down, Qt::ControlModifier);
    QCOMPARE(value(), start);
    QTest::keyClick(batch, Qt::Key_PageUp);
    QCOMPARE(value(), start + 10);
    QLineEdit* tp = focused("tp");
    for (int i = 0; i < 5; ++i) QTest::keyClick(tp, Qt::Key_Down, Qt::ControlModifier);
    QCOMPARE(session_->design().parallel.tp, 1);  // stays in range
  }

  void impossibleDegreeIsMendedByAClick() {
    QLineEdit* tp = focused("tp");
    QTest::keyClicks(tp, "5");
    session_->waitForReport();
    IssueLine* issue = form_->row("tp")->issueLine();
    QVERIFY(issue->isVisible());
    QVERIFY2(issue->text().contains("5"), qPrintable(issue->text()));
    QCOMPARE(mark("tp"), QString("wrong"));
    QVERIFY(issue->fixButton()->isVisible());
    QTest::mouseClick(issue->fixButton(), Qt::LeftButton);
    QTRY_VERIFY(session_->design().parallel.tp != 5);
    session_->waitForReport();
    QVERIFY(session_->current());
    QTRY_VERIFY(!issue->isVisible());
    QCOMPARE(tp->text(), QString::number(session_->design().parallel.tp));
  }

  void textThatIsNoNumberStaysUntilTakenBack() {
    QLineEdit* tp = focused("tp");
    const qint64 before = session_->design().parallel.tp;
    QTest::keyClicks(tp, "many");
    QCOMPARE(session_->design().parallel.tp, before);
    IssueLine* issue = form_->row("tp")->issueLine();
    QVERIFY(issue->isVisible());
    QTest::keyClick(tp, Qt::Key_Tab);
    QCOMPARE(tp->text(), QString("many"));
    form_->focusKnob("tp");
    QTest::keyClick(tp, Qt::Key_Escape);
    QCOMPARE(tp->text(), QString::number(before));
    QVERIFY(!issue->isVisible());
    QTest::keyClicks(tp, "0");
    QVERIFY(issue->fixButton()->isVisible());
    QTest::mouseClick(issue->fixButton(), Qt::LeftButton);
    QTRY_COMPARE(tp->text(), QString::number(before));
  }

  // "4" is a length that the design takes before "a" makes a text that it does not.
  void aRejectedTextGivesBackTheValueBeforeTheEdit() {
    QLineEdit* seq = focused("seq");
    IssueLine* issue = form_->row("seq")->issueLine();
    for (const char* typed : {"4a", "abc", "-5", "0"}) {
      form_->focusKnob("seq");
      QTest::keyClicks(seq, typed);
      QVERIFY(issue->isVisible());
      const QString accepted = QString::fromStdString(accepted_values(*find_knob("seq")));
      QVERIFY2(issue->text().contains(accepted), qPrintable(issue->text()));
      QVERIFY(session_->rejected("seq"));
      QCOMPARE(session_->allProblems().front().where, std::string("seq"));
      QCOMPARE(issue->fixButton()->text(), QString("Keep 8,192"));
      QTest::keyClick(seq, Qt::Key_Tab);  // as a click on the button does
      QTest::mouseClick(issue->fixButton(), Qt::LeftButton);
      QTRY_COMPARE(seq->text(), QString("8,192"));
      QCOMPARE(session_->design().workload.seq, 8192);
      QVERIFY(!issue->isVisible());
      QVERIFY(!session_->rejected("seq"));
      QVERIFY(session_->undoStack()->isClean());
    }
  }

  void escapeGivesBackTheValueBeforeTheEdit() {
    QLineEdit* seq = focused("seq");
    QTest::keyClicks(seq, "4096");
    QTest::keyClick(seq, Qt::Key_Escape);
    QCOMPARE(session_->design().workload.seq, 8192);
    QCOMPARE(seq->text(), QString("8,192"));
    QTest::keyClick(seq, Qt::Key_Return);
    QTest::keyClicks(seq, "2048");
    QTest::keyClick(seq, Qt::Key_Return);
    QTest::keyClick(seq, Qt::Key_Escape);  // nothing typed since
    QCOMPARE(session_->design().workload.seq, 2048);
  }

  void choicesAreReadInFull() {
    for (const int width : {264, 300, 420}) {
      form_->resize(width, 900);
      QTest::qWait(1);
      for (const Knob& knob : knobs()) {
        if (knob.type != KnobType::Choice) continue;
        auto* box = field<QComboBox>(knob.id.c_str());
        int longest = 0;
        for (int i = 0; i < box->count(); ++i) longest = std::max(longest, box->fontMetrics().horizontalAdvance(box->itemText(i)));
        const bool whole = box->width() >= longest + 36;
        const bool all_there_is = box->width() == form_->row(QString::fromStdString(knob.id))->width();
        QVERIFY2(whole || all_there_is, knob.id.c_str());
        QVERIFY2(box->width() >= 160, knob.id.c_str());
      }
    }
  }

  void undoReplacesHalfTypedText() {
    session_->setKnob("seq", "1024");
    QLineEdit* seq = focused("seq");
    QTest::keyClicks(seq, "x");
    session_->undoStack()->undo();
    QCOMPARE(seq->text(), QString("8,192"));
    QVERIFY(!form_->row("seq")->issueLine()->isVisible());
  }

  void checkBoxAndChoice() {
    auto* box = field<QCheckBox>("sequence_parallel");
    const bool before = session_->design().parallel.sequence_parallel;
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Space);
    QCOMPARE(session_->design().parallel.sequence_parallel, !before);
    QCOMPARE(mark("sequence_parallel"), QString("differs"));
    auto* schedule = field<QComboBox>("schedule");
    schedule->setFocus();
    QTest::keyClick(schedule, Qt::Key_Down);
    QCOMPARE(session_->design().parallel.schedule, ScheduleKind::GPipe);
    QTest::keyClick(schedule, Qt::Key_Up);
    QCOMPARE(session_->design().parallel.schedule, ScheduleKind::OneFOneB);
  }

  void listOfLayers() {
    QLineEdit* layers = focused("stage_layers");
    QCOMPARE(layers->placeholderText(), QString("even"));
    QTest::keyClicks(layers, "17,15");
    QTRY_COMPARE(session_->design().parallel.stage_layers, (std::vector<int64_t>{17, 15}));
    session_->waitForReport();
    QVERIFY(session_->current());
    QCOMPARE(session_->report()->stages[0].layers, 17);
    layers->selectAll();
    QTest::keyClick(layers, Qt::Key_Delete);
    QVERIFY(session_->design().parallel.stage_layers.empty());
  }

  void filterHidesAndEscapeClears() {
    form_->focusFilter();
    auto* filter = form_->findChild<QLineEdit*>("form_filter");
    QTest::keyClicks(filter, "microbatch size");
    QVERIFY(!form_->row("layers")->isVisible());
    QTest::keyClick(filter, Qt::Key_Escape);
    QVERIFY(form_->row("layers")->isVisible());
    QTest::keyClicks(filter, "tp");
    QVERIFY(form_->row("tp")->isVisible());
    form_->focusKnob("vocab");
    QVERIFY(form_->row("vocab")->isVisible());
  }

  void totalsFollowTheReport() {
    auto* ranks = form_->findChild<QLabel*>("total_parallelism");
    QCOMPARE(ranks->text(), QString("8 ranks"));
    QTest::keyClicks(focused("dp"), "4");
    QTRY_COMPARE(ranks->text(), QString("16 ranks"));
    QVERIFY(form_->findChild<QLabel*>("total_model")->text().startsWith("8.0"));
    QCOMPARE(form_->findChild<QLabel*>("total_cluster")->text(), QString("2 nodes"));
  }
};

QTEST_MAIN(FormTest)
#include "form_test.moc"

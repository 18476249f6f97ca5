#include <QAbstractItemView>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStandardItemModel>
#include <QTest>
#include <QToolButton>
#include <algorithm>
#include <memory>

#include "form_window.h"
#include "offscreen.h"
#include "ui/form/config_form.h"
#include "ui/form/gpus_row.h"
#include "ui/form/knob_group.h"
#include "ui/form/knob_row.h"
#include "ui/form/knob_section.h"
#include "ui/session/session.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/theme.h"

using namespace shardscape;
using namespace shardscape::ui;

class FormTest : public FormWindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  template <class Widget>
  Widget* field(const char* id) {
    return qobject_cast<Widget*>(form_->row(id)->fieldWidget());
  }
  QLineEdit* focused(const char* id) {
    auto* line = field<QLineEdit>(id);
    form_->focusKnob(id);
    return line;
  }
  KnobSection* sectionOf(const char* id) {
    return qobject_cast<KnobSection*>(form_->row(id)->parentWidget());
  }
  QString mark(const char* id) { return form_->row(id)->fieldWidget()->property("knob").toString(); }

 private Q_SLOTS:
  void init() { openForm(300); }
  void cleanup() { closeForm(); }

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
    QTest::keyClicks(seq, "4096");  // replaces the selected old number
    QCOMPARE(session_->design().workload.seq, 8192);
    QTRY_COMPARE(session_->design().workload.seq, 4096);
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

  void aClickFixesAnImpossibleDegree() {
    QLineEdit* tp = focused("tp");
    QTest::keyClicks(tp, "5");
    QTest::keyClick(tp, Qt::Key_Return);
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

  void textThatIsNoNumberStaysUntilItIsReverted() {
    QLineEdit* tp = focused("tp");
    const qint64 before = session_->design().parallel.tp;
    QTest::keyClicks(tp, "many");
    IssueLine* issue = form_->row("tp")->issueLine();
    QTRY_VERIFY(issue->isVisible());
    QCOMPARE(session_->design().parallel.tp, before);
    QTest::keyClick(tp, Qt::Key_Tab);
    QCOMPARE(tp->text(), QString("many"));
    form_->focusKnob("tp");
    QTest::keyClick(tp, Qt::Key_Escape);
    QCOMPARE(tp->text(), QString::number(before));
    QVERIFY(!issue->isVisible());
    QTest::keyClicks(tp, "0");
    QTRY_VERIFY(issue->fixButton()->isVisible());
    QTest::mouseClick(issue->fixButton(), Qt::LeftButton);
    QTRY_COMPARE(tp->text(), QString::number(before));
  }

  void aRejectedTextGivesBackTheValueBeforeTheEdit() {
    QLineEdit* seq = focused("seq");
    IssueLine* issue = form_->row("seq")->issueLine();
    for (const char* typed : {"4a", "abc", "-5", "0"}) {
      form_->focusKnob("seq");
      QTest::keyClicks(seq, typed);
      QTRY_VERIFY(issue->isVisible());
      const QString accepted = QString::fromStdString(accepted_values(*find_knob("seq")));
      QVERIFY2(issue->text().contains(accepted), qPrintable(issue->text()));
      QVERIFY(session_->rejected("seq"));
      QCOMPARE(session_->allProblems().front().where, std::string("seq"));
      QCOMPARE(issue->fixButton()->text(), QString("Keep 8,192"));
      QTest::keyClick(seq, Qt::Key_Tab);  // leaves the field, as a click on the button does
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
    QTest::keyClick(seq, Qt::Key_Escape);  // nothing was typed since the last Escape
    QCOMPARE(session_->design().workload.seq, 2048);
  }

  void choicesAreShownInFull() {
    for (const Knob& knob : knobs()) {
      const QString id = QString::fromStdString(knob.id);
      form_->groupOf(id)->reveal(form_->row(id));
    }
    for (const int width : {264, 300, 420}) {
      form_->resize(width, 900);
      QTest::qWait(1);
      for (const Knob& knob : knobs()) {
        if (knob.type != KnobType::Choice) continue;
        auto* box = field<QComboBox>(knob.id.c_str());
        int longest = 0;
        for (int i = 0; i < box->count(); ++i)
          longest = std::max(longest, box->fontMetrics().horizontalAdvance(box->itemText(i)));
        const bool whole = box->width() >= longest + 36;
        const bool all_there_is = box->width() == form_->row(QString::fromStdString(knob.id))->width();
        QVERIFY2(whole || all_there_is, knob.id.c_str());
        QTRY_VERIFY2(box->width() >= 160, knob.id.c_str());
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
    QTRY_VERIFY(session_->design().parallel.stage_layers.empty());
  }

  void filterHidesAndEscapeClears() {
    form_->focusFilter();
    auto* filter = form_->findChild<QLineEdit*>("form_filter");
    QTest::keyClicks(filter, "microbatch size");
    QVERIFY(!form_->row("tp")->isVisible() && !form_->gpus()->isVisible());
    QTest::keyClick(filter, Qt::Key_Escape);
    QVERIFY(form_->row("tp")->isVisible() && form_->gpus()->isVisible());
    QTest::keyClicks(filter, "tp");
    QVERIFY(form_->row("tp")->isVisible());
    form_->focusKnob("vocab");
    QVERIFY(form_->row("vocab")->isVisible());
  }

  // A choice keeps its height when the filter hides all other rows.
  void aSingleRowKeepsItsHeight() {
    form_->focusFilter();
    auto* filter = form_->findChild<QLineEdit*>("form_filter");
    QTest::keyClicks(filter, "pipeline schedule");
    QTRY_VERIFY(form_->row("schedule")->isVisible() && !form_->row("layers")->isVisible());
    QTest::qWait(50);  // for the layout
    QVERIFY2(form_->row("schedule")->height() < 90,
             qPrintable(QString::number(form_->row("schedule")->height())));
    QTest::keyClick(filter, Qt::Key_Escape);
  }

  // The filter shows rows whose name matches. A button adds rows whose help matches. Without a matching name,
  // the rows whose help matches appear at once.
  void theFilterFindsNamesFirst() {
    auto* filter = form_->findChild<QLineEdit*>("form_filter");
    auto* more = form_->findChild<QPushButton*>("form_mentions");
    const auto shown = [&](KnobRow::Match match) {
      int count = 0;
      for (const Knob& knob : knobs())
        if (const KnobRow* row = form_->row(QString::fromStdString(knob.id));
            row->isVisible() && row->match(filter->text()) == match)
          ++count;
      return count;
    };
    filter->setText("microbatch");
    QVERIFY(shown(KnobRow::Match::Name) > 0);
    QCOMPARE(shown(KnobRow::Match::Help), 0);
    QVERIFY(more->isVisible() && more->text().contains("more mention it"));
    QTest::mouseClick(more, Qt::LeftButton);
    QVERIFY(shown(KnobRow::Match::Help) > 0);
    QVERIFY(!more->isVisible());
    filter->setText("microbatche");  // a new text hides rows that only mention it again
    filter->setText("microbatch");
    QCOMPARE(shown(KnobRow::Match::Help), 0);
    filter->setText("DeepSpeed");  // matches names or help texts
    QVERIFY(shown(KnobRow::Match::Name) > 0 || shown(KnobRow::Match::Help) > 0);
    filter->setText("no such thing at all");
    QVERIFY(!more->isVisible());
  }

  // "128" is first "1" and "12". It takes effect after a pause, with Enter, or when the field loses the
  // focus, and the design never has the numbers before it.
  void halfTypedNumbersHaveNoEffect() {
    QVector<qint64> seen;
    connect(session_.get(), &Session::designChanged, this,
            [&] { seen << session_->design().parallel.dp << session_->design().workload.seq; });
    QLineEdit* dp = focused("dp");
    QTest::keyClicks(dp, "128");
    QVERIFY(seen.isEmpty());
    QTRY_COMPARE(seen, (QVector<qint64>{128, 8192}));
    QTest::keyClick(dp, Qt::Key_Backspace);
    QTest::keyClick(dp, Qt::Key_Return);
    QCOMPARE(seen.mid(2), (QVector<qint64>{12, 8192}));
    QLineEdit* seq = focused("seq");
    QTest::keyClicks(seq, "4096");
    form_->focusKnob("tp");
    QCOMPARE(seen.mid(4), (QVector<qint64>{12, 4096}));
    form_->focusKnob("seq");
    QTest::keyClicks(seq, "2048");
    QTest::keyClick(seq, Qt::Key_Escape);
    QTest::qWait(500);
    QCOMPARE(seen.size(), 6);
    QCOMPARE(seq->text(), QString("4,096"));
    disconnect(session_.get(), &Session::designChanged, this, nullptr);
  }

  void filteredRowsAreNotCut() {
    auto* filter = form_->findChild<QLineEdit*>("form_filter");
    filter->setText("ZeRO");
    for (const char* id : {"stage3_max_live_parameters", "zero_reduce_bucket_size"}) {
      const auto* line = field<QLineEdit>(id);
      QVERIFY(line->isVisible());
      QVERIFY2(line->fontMetrics().horizontalAdvance(line->text()) < line->width() - 16,
               qPrintable(line->text()));  // the text is not cut off
    }
    // The filter leaves one row of the DDP buckets. It gives the reason for being disabled.
    filter->setText("bucket_cap_mb");
    const KnobRow* row = form_->row("bucket_cap_mb");
    QVERIFY(row->isVisible() && !form_->row("first_bucket_mb")->isVisible());
    const auto labels = row->findChildren<QLabel*>();
    QVERIFY(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
      return label->isVisible() && label->text().startsWith("Without effect");
    }));
  }

  void knobsWithoutEffectAreDisabledWithTheReason_data() {
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("why");
    QTest::newRow("experts of a dense model") << "expert_ffn"
                                              << "the llama architecture has no experts";
    QTest::newRow("latent sizes") << "kv_rank"
                                  << "the llama architecture has no latent attention";
    QTest::newRow("mixer sizes") << "ssm_state"
                                 << "the llama architecture has no state-space mixer";
    QTest::newRow("limits of ZeRO") << "stage3_max_live_parameters"
                                    << "sync is not DeepSpeed";
    QTest::newRow("sharding group") << "dp_shard"
                                    << "this gradient sync shards no states";
    QTest::newRow("method of full recompute") << "recompute_method"
                                              << "only full recompute has a method";
    QTest::newRow("degree of Ulysses") << "ulysses_degree"
                                       << "there is no context parallelism (cp = 1)";
    QTest::newRow("degree") << "tp"
                            << "";
    QTest::newRow("pipeline") << "virtual_stages"
                              << "";
  }
  void knobsWithoutEffectAreDisabledWithTheReason() {
    QFETCH(QString, id);
    QFETCH(QString, why);
    KnobRow* row = form_->row(id);
    QCOMPARE(row->idleReason(), why);
    QCOMPARE(row->fieldWidget()->property("idle").toBool(), !why.isEmpty());
    QCOMPARE(row->toolTip().contains("Without effect"), !why.isEmpty());
    QVERIFY(row->fieldWidget()->isEnabled());
    QCOMPARE(row->fieldWidget()->accessibleDescription().startsWith("Without effect: " + why + "."),
             !why.isEmpty());
  }

  void sectionsWithoutEffectFoldAndOpen() {
    KnobSection* section = sectionOf("expert_ffn");
    QTest::mouseClick(form_->groupOf("layers")->foldButton(), Qt::LeftButton);
    QVERIFY(!section->isVisible());  // one line stands for all fields without effect
    QTest::mouseClick(form_->groupOf("layers")->idleLine(), Qt::LeftButton);
    QVERIFY(section->isVisible() && section->folded());
    QVERIFY(section->header()->text().contains("Experts: not in this model"));
    QVERIFY(!form_->row("expert_ffn")->isVisible());
    QTest::mouseClick(section->header(), Qt::LeftButton);
    QVERIFY(form_->row("expert_ffn")->isVisible());
    session_->setKnob("seq", "4096");
    session_->waitForReport();
    QVERIFY(!section->folded());  // a section that the person opened stays open
    section->header()->setFocus();
    QTest::keyClick(section->header(), Qt::Key_Left);
    QVERIFY(!form_->row("expert_ffn")->isVisible());
    QTest::keyClick(section->header(), Qt::Key_Space);
    QVERIFY(form_->row("expert_ffn")->isVisible());
    QTest::keyClick(section->header(), Qt::Key_Return);
    QVERIFY(section->folded());
    form_->focusKnob("expert_ffn");
    QVERIFY(form_->row("expert_ffn")->isVisible());
    QTest::keyClick(section->header(), Qt::Key_Left);
    session_->applyPreset("mixtral-8x7b");
    session_->waitForReport();
    QTRY_VERIFY(form_->row("expert_ffn")->isVisible());
    QVERIFY(form_->row("expert_ffn")->idleReason().isEmpty());
  }

  // The model of a preset folds to its heading. A value of the person's own opens it.
  void theModelOfAPresetIsFolded() {
    KnobGroupBox* model = form_->groupOf("layers");
    QVERIFY(model->folded() && !form_->row("layers")->isVisible());
    QTest::mouseClick(model->foldButton(), Qt::LeftButton);
    QVERIFY(form_->row("layers")->isVisible());
    model->foldButton()->setFocus();
    QTest::keyClick(model->foldButton(), Qt::Key_Space);
    QVERIFY(!form_->row("layers")->isVisible());
    session_->setKnob("layers", "16");
    session_->waitForReport();
    QTRY_VERIFY(form_->row("layers")->isVisible());
    session_->undoStack()->undo();
    session_->waitForReport();
    QTRY_VERIFY(!form_->row("layers")->isVisible());
    form_->focusKnob("layers");
    QVERIFY(form_->row("layers")->isVisible());
  }

  void fieldsWithoutEffectAreOneLine() {
    const KnobGroupBox* group = form_->groupOf("ulysses_degree");
    QVERIFY(!form_->row("ulysses_degree")->isVisible());
    QVERIFY2(group->idleLine()->text().contains("fields without effect"),
             qPrintable(group->idleLine()->text()));
    group->idleLine()->setFocus();
    QTest::keyClick(group->idleLine(), Qt::Key_Space);
    sectionOf("ulysses_degree")->setFolded(false);
    QVERIFY(form_->row("ulysses_degree")->isVisible());
    QTest::keyClick(group->idleLine(), Qt::Key_Space);
    QVERIFY(!form_->row("ulysses_degree")->isVisible());
    session_->setKnob("context", "ulysses-ring");
    session_->setKnob("cp", "2");
    session_->waitForReport();
    QTRY_VERIFY(form_->row("ulysses_degree")->isVisible());
  }

  // "512" GPUs: dp follows from tp, cp and pp. Half of a number has no effect.
  void gpusAreTyped() {
    QLineEdit* gpus = form_->gpus()->field();
    QCOMPARE(gpus->text(), QString("8"));
    QTest::mouseClick(gpus, Qt::LeftButton);
    QTRY_COMPARE(gpus->selectedText(), QString("8"));
    QTest::keyClicks(gpus, "512");
    QCOMPARE(session_->design().parallel.dp, 2);
    QTest::keyClick(gpus, Qt::Key_Return);
    QCOMPARE(session_->design().parallel.dp, 128);
    QCOMPARE(session_->design().world(), 512);
    QCOMPARE(session_->undoStack()->count(), 1);
    QTest::keyClick(gpus, Qt::Key_Up, Qt::ControlModifier);
    QCOMPARE(gpus->text(), QString("1,024"));
    session_->undoStack()->undo();
    QCOMPARE(gpus->text(), QString("512"));
    session_->setKnob("dp", "4");
    QTRY_COMPARE(gpus->text(), QString("16"));
  }

  void gpusThatDoNotDivideAreRefusedWithAFix() {
    QLineEdit* gpus = form_->gpus()->field();
    gpus->setFocus();
    gpus->selectAll();
    QTest::keyClicks(gpus, "6");
    QTest::keyClick(gpus, Qt::Key_Return);
    IssueLine* issue = form_->gpus()->issueLine();
    QVERIFY(issue->isVisible());
    QVERIFY2(issue->text().contains("6 GPUs are not a multiple of tp 2 · pp 2 = 4"),
             qPrintable(issue->text()));
    QVERIFY2(issue->text().contains("such as 4 or 8"), qPrintable(issue->text()));
    QCOMPARE(session_->design().world(), 8);
    QTest::mouseClick(issue->fixButton(), Qt::LeftButton);
    QTRY_COMPARE(session_->design().world(), 6);
    QVERIFY(!issue->isVisible());
    gpus->selectAll();
    QTest::keyClicks(gpus, "many");
    QTest::keyClick(gpus, Qt::Key_Return);
    QVERIFY(issue->isVisible() && issue->text().contains("a whole number from 1"));
    QTest::keyClick(gpus, Qt::Key_Escape);
    QCOMPARE(gpus->text(), QString("6"));
    QVERIFY(!issue->isVisible());
  }

  // Zero means "not set": the field is empty and shows the value of the catalogue.
  void emptyFieldsShowTheirValue() {
    QLineEdit* peak = focused("peak_tflops");
    QCOMPARE(peak->text(), QString());
    QCOMPARE(peak->placeholderText(), QString("989.4 TFLOP/s"));
    QVERIFY(form_->row("peak_tflops")->toolTip().contains("Empty: 989.4 TFLOP/s. Source: "));
    QTest::keyClicks(peak, "500");
    QTest::keyClick(peak, Qt::Key_Return);
    QCOMPARE(session_->design().cluster.peak_tflops, 500);
    QCOMPARE(mark("peak_tflops"), QString("differs"));
    peak->selectAll();
    QTest::keyClick(peak, Qt::Key_Delete);
    QTest::keyClick(peak, Qt::Key_Return);
    QCOMPARE(session_->design().cluster.peak_tflops, 0);
    QCOMPARE(mark("peak_tflops"), QString());
    session_->setKnob("accelerator", "a100-sxm-80gb");
    session_->waitForReport();
    QTRY_COMPARE(peak->placeholderText(), QString("312 TFLOP/s"));
  }

  void aSetValueCanBeReset() {
    QLineEdit* seq = focused("seq");
    QToolButton* reset = form_->row("seq")->resetButton();
    QVERIFY(!reset->isVisible());
    QTest::keyClicks(seq, "4096");
    QTest::keyClick(seq, Qt::Key_Return);
    QVERIFY(reset->isVisible());
    QTest::mouseClick(reset, Qt::LeftButton);
    QCOMPARE(session_->design().workload.seq, 8192);
    QVERIFY(!reset->isVisible());
    session_->undoStack()->undo();
    QCOMPARE(session_->design().workload.seq, 4096);
    QTest::keyClick(focused("seq"), Qt::Key_Delete, Qt::ControlModifier);
    QCOMPARE(session_->design().workload.seq, 8192);
    QCOMPARE(seq->text(), QString("8,192"));
  }

  void rowsWithProblemsAreNeverFolded() {
    QVERIFY(!form_->row("ep")->isVisible());
    session_->setKnob("ep", "2");
    session_->waitForReport();
    QTRY_VERIFY(form_->row("ep")->issueLine()->isVisible());
    QTest::mouseClick(form_->row("ep")->issueLine()->fixButton(), Qt::LeftButton);
    QTRY_COMPARE(session_->design().parallel.ep, 1);
    session_->waitForReport();
    QTRY_VERIFY(!form_->row("ep")->isVisible());
  }

  void rareLimitsAreFoldedAtTheirDefaults() {
    session_->setKnob("pp", "1");
    session_->setKnob("sync", "zero-3");
    session_->waitForReport();
    QTRY_VERIFY(form_->row("stage3_max_reuse_distance")->idleReason().isEmpty());
    QVERIFY(sectionOf("stage3_max_reuse_distance")->folded());
    session_->setKnob("stage3_max_reuse_distance", "1000");
    session_->waitForReport();
    QTRY_VERIFY(form_->row("stage3_max_reuse_distance")->isVisible());
  }

  void impossibleChoicesAreDisabled() {
    auto* sync = field<QComboBox>("sync");
    const auto* items = qobject_cast<QStandardItemModel*>(sync->model());
    const auto item = [&](const char* value) { return items->item(sync->findData(value)); };
    form_->focusKnob("sync");
    QTest::mouseClick(sync, Qt::LeftButton);  // opens the list
    QVERIFY(!item("zero-3")->isEnabled());
    QVERIFY2(item("zero-3")->toolTip().contains("zero-3 does not support pipeline stages"),
             qPrintable(item("zero-3")->toolTip()));
    QVERIFY(item("zero-1")->isEnabled());
    QVERIFY(item("fsdp2")->isEnabled());
    QTest::keyClick(sync->view(), Qt::Key_Escape);
    sync->hidePopup();
    sync->setFocus();
    for (int i = 0; i < sync->count(); ++i) {  // the arrow keys skip disabled choices
      QTest::keyClick(sync, Qt::Key_Down);
      QVERIFY(session_->design().parallel.sync != SyncStrategy::Zero2 &&
              session_->design().parallel.sync != SyncStrategy::Zero3);
    }
    QCOMPARE(session_->design().parallel.sync, SyncStrategy::MegatronFsdp);
    session_->setKnob("pp", "1");
    for (int i = 0; i < 3; ++i) QTest::keyClick(sync, Qt::Key_Up);  // over fsdp2 and fsdp1
    QCOMPARE(session_->design().parallel.sync, SyncStrategy::Zero3);
    session_->setKnob("pp", "2");  // the chosen value stays, with its problem
    QCOMPARE(session_->design().parallel.sync, SyncStrategy::Zero3);
  }

  void totalsFollowTheReport() {
    auto* ranks = form_->findChild<QLabel*>("total_parallelism");
    QCOMPARE(ranks->text(), QString("8 ranks"));
    QTest::keyClicks(focused("dp"), "4");
    QTRY_COMPARE(ranks->text(), QString("16 ranks"));
    QVERIFY(form_->findChild<QLabel*>("total_model")->text().startsWith("8.0"));
    QCOMPARE(form_->findChild<QLabel*>("total_cluster")->text(), QString("2 nodes"));
  }

  // The text of a long fix is elided. The form does not become wider than its panel.
  void aLongFixKeepsTheWidth() {
    IssueLine line(nullptr);
    line.resize(220, 80);
    const QString fix = "set accelerator to one with a name that is longer than the form is wide";
    bool mended = false;
    line.show("this is not known", {}, fix, [&] { mended = true; });
    QVERIFY(line.minimumSizeHint().width() < 220);
    QVERIFY(line.fixButton()->text() != fix && line.fixButton()->text().contains(QChar(0x2026)));
    QCOMPARE(line.fixButton()->toolTip(), fix);
    line.resize(900, 80);
    QTRY_COMPARE(line.fixButton()->text(), fix);
    QTest::mouseClick(line.fixButton(), Qt::LeftButton);
    QTRY_VERIFY(mended);
  }
};

QTEST_MAIN(FormTest)
#include "form_test.moc"

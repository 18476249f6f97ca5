// Groups of the form: the fields at the top, sections that inference does not use, labels for every machine.
#include <QPushButton>
#include <QTest>
#include <algorithm>
#include <memory>

#include "form_window.h"
#include "offscreen.h"
#include "serving/inference.h"
#include "ui/form/config_form.h"
#include "ui/form/gpus_row.h"
#include "ui/form/knob_group.h"
#include "ui/form/knob_row.h"
#include "ui/form/knob_section.h"
#include "ui/session/session.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/theme.h"

using namespace shardscape;
using namespace shardscape::ui;

class FormGroupsTest : public FormWindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  int topOf(const QWidget* widget) const { return widget->mapTo(form_.get(), QPoint(0, 0)).y(); }

 private Q_SLOTS:
  void init() { openForm(320); }
  void cleanup() { closeForm(); }

  // Accelerator, sequence and batch are next to the GPUs, above the degrees.
  void theJobIsAtTheTop() {
    const KnobGroupBox* job = form_->groupOf("accelerator");
    QVERIFY(job && job != form_->groupOf("tp"));
    QVERIFY(job->isAncestorOf(form_->gpus()));
    QTest::qWait(20);  // for the layout
    for (const char* id : {"accelerator", "seq", "batch"}) {
      const KnobRow* row = form_->row(id);
      QCOMPARE(form_->groupOf(id), job);
      QVERIFY2(row->isVisible(), id);
      QVERIFY2(topOf(row) > topOf(form_->gpus()) && topOf(row) < topOf(form_->row("tp")), id);
    }
  }

  // Fields and sections of training have one line per group in decode.
  void decodeHidesFieldsOfTraining() {
    const QStringList of_training{"schedule",  "sync",   "clip_grad_norm", "grad_dtype",
                                  "recompute", "tokens", "moment_dtype",   "offload_optimizer"};
    const auto shown = [&](const QString& id) { return form_->row(id)->isVisible(); };
    for (const QString& id : of_training) QVERIFY2(form_->row(id)->idleReason().isEmpty(), qPrintable(id));
    QVERIFY(shown("schedule"));
    session_->setDesign(serving_design(session_->design(), Mode::Decode, 16, 4096), "serve");
    session_->waitForReport();
    QVERIFY(session_->current());
    QTRY_VERIFY(!shown("schedule"));
    for (const QString& id : of_training) {
      QVERIFY2(!shown(id), qPrintable(id));
      const QPushButton* line = form_->groupOf(id)->idleLine();
      QVERIFY2(line->isVisible() && line->text().contains("without effect"), qPrintable(line->text()));
    }
    for (const KnobGroupBox* group : form_->findChildren<KnobGroupBox*>())
      for (const KnobSection* section : group->sections())
        if (std::all_of(section->rows().begin(), section->rows().end(),
                        [](const KnobRow* row) { return row->isQuiet(); }))
          QVERIFY2(!section->isVisible(), qPrintable(section->accessibleName()));
    // The line opens to the fields.
    form_->groupOf("recompute")->idleLine()->click();
    QVERIFY(form_->row("recompute")->parentWidget()->isVisible());
  }

  // Links inside a node have a name of no maker.
  void scaleUpLinksHaveOneName() {
    for (const char* accelerator : {"h100-sxm-80gb", "tpu-v4", "mi300x-192gb"}) {
      session_->setKnob("accelerator", accelerator);
      session_->waitForReport();
      form_->focusKnob("scaleup_bandwidth");
      KnobRow* row = form_->row("scaleup_bandwidth");
      QVERIFY2(row->isVisible(), accelerator);
      const auto labels = row->findChildren<ElidedLabel*>();
      QVERIFY2(std::any_of(labels.begin(), labels.end(),
                           [](const ElidedLabel* label) { return label->text() == "Scale-up bandwidth"; }),
               accelerator);
      QCOMPARE(row->fieldWidget()->accessibleName(), QString("Scale-up bandwidth"));
    }
  }
};

QTEST_MAIN(FormGroupsTest)
#include "form_groups_test.moc"

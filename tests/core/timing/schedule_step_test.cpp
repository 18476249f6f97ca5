// The step and its memory under every pipeline schedule: equal work, less idle time, and the memory of the
// saved tensors.
#include <QtTest>
#include <map>

#include "design/knobs/knobs.h"
#include "memory/memory_timeline.h"
#include "support/designs.h"
#include "support/schedules.h"
#include "timing/pass_times.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

Design design_of(const std::string& schedule) {
  Design d = preset_design("llama3-8b", 2, 4, 2, true);
  set_knob(d, *find_knob("schedule"), schedule);
  d.parallel.virtual_stages = schedule.ends_with("v") || schedule == "flexible" ? 2 : 1;
  d.workload.microbatch = 1;
  d.workload.batch = 2 * 16;
  return d;
}

struct Step {
  std::shared_ptr<const Report> report;
  std::shared_ptr<const Simulation> simulation;
  std::shared_ptr<const MemoryTimeline> memory;
};

}  // namespace

class ScheduleStepTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    std::vector<std::string> schedules = other_schedules();
    schedules.push_back("1f1b");
    for (const std::string& schedule : schedules) {
      Step& step = steps_[schedule];
      step.report = make_report(design_of(schedule));
      QVERIFY2(step.report->valid(), schedule.c_str());
      step.simulation = simulate(*step.report);
      step.memory = memory_timeline(*step.report);
    }
  }

  // Stages hold different layers, but the sum of the work over all stages is equal.
  void the_work_is_the_same() {
    const auto products = [](const Step& step) {
      double sum = 0;
      for (const StageTimes& stage : step.simulation->stages)
        sum += stage.seconds[static_cast<size_t>(TimeCategory::MatrixProducts)];
      return sum;
    };
    const double wanted = products(steps_.at("1f1b"));
    for (const auto& [schedule, step] : steps_)
      QVERIFY2(std::abs(products(step) / wanted - 1) < 1e-9,
               qPrintable(QString("%1: %2, not %3").arg(schedule.c_str()).arg(products(step)).arg(wanted)));
  }

  void bubbles_are_filled() {
    const auto seconds = [&](const char* schedule) { return steps_.at(schedule).simulation->step_seconds; };
    QVERIFY(seconds("zb-h1") < seconds("1f1b"));
    QVERIFY(seconds("zb-v") < seconds("1f1b"));
    for (const auto& [schedule, step] : steps_) {
      const size_t stages = step.simulation->stages.size();
      for (size_t s = 0; s < stages; ++s) {
        double sum = 0;
        for (const double part : step.simulation->stages[s].seconds) sum += part;
        QVERIFY2(std::abs(sum / step.simulation->step_seconds - 1) < 1e-9, schedule.c_str());
      }
    }
  }

  void memory_follows_what_is_held() {
    const auto most = [&](const char* schedule) {
      return steps_.at(schedule)
          .memory->stages[static_cast<size_t>(steps_.at(schedule).memory->peak_stage)]
          .allocated;
    };
    QVERIFY(most("zb-h2") > most("zb-h1"));
    QVERIFY(most("dualpipe") > most("dualpipe-v"));  // for its second copy of the parameters
    for (const auto& [schedule, step] : steps_)
      for (size_t s = 0; s < step.memory->stages.size(); ++s) {
        // The peak includes the sum of the report, and transient buffers that the report omits.
        const StageReport& stage = step.report->stages[s];
        QVERIFY2(step.memory->stages[s].allocated > 0.9 * static_cast<double>(stage.memory_total),
                 schedule.c_str());
        const std::vector<ActionMemory> all = stage_timeline(*step.report, static_cast<int>(s));
        for (const MemoryCategory of :
             {MemoryCategory::Activations, MemoryCategory::Logits})  // all saved tensors are freed
          QVERIFY2(all.front().begin[static_cast<size_t>(of)] == all.back().end[static_cast<size_t>(of)],
                   schedule.c_str());
      }
  }

  // The note offers the pass times of the step. With these times the note disappears, and the step is not
  // longer.
  void order_from_the_step() {
    Design d = design_of("zb-auto");
    d.parallel.passes.times = {100, 10, 400, 300};
    const auto first = make_report(d);
    const auto before = simulate(*first);
    const auto note = pass_times_note(*first, *before);
    QVERIFY(note && note->severity == Severity::Note && note->code == ProblemCode::PassTimesOutdated &&
            note->fixes.size() == 1);
    for (const auto& [knob, text] : note->fixes.front().settings)
      QVERIFY(!set_knob(d, *find_knob(knob), text));
    const auto second = make_report(d);
    QVERIFY2(second->valid(), second->problems.empty() ? "" : second->problems.front().what.c_str());
    const auto after = simulate(*second);
    QVERIFY(!pass_times_note(*second, *after));
    QVERIFY2(after->step_seconds < before->step_seconds,
             qPrintable(QString("%1, not %2").arg(after->step_seconds).arg(before->step_seconds)));
    // All that a stage computes in passes is accounted for.
    const PassPlan played = measured_passes(*second, *after);
    QVERIFY(d.parallel.passes == played);
    double seconds = 0;
    for (const StageTimes& stage : after->stages)
      for (const SimulatedLayer& layer : stage.layers) seconds += layer.end - layer.begin;
    const double passes = static_cast<double>(played.times[0] + played.times[1] + played.times[2]) * 1e-6 *
                          4 * 16;
    QVERIFY2(std::abs(passes / seconds - 1) < 1e-3,
             qPrintable(QString("%1, not %2").arg(passes).arg(seconds)));
    QVERIFY(played.waiting_percent > 10 && played.waiting_percent < 100);
    QVERIFY(!pass_times_note(*steps_.at("zb-h2").report, *steps_.at("zb-h2").simulation));
  }

 private:
  std::map<std::string, Step> steps_;
};

QTEST_APPLESS_MAIN(ScheduleStepTest)
#include "schedule_step_test.moc"

// What a person waits for while a search of a million designs runs: from a key press to the painted frame,
// for edits (to the frame with the new figures) and for switching views; and the same without a search. Also
// the start of the program and the switch of the theme. On a display: xvfb-run frame_bench.
#include <QApplication>
#include <QElapsedTimer>
#include <QTabWidget>
#include <QTest>
#include <QUndoStack>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>

#include "explore/search.h"
#include "support/bench_figures.h"
#include "ui/form/config_form.h"
#include "ui/form/knob_row.h"
#include "ui/session/session.h"
#include "ui/shell/frame_clock.h"
#include "ui/shell/main_window.h"
#include "ui/toolkit/theme.h"
#include "ui/views/explore/explore_job.h"
#include "ui/views/explore/explore_view.h"

using namespace shardscape;
using namespace shardscape::ui;
using bench::Figure;

namespace {

constexpr int kRounds = 60, kThemes = 10;
constexpr int kLongestWait = 5000;  // ms

// CPU time of this thread.
double cpu_ms() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

struct Bench {
  Session session;
  MainWindow window{&session};
  std::vector<Figure> figures;
  int without_frame = 0;

  // Adds the milliseconds that the person waits after this input. An input that changes nothing visible has
  // no frame, and is counted instead.
  void wait(std::vector<double>& waits, bool for_figures, const std::function<void()>& input) {
    std::optional<double> found;
    bool left_out = false;
    const auto unseen = QObject::connect(window.frameClock(), &FrameClock::inputLeftOut,
                                         [&] { left_out = true; });
    const auto connection = QObject::connect(window.frameClock(), &FrameClock::waited, [&] {
      const FrameClock::Wait& last = *window.frameClock()->last();
      if (!for_figures)
        found = found.value_or(last.frame);
      else if (last.answer)
        found = last.answer;
    });
    input();
    // The figures of an edit may follow an input without a frame.
    const auto ended = [&] { return found.has_value() || (left_out && !for_figures); };
    if (!QTest::qWaitFor(ended, kLongestWait) && !left_out) std::fprintf(stderr, "an input had no frame\n");
    QObject::disconnect(connection);
    QObject::disconnect(unseen);
    if (left_out && !found)
      ++without_frame;
    else
      waits.push_back(found.value_or(kLongestWait));
  }

  void add(const std::string& name, const std::vector<double>& waits) {
    figures.push_back({name + ", median", bench::percentile(waits, 0.5), "ms", "< 100 ms"});
    figures.push_back({name + ", 95th percentile", bench::percentile(waits, 0.95), "ms", "< 250 ms"});
  }

  void measure(const std::string& when) {
    auto* tabs = window.findChild<QTabWidget*>();
    std::vector<double> views, edits;
    for (int round = 0; round < kRounds; ++round) {
      const int view = (tabs->currentIndex() + 1) % tabs->count();
      wait(views, false,
           [&] { QTest::keyClick(&window, static_cast<Qt::Key>(Qt::Key_1 + view), Qt::ControlModifier); });
      window.form()->focusKnob("layers");
      QWidget* field = window.form()->row("layers")->fieldWidget();
      QTest::qWait(20);
      wait(edits, true, [&] { QTest::keyClick(field, round % 2 ? Qt::Key_Down : Qt::Key_Up); });
    }
    add("another view" + when, views);
    add("an edit" + when, edits);
  }

  void switchThemes() {
    std::vector<double> waits;
    const double cpu = cpu_ms();
    for (int round = 0; round < kThemes; ++round) {
      QElapsedTimer timer;
      timer.start();
      Theme::instance().setMode(round % 2 ? Theme::Mode::Light : Theme::Mode::Dark);
      window.repaint();
      QCoreApplication::processEvents();
      waits.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
    }
    figures.push_back({"another theme, median", bench::percentile(waits, 0.5), "ms", "< 200 ms"});
    figures.push_back(
        {"another theme, CPU of the window's thread", (cpu_ms() - cpu) / kThemes, "ms", "< 200 ms"});
    figures.push_back({"widgets of the window", double(window.findChildren<QWidget*>().size()), "", ""});
  }
};

SpaceSpec large_space() {
  Design design = default_design();
  apply_preset(design, "gpt3-175b");
  design.workload.batch = 6144;
  SpaceSpec spec;
  spec.base = design;
  spec.gpus = "4096";
  spec.dimensions = usual_dimensions(design, 4096, {});
  // The search must outlast the measurement.
  spec.dimensions.emplace_back("batch", "1536..12288*2");
  spec.dimensions.emplace_back("vocab", "32000,50304,64000,100352,128256,151936,200064,256000");
  return spec;
}

}  // namespace

int main(int argc, char** argv) {
  QElapsedTimer start;
  start.start();
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM") && !qEnvironmentVariableIsSet("DISPLAY"))
    qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  Theme::instance().setMode(Theme::Mode::Light);
  Bench measured;
  measured.session.waitForReport();
  measured.window.resize(1440, 900);
  measured.window.show();
  if (!QTest::qWaitForWindowExposed(&measured.window)) return 1;
  measured.figures.push_back(
      {"start to the first verdict", static_cast<double>(start.nsecsElapsed()) / 1e6, "ms", "< 600 ms"});
  measured.figures.push_back({"start, CPU of the window's thread", cpu_ms(), "ms", ""});
  measured.switchThemes();
  measured.measure("");
  ExploreJob* job = measured.window.explore()->job();
  job->run(large_space(), {});
  QTest::qWait(1000);
  measured.measure(", with a search");
  std::printf("the search %s: %s\n", job->running() ? "still ran" : "had ended: nothing was measured",
              qPrintable(job->progressText()));
  if (measured.without_frame > 0)
    std::printf("%d inputs changed nothing visible and were left out\n", measured.without_frame);
  job->cancel();
  (void)QTest::qWaitFor([&] { return !job->running(); }, 20000);
  measured.session.undoStack()->setClean();
  return bench::report_figures("What a person waits for", measured.figures, argc, argv);
}

// What a person waits for on the page Requests: from an edit of the design, or of a setting, to the new
// figures of 1,000 requests; and the time to draw the pictures of a million requests. Nothing is asserted.
#include <QApplication>
#include <QElapsedTimer>
#include <QImage>
#include <QLineEdit>
#include <QPainter>
#include <QTest>
#include <QUndoStack>
#include <cstdio>
#include <functional>

#include "serving/requests/arrivals.h"
#include "serving/requests/lengths.h"
#include "support/bench_figures.h"
#include "support/request_cases.h"
#include "ui/session/session.h"
#include "ui/shell/main_window.h"
#include "ui/toolkit/setting_row.h"
#include "ui/toolkit/theme.h"
#include "ui/views/explore/explore_view.h"
#include "ui/views/requests/latency_chart.h"
#include "ui/views/requests/request_timeline.h"
#include "ui/views/requests/requests_page.h"
#include "ui/views/requests/spec_editor.h"
#include "ui/views/requests/workload_chart.h"

using namespace shardscape;
using namespace shardscape::ui;
using bench::Figure;

namespace {

constexpr int kRounds = 40, kDraws = 20, kLongestWait = 60'000;
constexpr int kMillion = 1'000'000;
const QSize kImage(900, 600);

double elapsed_ms(const QElapsedTimer& timer) { return static_cast<double>(timer.nsecsElapsed()) / 1e6; }

// From the edit to the figures of the new run. Every edit has another input, so that no run is known.
void measure_edits(const char* preset, const char* name, std::vector<Figure>& figures) {
  Session session;
  session.applyPreset(QString::fromLatin1(preset));
  session.waitForReport();
  MainWindow window(&session);
  window.resize(1440, 900);
  window.show();
  if (!QTest::qWaitForWindowExposed(&window)) return;
  window.showView(QStringLiteral("Explore"));
  window.explore()->showPage(ExploreView::Requests);
  auto& page = static_cast<RequestsPage&>(*window.explore()->requests());
  const auto wait = [&] { return QTest::qWaitFor([&] { return page.ready(); }, kLongestWait); };
  if (!wait()) return static_cast<void>(std::fprintf(stderr, "%s: no run\n", name));
  std::vector<double> knobs, settings;
  for (int round = 0; round < kRounds; ++round) {
    QElapsedTimer timer;
    timer.start();
    if (session.setKnob(QStringLiteral("vocab"), QString::number(120'000 + 128 * round))) continue;
    if (wait()) knobs.push_back(elapsed_ms(timer));
    QLineEdit* rate = qobject_cast<QLineEdit*>(page.editor()->row("rate")->field());
    rate->setFocus();
    rate->selectAll();
    timer.start();
    QTest::keyClicks(rate, QString::number(1.0 + 0.01 * round));
    QTest::keyClick(rate, Qt::Key_Return);
    if (wait()) settings.push_back(elapsed_ms(timer));
  }
  for (const auto& [what, times] : {std::pair{", a knob", &knobs}, {", a setting", &settings}}) {
    figures.push_back(
        {std::string(name) + what + ", median", bench::percentile(*times, 0.5), "ms", "< 300 ms"});
    figures.push_back(
        {std::string(name) + what + ", 95th percentile", bench::percentile(*times, 0.95), "ms", "< 300 ms"});
  }
  session.undoStack()->setClean();
}

// A million requests of 32 prompt tokens and 8 output tokens on an engine with steps of a linear time.
std::shared_ptr<const ShownRun> a_million() {
  auto run = std::make_shared<ServiceRun>();
  run->design = default_design();
  run->spec.replicas = 1;
  run->pools.resize(1);
  run->pools[0].replicas = 1;
  const std::vector<RequestLength> lengths(kMillion, {32, 8});
  run->workload = open_loop(
      std::get<0>(arrival_times(steady_arrivals(ArrivalKind::Poisson, 2000, 0, 1), kMillion)), lengths);
  test::LinearClock clock(0.01, 1e-6, 0);
  run->simulation = test::simulated(run->workload, run->spec.engine, clock);
  run->results = service_results(run->workload, run->simulation, {});
  return std::make_shared<const ShownRun>(std::move(run));
}

void measure_pictures(std::vector<Figure>& figures) {
  QElapsedTimer timer;
  timer.start();
  const std::shared_ptr<const ShownRun> run = a_million();
  figures.push_back({"a million requests: simulated and prepared", elapsed_ms(timer), "ms", ""});
  WorkloadChart workload;
  LatencyChart latencies;
  RequestTimeline timeline;
  timeline.resize(kImage);
  timer.start();
  workload.setRun(run);
  latencies.setRun(run);
  timeline.setRun(run);
  figures.push_back({"a million requests: shown", elapsed_ms(timer), "ms", "< 16 ms"});
  const std::pair<const char*, const Canvas*> charts[] = {
      {"workload", &workload}, {"latencies", &latencies}, {"timeline", &timeline}};
  QImage image(kImage, QImage::Format_ARGB32_Premultiplied);
  for (const auto& [name, chart] : charts) {
    std::vector<double> times;
    for (int i = 0; i < kDraws; ++i) {
      timer.start();
      QPainter painter(&image);
      chart->paint(painter, QRectF(image.rect()), Qt::white);
      painter.end();
      times.push_back(elapsed_ms(timer));
    }
    figures.push_back({std::string("a million requests: ") + name + " drawn, median",
                       bench::percentile(times, 0.5), "ms", "< 16 ms"});
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM") && !qEnvironmentVariableIsSet("DISPLAY"))
    qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  Theme::instance().setMode(Theme::Mode::Light);
  std::vector<Figure> figures;
  measure_edits("llama3-8b", "Llama 3 8B", figures);
  measure_edits("llama3-70b", "Llama 3 70B", figures);
  measure_pictures(figures);
  return bench::report_figures("The page Requests", figures, argc, argv);
}

// The page of requests: settings of a service at the left; at the right the figures of a simulation, a
// picture and a table.
#pragma once

#include <QTimer>
#include <memory>

#include "serving/service/rate_sweep.h"
#include "serving/service/step_range.h"
#include "ui/plot/view_page.h"
#include "ui/toolkit/newest_job.h"

class QLabel;
class QPushButton;
class QStackedWidget;

namespace shardscape::ui {

class Canvas;
class ChartTable;
class ElidedLabel;
class IssueLine;
class LatencyChart;
class LatencyModel;
class PageSettings;
class PageSplitter;
class RateChart;
class RatesModel;
class RequestTimeline;
class SegmentedControl;
class SelectionState;
class ServiceFigures;
class Session;
class SpecEditor;
class WorkloadChart;

// Simulates while it is visible, always the present design. The last result stays while the next one is
// computed.
class RequestsPage : public ViewPage {
  Q_OBJECT
 public:
  // pages: keeps the settings in the document; null: the page has its own.
  explicit RequestsPage(SelectionState* state, QWidget* parent = nullptr, PageSettings* pages = nullptr);
  enum Shown { Workload, Latencies, Timeline, Load };
  SpecEditor* editor() const { return editor_; }
  ServiceFigures* figures() const { return figures_; }
  SegmentedControl* pictures() const { return switch_; }
  WorkloadChart* workload() const { return workload_; }
  LatencyChart* latencies() const { return latencies_; }
  RequestTimeline* timeline() const { return timeline_; }
  RateChart* rates() const { return rates_; }
  ChartTable* table() const;  // of the shown picture
  // The shown run; null: none yet.
  std::shared_ptr<const ServiceRun> run() const { return run_; }
  std::shared_ptr<const RateSweep> sweep() const { return sweep_; }
  bool ready() const;  // run() belongs to the present design and settings
  bool sweeping() const { return sweeping_; }
  void zoomBy(double factor) override;
  void fit() override;
  Picture picture() const override;

 Q_SIGNALS:
  // The steps that begin in the shown range of the timeline, of its replica.
  void exportStepsRequested(std::shared_ptr<const ServiceRun> run, const shardscape::StepRange& range);

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Input {
    Design design;
    ServiceSpec spec;
    friend bool operator==(const Input&, const Input&) = default;
  };
  QWidget* makeTools();
  QWidget* makeResults();
  QWidget* makeTables();
  void connectAll();
  void refresh();
  void start(const Input& input);
  void stop();
  void accept(const Input& input, std::shared_ptr<const ServiceRun> run);
  void refuse(const Problem& problem);
  void showProblem(const Problem& problem);
  void startSweep();
  void requestSteps();
  void followSettings();
  void fill();
  void showState();
  void showStop(bool late);
  void fitTable();
  void explain();  // in the inspector, and in the line below the picture
  QString caption() const;
  bool sweepIsOf(const Input& input) const;
  Canvas* canvas() const;
  Input input() const;

  SelectionState* state_;
  Session* session_;
  PageSettings* pages_;
  Input input_, shown_input_, sweep_input_;  // of the newest run, of run(), of sweep()
  std::shared_ptr<const ServiceRun> run_;
  std::shared_ptr<const RateSweep> sweep_;
  bool working_ = false, stopped_ = false, refused_ = false, sweeping_ = false;
  size_t done_ = 0, of_ = 0;  // rates of the sweep
  QTimer dim_delay_;          // so that quick runs do not flicker
  SpecEditor* editor_;
  SegmentedControl* switch_;
  QPushButton *sweep_button_, *steps_button_, *stop_button_;
  IssueLine* issue_;
  ServiceFigures* figures_;
  PageSplitter* splitter_;
  QStackedWidget *stack_, *tables_;
  WorkloadChart* workload_;
  LatencyChart* latencies_;
  RequestTimeline* timeline_;
  RateChart* rates_;
  QLabel* message_;
  QWidget* lower_;
  ElidedLabel* caption_;
  ChartTable *latency_table_, *rate_table_;
  LatencyModel* latency_model_;
  RatesModel* rates_model_;
  NewestJob job_, sweep_job_;  // last members: the threads end before what they post to
};

}  // namespace shardscape::ui

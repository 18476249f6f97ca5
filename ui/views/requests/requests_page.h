// The page of requests: settings of a service at the left; at the right the figures of a simulation, a
// picture and a table. With pinned designs also their distributions, their latency against load, and a table
// of differences.
#pragma once

#include <QTimer>
#include <memory>

#include "serving/service/rate_sweep.h"
#include "serving/service/step_range.h"
#include "ui/plot/view_page.h"
#include "ui/toolkit/newest_job.h"
#include "ui/views/requests/run_cache.h"

class QLabel;
class QPushButton;
class QStackedWidget;

namespace shardscape::ui {

class AnswerPanel;
class Canvas;
class ChartTable;
class EffectsPanel;
class ElidedLabel;
class FleetPanel;
class IssueLine;
class LatencyChart;
class LatencyModel;
class PageSettings;
class PageSplitter;
class PinnedRuns;
class RateChart;
class RatesModel;
class RequestTimeline;
class SegmentedControl;
class SelectionState;
class ServiceFigures;
class ServiceComparisonModel;
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
  enum Shown { Workload, Latencies, Timeline, Load, Fleet, Effects };
  static QStringList pictureNames();  // by Shown
  void showPicture(Shown shown);
  void startSweep();
  SpecEditor* editor() const { return editor_; }
  ServiceFigures* figures() const { return figures_; }
  SegmentedControl* pictures() const { return switch_; }
  WorkloadChart* workload() const { return workload_; }
  LatencyChart* latencies() const { return latencies_; }
  RequestTimeline* timeline() const { return timeline_; }
  RateChart* rates() const { return rates_; }
  FleetPanel* fleet() const { return fleet_; }
  EffectsPanel* effects() const { return effects_; }
  ChartTable* table() const;  // of the shown picture
  // The shown run; null: none yet.
  std::shared_ptr<const ServiceRun> run() const { return shown_ ? shown_->run : nullptr; }
  std::shared_ptr<const RateSweep> sweep() const { return sweep_; }
  bool ready() const;  // run() belongs to the present design and settings
  bool sweeping() const { return sweeping_; }
  PinnedRuns* pinned() const { return pinned_; }
  void zoomBy(double factor) override;
  void fit() override;
  Picture picture() const override;

 Q_SIGNALS:
  // The steps that begin in the shown range of the timeline, of its replica.
  void exportStepsRequested(std::shared_ptr<const ServiceRun> run, const shardscape::StepRange& range);
  // The person opens a step of the run as a design. what: the name of the undo step. note: what is shown.
  void stepOpened(const shardscape::Design& design, const QString& what, const QString& note);

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeTools();
  QWidget* makeResults();
  QWidget* makeTables();
  QWidget* makeCaption();
  void connectAll();
  void refresh();
  void start(const ServiceInput& input);
  void stop();
  void forgetRuns();  // the files of models have changed
  void take(const ServiceInput& input, const RunOutcome& outcome);
  void refuse(const Problem& problem);
  void showProblem(const Problem& problem);
  void requestSteps();
  void followSettings();
  void fill();
  void showState();
  void showStop(bool late);
  void showPinned();
  void showStepButtons();
  void pin();
  void openStep(Mode part);
  void fitTable();
  void fitSettings();
  void explain();  // in the inspector, and in the line below the picture
  QString caption() const;
  QString kneeWords() const;
  bool sweepIsOf(const ServiceInput& input) const;
  AnswerPanel* answer() const;  // of the shown picture; null: it shows a run or a sweep
  Canvas* canvas() const;
  ServiceInput input() const;

  SelectionState* state_;
  Session* session_;
  PageSettings* pages_;
  ServiceInput input_, shown_input_, sweep_input_;  // of the newest run, of shown_, of sweep_
  RunCache cache_;
  PinnedRuns* pinned_;
  std::shared_ptr<const ShownRun> shown_;
  std::shared_ptr<const RateSweep> sweep_;
  bool working_ = false, stopped_ = false, refused_ = false, sweeping_ = false;
  size_t done_ = 0, of_ = 0;  // rates of the sweep
  QTimer dim_delay_;          // so that quick runs do not flicker
  SpecEditor* editor_;
  SegmentedControl* switch_;
  QPushButton* settings_button_;
  QPushButton *sweep_button_, *steps_button_, *pin_button_, *stop_button_;
  QPushButton *step_of_request_, *open_prefill_, *open_decode_;
  IssueLine* issue_;
  ServiceFigures* figures_;
  PageSplitter* splitter_;
  QStackedWidget *stack_, *tables_;
  WorkloadChart* workload_;
  LatencyChart* latencies_;
  RequestTimeline* timeline_;
  RateChart* rates_;
  QWidget* results_;
  FleetPanel* fleet_;
  EffectsPanel* effects_;
  QLabel* message_;
  QWidget* lower_;
  ElidedLabel* caption_;
  ChartTable *latency_table_, *comparison_table_, *rate_table_;
  LatencyModel* latency_model_;
  ServiceComparisonModel* comparison_model_;
  RatesModel* rates_model_;
  NewestJob job_{this}, sweep_job_{this};  // last members: the threads end before what they post to
};

}  // namespace shardscape::ui

// The serving page: a sweep of the present design over batches and contexts, as a chart of throughput over
// latency, a map, and a table.
#pragma once

#include <QTimer>
#include <memory>
#include <optional>

#include "ui/plot/view_page.h"
#include "ui/session/comparison_results.h"
#include "ui/toolkit/newest_job.h"
#include "ui/views/serving/serving_canvas.h"
#include "ui/views/serving/serving_map.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QStackedWidget;

namespace shardscape::ui {

class ChartTable;
class PageSettings;
class PageSplitter;
class ElidedLabel;
class IssueLine;
class SegmentedControl;
class ServingChart;
class ServingModel;
class SelectionState;
class Session;

// Computes while it is visible, always for the present design. For a training design it offers to switch to
// inference.
class ServingPage : public ViewPage {
  Q_OBJECT
 public:
  // pages: has the limits of the service; null: the page has its own.
  explicit ServingPage(SelectionState* state, QWidget* parent = nullptr, PageSettings* pages = nullptr);
  ServingChart* chart() const { return chart_; }
  ServingMap* map() const { return map_; }
  ChartTable* table() const { return table_; }
  ServingModel* model() const { return model_; }
  // The shown sweep; null: none yet.
  std::shared_ptr<const ServingSweep> shown() const { return shown_; }
  bool ready() const;  // shown() belongs to the present design and the ranges in the fields
  bool working() const { return working_; }
  bool comparisonReady() const { return comparison_.ready(); }
  void setFigure(ServingFigure figure);
  Picture picture() const override;

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct SweepRequest {                      // the input of a sweep
    Design design;                           // without batch and lengths
    std::vector<int64_t> batches, contexts;  // empty: default ranges
    ServiceLimits limits;
    friend bool operator==(const SweepRequest&, const SweepRequest&) = default;
  };
  using Ranges = std::pair<std::vector<int64_t>, std::vector<int64_t>>;  // batches, contexts
  QWidget* makeTools();
  QWidget* makeCaption();
  QWidget* makeInvitation();
  // Shows the problem of an invalid field; empty if a field is invalid.
  std::optional<SweepRequest> requestFromFields();
  bool covers(const SweepRequest& request) const;
  void refresh();
  void work(const SweepRequest& request);
  ServingSweep swept(const Design& design, const SweepRequest& request, std::stop_token stop,
                     const NewestJob::Post& post, const std::shared_ptr<PlanCache>& plans);
  void cancel();
  void fill();
  void showState();
  QString caption() const;  // what fits, what keeps the limits, or why nothing can run
  void showPresent();
  void scrollToPresent();
  void fitTable();
  void selectPoint(int at);
  void makeCurrent(int at);
  void explain();         // in the inspector
  void enter(Mode mode);  // switches a training design to inference
  Mode mode() const;
  ServingCanvas* canvas() const;
  SelectionState* state_;
  Session* session_;
  PageSettings* pages_;
  NewestJob job_{this};
  QTimer typing_, dim_delay_;  // delay until typed ranges are used; delay until an old sweep is dimmed, so
                               // that quick sweeps do not flicker
  SweepRequest request_, shown_request_;
  std::shared_ptr<const ServingSweep> shown_, filled_,
      phase_;  // the newest sweep; the sweep in pictures and table; the points that the shown phase has
  bool working_ = false, cancelled_ = false;
  size_t done_ = 0, of_ = 0;
  ComparisonResults<ServingSweep, Ranges> comparison_;
  QStackedWidget *stack_, *pictures_;
  QLineEdit *batches_, *contexts_;
  IssueLine* issue_;
  SegmentedControl* picture_switch_;
  QComboBox* figure_;
  ServingChart* chart_;
  ServingMap* map_;
  ElidedLabel *limits_, *selection_text_;
  QLabel *message_, *invitation_;
  QPushButton *stop_, *make_current_;
  PageSplitter* splitter_;  // pictures, caption and table
  QWidget* lower_;
  ChartTable* table_;
  ServingModel* model_;
};

}  // namespace shardscape::ui

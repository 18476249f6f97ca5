// A question about a service that takes many simulations: a button, progress and cancel, bars and a table.
#pragma once

#include <QWidget>
#include <functional>
#include <memory>
#include <optional>

#include "serving/service/service.h"
#include "ui/plot/chart_export.h"
#include "ui/toolkit/newest_job.h"

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace shardscape::ui {

class BarList;
class ChartTable;
class IssueLine;
class PageSettings;
class Session;
class TableModel;

class AnswerPanel : public QWidget {
  Q_OBJECT
 public:
  void start();
  void stop();
  bool working() const { return working_; }
  bool current() const;  // the answer belongs to the present design and settings
  BarList* bars() const { return bars_; }
  ChartTable* table() const { return table_; }
  QPushButton* startButton() const { return start_; }
  QPushButton* stopButton() const { return stop_; }
  QPushButton* applyButton() const { return apply_; }
  QLabel* caption() const { return caption_; }
  IssueLine* issue() const { return issue_; }
  virtual Picture picture() const = 0;
  void applyRow(int row);  // one undo step for the design and the settings; nothing for other rows

 Q_SIGNALS:
  // The question has a problem at a setting of the service.
  void settingRefused(const shardscape::Problem& problem);
  void settingRequested(const QString& id);  // the person wants to see the field of the setting

 protected:
  struct Texts {
    QString name, ask, ask_tip, apply_tip, table;
  };
  using Progress = std::function<void(size_t done, size_t of)>;
  // Runs in a thread. Returns what shows the answer in the window's thread, or a problem.
  using Show = std::function<void()>;
  using Compute = std::function<Result<Show>(std::stop_token stop, const Progress& progress)>;
  AnswerPanel(const Texts& texts, Session* session, PageSettings* pages, QWidget* parent);
  // Reads the fields of the panel in the window's thread.
  virtual Compute question() = 0;
  virtual bool any() const = 0;         // there is an answer
  virtual QString summary() const = 0;  // of the answer
  // Of a row of the table, without a bar: why it has none. Empty: the summary is shown instead.
  virtual QString reasonOf(int) const { return {}; }
  // The field of this panel that has the mistake; null: it is a setting of the service.
  virtual QWidget* fieldOf(const Problem&) const { return nullptr; }
  // The design and the settings of a row of the answer; null: the row has none.
  struct Applied {
    Design design;
    ServiceSpec spec;
    QString what;  // the name of the undo step
  };
  virtual std::optional<Applied> applied(int row) const = 0;
  QHBoxLayout* tools() const { return tools_; }
  void addFields(QWidget* fields);  // below the tools
  void setTable(TableModel* model);
  Session* session() const { return session_; }
  PageSettings* pages() const { return pages_; }

 private:
  void showState();
  void showProblem(const Problem& problem);
  Session* session_;
  PageSettings* pages_;
  QHBoxLayout* tools_;
  QPushButton *start_, *stop_, *apply_;
  QLabel* caption_;
  IssueLine* issue_;
  BarList* bars_;
  ChartTable* table_;
  Design asked_design_;
  ServiceSpec asked_spec_;
  int row_ = -1;  // selected in the table
  bool working_ = false;
  size_t done_ = 0, of_ = 0;
  NewestJob job_{this};  // last member: the thread ends before what it posts to
};

}  // namespace shardscape::ui

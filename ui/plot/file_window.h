// A window of its own for a file that is no design: the name of the file, its facts, and pages.
// TraceWindow and ProfileWindow are such windows.
#pragma once

#include <QWidget>

class QBoxLayout;
class QComboBox;
class QStackedWidget;

namespace shardscape::ui {

class ChartTable;
class ElidedLabel;
class SegmentedControl;
class TableModel;

class FileWindow : public QWidget {
  Q_OBJECT
 public:
  ElidedLabel* facts() const { return facts_; }
  QComboBox* rankChoice() const { return rank_; }

 protected:
  // prefix: of object names ("trace": "trace_window", "trace_pages"). pages: their labels.
  FileWindow(const QString& prefix, const QString& title, const QStringList& pages, QWidget* parent);
  void showReading(const QString& path, const QString& title);  // title: "%1 – trace"
  void showProgress(double part);                               // 0 ... 1
  void setName(const QString& name);
  void setCurrentPage(int page);
  // name: of the object, after the prefix.
  ChartTable* makeTable(const QString& name, const QString& accessible, TableModel* model, QWidget* parent);
  QBoxLayout* head() const { return head_; }    // name, facts, tools
  QBoxLayout* tools() const { return tools_; }  // choice of the page, room, choice of the rank
  SegmentedControl* pages() const { return pages_; }
  QStackedWidget* stack() const { return stack_; }

 private:
  QString prefix_;
  QBoxLayout *head_, *tools_;
  ElidedLabel *name_, *facts_;
  SegmentedControl* pages_;
  QComboBox* rank_;
  QStackedWidget* stack_;
};

}  // namespace shardscape::ui

// Execution traces of any program in a window of their own. Pages: what the traces hold, nodes and their
// neighbours, a timeline of one rank, and the checker's findings.
#pragma once

#include <memory>

#include "trace/rank_timeline.h"
#include "trace/trace_query.h"
#include "ui/plot/file_window.h"

class QLabel;
class QSplitter;

namespace shardscape::ui {

class ChartTable;
class NeighbourCanvas;
class NodeAttributeModel;
class RankTimelineCanvas;
class SearchField;
class Session;
class TraceClassModel;
class TraceCommModel;
class TraceFindingModel;
class TraceKindModel;
class TraceLoader;
class TraceNodeModel;

class TraceWindow : public FileWindow {
  Q_OBJECT
 public:
  enum Page { Overview, Nodes, Timeline, Findings };

  TraceWindow(Session* session, QWidget* parent);
  void open(const QString& path);  // a trace file, or a folder of traces
  void showPage(Page page);
  Page page() const;
  void showNode(qint64 rank, quint64 node);  // on the page of nodes
  qint64 rank() const;
  TraceLoader* loader() const { return loader_; }
  ChartTable* kindTable() const { return kind_table_; }
  ChartTable* commTable() const { return comm_table_; }
  ChartTable* classTable() const { return class_table_; }
  ChartTable* nodeTable() const { return node_table_; }
  ChartTable* findingTable() const { return finding_table_; }
  ChartTable* attributeTable() const { return attribute_table_; }
  NeighbourCanvas* neighbours() const { return neighbours_; }
  RankTimelineCanvas* timeline() const { return timeline_; }
  SearchField* search() const { return search_; }
  QLabel* message() const { return message_; }

 private:
  void chooseRank(qint64 rank);
  void addTools();
  QWidget* makeOverview();
  QWidget* makeNodes();
  QWidget* makeTimeline();
  QWidget* makeFindings();
  void wire();
  void say(const QString& message);  // empty: hides it
  void fill();
  void find();
  void followRank();
  void simulate();
  void showTimeline(std::shared_ptr<const RankTimeline> timeline);
  void chooseMachine();
  Session* session_;
  TraceLoader* loader_;
  SearchField* search_;
  QSplitter* overview_ = nullptr;
  QLabel* message_;
  TraceKindModel* kinds_;
  TraceCommModel* comm_;
  TraceClassModel* classes_;
  TraceNodeModel* nodes_;
  TraceFindingModel* findings_;
  NodeAttributeModel* attributes_;
  ChartTable *kind_table_, *comm_table_, *class_table_, *node_table_, *finding_table_, *attribute_table_;
  NeighbourCanvas* neighbours_;
  RankTimelineCanvas* timeline_;
  QLabel* timeline_text_;
  QComboBox* machine_;        // of the timeline
  QString network_, system_;  // chosen files
  std::vector<FoundNode> found_;
  std::pair<qint64, int> simulated_{-1, -1};  // rank, machine
};

}  // namespace shardscape::ui

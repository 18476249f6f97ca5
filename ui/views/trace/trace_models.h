// The tables of the trace window: a row per kind of node, per communication, per class of ranks, per node,
// and per finding.
#pragma once

#include "trace/trace_overview.h"
#include "trace/trace_query.h"
#include "ui/plot/table_model.h"

namespace shardscape::ui {

class TraceKindModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setKinds(const std::map<std::string, KindTotals>& kinds, UnitSystem units);
};

class TraceCommModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setComm(const std::vector<CommRow>& rows, UnitSystem units);
};

class TraceClassModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setClasses(const std::vector<RankClass>& classes);
};

class TraceNodeModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setNodes(const std::vector<FoundNode>& nodes);
};

class TraceFindingModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setFindings(const std::vector<Finding>& findings);
};

class NodeAttributeModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setAttributes(const std::vector<std::pair<std::string, std::string>>& attributes);
};

QString trace_duration_text(Wide microseconds);  // "1.20 ms"; "–" for 0

}  // namespace shardscape::ui

// The content of the graph view without its position: the tree, the unfolded nodes, options, and the newest
// sheet.
#pragma once

#include <QObject>
#include <QSize>
#include <QTimer>
#include <map>
#include <memory>

#include "ui/views/graph/layout_worker.h"

namespace shardscape::ui {

// How stages follow each other on the canvas. Auto: from left to right where the viewport is wide.
enum class FlowChoice : uint8_t { Auto, Down, Right };

class GraphScene : public QObject {
  Q_OBJECT
 public:
  explicit GraphScene(QObject* parent = nullptr);

  void setReport(std::shared_ptr<const Report> report);  // valid, or null
  void setPasses(Passes passes);
  void setNumbers(bool numbers);
  void setUnits(UnitSystem units);
  void updateFonts();

  void setFlow(FlowChoice choice);
  FlowChoice flowChoice() const { return flow_choice_; }
  void setViewport(const QSize& size);  // Auto depends on its shape

  // Unfolding a folded run of layers or equal stages unfolds its first layer or stage.
  void expand(const NodeId& id);
  void expandPath(const NodeId& id);                    // all containers of the node
  void expandAll(const NodeId& below, int stages = 1);  // stages: of a folded run
  void collapse(const NodeId& id);
  bool isExpanded(const NodeId& id) const { return expanded_.count(id) > 0; }
  bool canExpand(const NodeId& id) const;

  // The tree of the shown sheet, which is one report behind during a layout.
  const GraphTree* tree() const { return shown_tree_.get(); }
  const std::shared_ptr<const GraphTree>& sharedTree() const { return shown_tree_; }
  std::shared_ptr<const Sheet> sheet() const { return sheet_; }
  const SheetOptions& options() const { return options_; }
  const SheetFonts& fonts() const { return fonts_; }  // the fonts of the sheet
  const Expanded& expanded() const { return expanded_; }
  bool pending() const { return job_ != shown_job_; }
  bool late() const { return late_; }  // pending for so long that the view dims the old sheet
  void waitForSheet();                 // tests, headless pictures

 Q_SIGNALS:
  void sheetChanged(bool other_graph);  // another report or other options, not only unfolded
  void lateChanged();
  void flowChanged();

 private:
  void request(bool other);
  void takeSheet(quint64 job, const std::shared_ptr<const Sheet>& sheet);
  void keepValid();
  void foldEqualStages();
  bool unfold(const NodeId& id);  // false: was unfolded
  void updateFlow();

  std::shared_ptr<const GraphTree> tree_, shown_tree_;
  std::shared_ptr<const Sheet> sheet_;
  SheetOptions options_;
  SheetFonts fonts_;
  Expanded expanded_;
  quint64 job_ = 0, shown_job_ = 0, generation_ = 0, shown_generation_ = 0;
  std::map<int, bool> stage_choices_;  // stages that a person unfolded (true) or folded
  FlowChoice flow_choice_ = FlowChoice::Auto;
  QSize viewport_;
  bool late_ = false;
  QTimer late_timer_;
  LayoutWorker worker_{this};
};

}  // namespace shardscape::ui

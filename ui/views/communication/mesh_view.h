// The mesh with the selected rank's groups: buttons choose the group that is shown, the inspector tells of
// it.
#pragma once

#include <QWidget>
#include <map>
#include <string>
#include <vector>

#include "ui/plot/chart_export.h"
#include "ui/selection/selection_state.h"
#include "ui/session/session.h"

class QButtonGroup;
class QHBoxLayout;
class QPushButton;

namespace shardscape::ui {

class DesignChoice;
class MeshCanvas;
struct RankGroup;

class MeshView : public QWidget {
  Q_OBJECT
 public:
  explicit MeshView(SelectionState* state, QWidget* parent = nullptr);
  MeshCanvas* canvas() const { return canvas_; }
  QString group() const { return chosen_; }  // that is shown: "tp"
  void setGroup(const QString& name);
  QList<QPushButton*> chips() const;
  DesignChoice* designChoice() const { return choice_; }  // whose mesh is shown
  void explain();                                         // the shown group in the inspector
  Picture picture(const QString& file_name) const;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void refresh();
  void selectGroup(const QString& name);
  void followSelection(const QObject* by);
  void fillChips();
  void countOthers();
  int chosenIndex() const;
  qint64 rank() const;  // that is selected: of the present design the session's
  QStringList othersOf(
      const std::string& group) const;  // "B: 4": how many ranks the same group has in the other designs
  SelectionState* state_;
  Session* session_;
  QHBoxLayout* row_;
  QButtonGroup* buttons_;
  DesignChoice* choice_;
  qint64 rank_ = 0;  // in the mesh of a pinned design
  struct Other {
    int member = 0;                       // as Comparisons::letter counts
    std::map<std::string, size_t> sizes;  // of the groups that its rank takes part in
  };
  std::vector<Other> others_;  // designs that are not shown: their ranks in the same place of the pipeline
  MeshCanvas* canvas_;
  QString chosen_;
  bool explained_ = false;  // the inspector is about this mesh
  bool explaining_ = false;
};

}  // namespace shardscape::ui

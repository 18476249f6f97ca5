// The mesh with the groups of the selected rank. Buttons choose the shown group; the inspector explains the
// group.
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
  QString group() const { return chosen_; }  // the shown group: "tp"
  void setGroup(const QString& name);
  QList<QPushButton*> chips() const;
  DesignChoice* designChoice() const { return choice_; }  // the design whose mesh is shown
  void explain();                                         // shows the chosen group in the inspector
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
  qint64 rank() const;  // the selected rank; for the present design the rank of the selection state
  struct OtherSize {
    QString letter, ranks;  // "B", "4" or "none"
    QString text() const { return letter + QStringLiteral(": ") + ranks; }
  };
  QList<OtherSize> othersOf(const std::string& group) const;  // the same group in the other designs
  SelectionState* state_;
  Session* session_;
  QHBoxLayout* row_;
  QButtonGroup* buttons_;
  DesignChoice* choice_;
  qint64 rank_ = 0;  // in the mesh of a pinned design
  struct Other {
    int member = 0;                       // 1 is the first pinned design, see Comparisons::letter
    std::map<std::string, size_t> sizes;  // number of ranks, by name of the group
  };
  std::vector<Other> others_;  // group sizes of the designs that are not shown
  MeshCanvas* canvas_;
  QString chosen_;
  bool explained_ = false;  // the inspector shows this mesh's group
  bool explaining_ = false;
};

}  // namespace shardscape::ui

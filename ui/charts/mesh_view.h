// The mesh with the picked rank's groups: buttons choose the group that is shown, the inspector tells of it.
#pragma once

#include <QWidget>

#include "ui/charts/chart_export.h"
#include "ui/state/session.h"

class QButtonGroup;
class QHBoxLayout;
class QPushButton;

namespace shardscape::ui {

class MeshCanvas;
struct RankGroup;

class MeshView : public QWidget {
  Q_OBJECT
 public:
  explicit MeshView(Session* session, QWidget* parent = nullptr);
  MeshCanvas* canvas() const { return canvas_; }
  QString group() const { return chosen_; }  // that is shown: "tp"
  void setGroup(const QString& name);
  QList<QPushButton*> chips() const;
  void explain();  // the shown group in the inspector
  Picture picture(const QString& file_name) const;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void refresh();
  void fillChips();
  int chosenIndex() const;
  Session* session_;
  QHBoxLayout* row_;
  QButtonGroup* buttons_;
  MeshCanvas* canvas_;
  QString chosen_;
  bool explained_ = false;   // the inspector is about this mesh
  bool explaining_ = false;
};

}  // namespace shardscape::ui

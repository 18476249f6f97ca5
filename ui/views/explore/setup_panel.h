// The search panel: varied knobs with their values, GPUs, conditions and the objective; the size of the
// space, and the button that runs the search. A second page lists why designs were left out.
#pragma once

#include <QList>
#include <QTimer>
#include <QWidget>
#include <optional>

#include "explore/goodput_search.h"
#include "explore/search.h"
#include "ui/toolkit/newest_job.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QMenu;
class QProgressBar;
class QPushButton;
class QStackedWidget;
class QToolButton;
class QVBoxLayout;

namespace shardscape::ui {

class ConditionRow;
class DimensionRow;
class ElidedLabel;
class ExploreJob;
class ExclusionList;
class PageSettings;
class SegmentedControl;
class ServiceFields;
class Session;

class SetupPanel : public QWidget {
  Q_OBJECT
 public:
  // pages: has the service of a search by goodput.
  SetupPanel(Session* session, ExploreJob* job, PageSettings* pages, QWidget* parent = nullptr);
  SpaceSpec spec() const;  // the space around the present design
  SearchOptions options() const;
  std::optional<GoodputOptions> goodput() const;  // set: the objective is goodput
  void setFront(int x, int y);  // indices in objectives(): the next search keeps the front of these two
  void showSpaceOf(const SearchResult& result);  // shows the space of a search result
  void offerDefaults();  // offers default dimensions for the present design, when the panel is shown
  bool usual() const { return usual_; }        // the offered dimensions are unchanged
  DimensionRow* row(const QString& id) const;  // nullptr: not in the list
  DimensionRow* addDimension(const QString& id, const QString& values, bool used);
  ConditionRow* addCondition(const QString& text);
  const QList<ConditionRow*>& conditions() const { return conditions_; }
  QPushButton* runButton() const { return run_; }
  QComboBox* objectiveBox() const { return objective_; }
  ServiceFields* service() const { return service_; }
  QLineEdit* marginField() const { return margin_; }
  ExclusionList* reasons() const { return reasons_; }
  QString sizeText() const;  // "1,031,448, of which 82,508 valid"
  bool ready() const;        // no field is invalid
  void runOrCancel();

 Q_SIGNALS:
  void edited();
  void requestsRequested();  // the person wants all settings of the service
  void runChanged();         // the button's text, or whether it is enabled

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* makeSpace();
  void addSearchRows(QVBoxLayout* rows, QWidget* page);
  QWidget* makeReasons();
  QWidget* makeFooter();
  void fillAddMenu(QMenu* menu);
  void clearDimensions();
  void changed();  // the person changed the space
  void check();    // checks each field separately
  void showMethods();
  void countLater();
  void showCount();
  void showRun();
  void showDefaults();
  void followDesign();
  void catchUp();  // with the design, after edits while the panel was hidden
  void findExamples();
  Session* session_;
  ExploreJob* job_;
  SegmentedControl* pages_;
  QStackedWidget* stack_;
  QVBoxLayout *dimension_rows_, *condition_rows_;
  DimensionRow* gpus_;
  QList<DimensionRow*> dimensions_;
  QList<ConditionRow*> conditions_;
  QLineEdit *margin_, *price_, *budget_;
  QComboBox *objective_, *method_;
  QWidget* budget_row_;
  ServiceFields* service_;
  ExclusionList* reasons_;
  NewestJob examples_{this};
  QLabel *size_, *valid_, *refusal_;
  ElidedLabel* progress_text_;
  QProgressBar* progress_;
  QPushButton* run_;
  QTimer pause_;  // delay from the last key to counting
  int front_x_, front_y_;
  bool edited_since_ = false;  // after the last search: its failure is out of date
  bool behind_ = false;        // the design was edited while the panel was hidden
  bool usual_ = true, margin_wrong_ = false, price_wrong_ = false, budget_wrong_ = false;
};

}  // namespace shardscape::ui

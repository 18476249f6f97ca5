// The Designs page: the designs that a search kept, as a scatter plot, filters and a table. A selection is
// shared by all three.
#pragma once

#include <QSet>
#include <QWidget>
#include <memory>
#include <optional>

#include "ui/views/explore/scatter_canvas.h"

class QAction;
class QComboBox;
class QLabel;
class QMenu;
class QPushButton;

namespace shardscape::ui {

class ChartTable;
class DesignsModel;
class ElidedLabel;
class FilterStrips;
class PageSplitter;

class DesignsPage : public QWidget {
  Q_OBJECT
 public:
  explicit DesignsPage(QWidget* parent = nullptr);
  // same_search: further rows of the shown search; the selected design stays.
  void setRows(std::shared_ptr<const ExploreRows> rows, bool same_search);
  const std::shared_ptr<const ExploreRows>& rows() const { return rows_; }
  void setUnits(UnitSystem units);
  void setMessage(const QString& message) { scatter_->setMessage(message); }
  // room: more designs that can be pinned. pinned: designs that are.
  void setComparable(int room, int pinned);
  // Figures by column id: of the present design, then of the pinned designs. Unknown figures are absent.
  void setMarked(const std::vector<QHash<QString, double>>& figures);
  int selectedRow() const { return selected_row_; }               // the one that keys move; -1: none
  const std::vector<int>& chosenRows() const { return chosen_; }  // all selected designs, best first
  void choose(std::vector<int> rows);
  void selectDesign(int row);
  ScatterCanvas* scatter() const { return scatter_; }
  FilterStrips* filters() const { return filters_; }
  ChartTable* table() const { return table_; }
  DesignsModel* model() const { return model_; }
  PageSplitter* splitter() const { return splitter_; }
  QComboBox* axisBox(int which) const { return boxes_[which]; }  // x, y, colour, shape
  QMenu* columnsMenu() const { return columns_menu_; }
  void zoomBy(double factor) { scatter_->zoomBy(factor); }
  void fit() { scatter_->fit(); }

 Q_SIGNALS:
  void makeCurrentRequested(int row);
  void compareRequested(const std::vector<int>& rows);
  void showComparisonRequested();
  void axesChanged();

 protected:
  bool eventFilter(QObject* watched,
                   QEvent* event) override;  // Enter in the table, C in table and scatter, hovering rows
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeTools();
  QWidget* makeCaption();
  void fillBoxes();
  void fitBoxes();
  void applyAxes();
  void filter();
  void fillTable();
  void fillColumnsMenu();
  void leaveOutColumns();
  void showSelectedDesign();
  void showActions();  // the buttons for the selected designs
  void followTable();
  void toggle(int row);
  std::vector<char> passing() const;  // filters and the area
  void keepArea();
  void showMarked();
  void fitHeights();
  void foldFilters(bool folded);
  std::shared_ptr<const ExploreRows> rows_;
  UnitSystem units_ = UnitSystem::Binary;
  QWidget* tools_;
  QComboBox* boxes_[4] = {};
  QString axes_[4];  // column ids, the same for later searches
  ScatterCanvas* scatter_;
  FilterStrips* filters_;
  ElidedLabel *kept_, *selection_text_;
  QPushButton *clear_, *columns_, *compare_, *make_current_, *fold_, *draw_, *keep_area_, *show_pinned_;
  PageSplitter* splitter_;
  QWidget *upper_, *lower_;  // the parts of the splitter
  QMenu* columns_menu_;
  QAction *copy_command_, *copy_json_;  // of the selected design
  ChartTable* table_ = nullptr;
  DesignsModel* model_;
  QSet<QString> hidden_;          // columns that the person hides
  QSet<QString> chosen_columns_;  // columns that the person shows although they are hidden by default
  std::vector<QHash<QString, double>> marked_;
  int selected_row_ = -1;
  std::vector<int> chosen_;
  bool table_leads_ = false;   // the table changes its selection itself
  bool filling_ = false;       // this page changes the selection of the table
  int room_ = 1, pinned_ = 0;  // more designs that can be pinned; designs that are
  // The last rectangle that was drawn, in values of the two columns; `only`: the designs outside are hidden.
  struct Area {
    QString x, y;  // columns
    QRectF values;
    bool only = false;
  };
  std::optional<Area> area_;
};

}  // namespace shardscape::ui

// The layers of the present model: their order in three parts, and for each kind of layers a mixer, a
// feed-forward part and sizes. Every edit is one undo step of the session.
#pragma once

#include <QStringList>
#include <QVector>
#include <QWidget>
#include <memory>
#include <optional>

#include "base/problem.h"
#include "model/model_spec.h"
#include "plan/architecture_check.h"

class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QTableView;

namespace shardscape::ui {

class ElidedLabel;
class IssueLine;
class PartBox;
class PatternStrip;
class Session;
class SizesModel;

class LayersPage : public QWidget {
  Q_OBJECT
 public:
  explicit LayersPage(Session* session, QWidget* parent = nullptr);
  QTableView* sizes() const { return sizes_; }

 Q_SIGNALS:
  void textRequested(const QString& architecture);  // "Duplicate and edit"

 private:
  struct KindRow {
    QLabel *color, *layers, *parameters, *flops;
    ElidedLabel* name;
    PartBox *mixer, *feed_forward;
    QPushButton* copy;
  };
  QWidget* makeHeading();
  QWidget* makeSaveRow();
  QWidget* makePattern();
  QWidget* makeKinds();
  QWidget* makeSizes();
  void refresh();
  void fillRows();
  void fillChoices(PartBox* box, bool mixer);
  KindRow makeRow(int row);
  void choosePart(int row, bool mixer, int index);
  void enterPattern();
  void copyKind(int row);
  QString enterSize(int row, const QString& kind, const QString& text);
  void adopt(const ModelSpec& model, const QString& undo_text);
  void refuse(const Problem& problem);
  void askForWindow();  // if layers have a sliding window without a width
  // The name under which the model is saved as a preset, in the place of the buttons.
  void askName();
  void showNaming(bool naming);
  void saveModel();

  Session* session_;
  ElidedLabel* title_;
  QLabel* numbers_;
  IssueLine* issue_;
  QLineEdit* parts_[3];  // prefix, repeated part, suffix
  PatternStrip* strip_;
  QGridLayout* grid_;
  QVector<KindRow> rows_;
  std::vector<KindNumbers> kinds_;
  std::string pattern_;
  SizesModel* model_;
  QTableView* sizes_;
  QPushButton *edit_text_, *save_;
  QWidget* naming_;
  QLineEdit* name_;
  std::string may_replace_;  // id of another own model: the person was told that saving replaces it
};

}  // namespace shardscape::ui

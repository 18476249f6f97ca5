// The list of models that drops down from the preset box: the imported ones, then the presets by maker,
// newest first, with a line to search in the list.
#pragma once

#include <QFrame>
#include <QStringList>

class QCheckBox;
class QLabel;
class QLineEdit;
class QListView;
class QStandardItemModel;

namespace shardscape::ui {

class PresetPopup : public QFrame {
  Q_OBJECT
 public:
  explicit PresetPopup(QWidget* owner);
  // current: id of the preset to start on. imported: names of the imported models. current_imported: the one
  // to start on; -1: the preset.
  void open(const QString& current, const QStringList& imported, int current_imported);
  QLineEdit* line() const { return line_; }
  QStandardItemModel* model() const { return model_; }

 Q_SIGNALS:
  // published_layout: the person wants the layout that the model's makers, or others, have published.
  void chosen(const QString& id, bool published_layout);
  void importedChosen(int index);  // in the list of open()

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void fill(const QString& words);
  void addHeading(const QString& text);
  void addImported(const QStringList& words);
  void select(const QString& id, int imported = -1);  // the first model if the list has neither
  void move(int rows);                                // skips headings
  void choose();
  void place();
  QLineEdit* line_;
  QListView* list_;
  QLabel* no_match_;
  QCheckBox* layout_;
  QStandardItemModel* model_;
  QStringList imported_;
};

}  // namespace shardscape::ui

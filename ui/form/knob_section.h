// The knobs of one heading in a group. It folds to one line where they mean nothing for the design, or are
// rarely changed.
#pragma once

#include <QVector>
#include <QWidget>
#include <optional>

class QPushButton;

namespace shardscape::ui {

class KnobRow;

class KnobSection : public QWidget {
  Q_OBJECT
 public:
  KnobSection(const QString& name, QWidget* parent);
  void add(KnobRow* row);
  void setHeading(bool shown);                  // a group of one section needs none
  void refresh();                               // after its rows
  int filter(const QString& text, bool helps);  // rows left; while there is a text nothing is folded. helps:
                                                // those with it in their help too
  bool folded() const { return folded_; }
  void setFolded(bool folded);  // the person's choice; holds until the reason to fold comes or goes
  const QVector<KnobRow*>& rows() const { return rows_; }
  QPushButton* header() const { return header_; }

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void showRows();
  void showHeader();
  const QString name_;
  QPushButton* header_;
  QVector<KnobRow*> rows_;
  bool shows(const KnobRow* row) const;
  QString filter_, reason_;
  bool helps_ = false;
  bool heading_ = true, fold_ = false, folded_ = false;
};

}  // namespace shardscape::ui

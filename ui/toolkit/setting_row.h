// One setting of a service: label, field, and a line below for a problem with the typed text.
#pragma once

#include <QTimer>
#include <QWidget>

#include "base/problem.h"
#include "serving/service/service_spec.h"

class QCheckBox;
class QComboBox;
class QLineEdit;

namespace shardscape::ui {

class IssueLine;

class SettingRow : public QWidget {
  Q_OBJECT
 public:
  SettingRow(const ServiceSetting& setting, QWidget* parent);
  const ServiceSetting& setting() const { return setting_; }
  QWidget* field() const;                   // a line, a combo box or a check box, named "setting_" and the id
  void show(const QString& value);          // emits no signal
  void enter(const QString& text);          // as if a person typed or chose it
  void setProblem(const Problem* problem);  // null: the text is accepted
  IssueLine* issue() const { return issue_; }

 Q_SIGNALS:
  void edited(const QString& text);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void makeLine();
  void makeCombo();
  void browse();
  bool says(const QString& text, const QString& value) const;
  void flush();
  const ServiceSetting& setting_;
  // One of these is the field.
  QLineEdit* line_ = nullptr;
  QComboBox* combo_ = nullptr;
  QCheckBox* box_ = nullptr;
  IssueLine* issue_;
  QString value_;  // the last accepted text
  QTimer typing_;
};

}  // namespace shardscape::ui

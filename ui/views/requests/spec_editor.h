// The settings of a service as fields in sections that fold. The fields follow from the table of settings
// (core/serving/service/service_spec.h).
#pragma once

#include <QScrollArea>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "serving/service/service_spec.h"

class QPushButton;

namespace shardscape::ui {

class SettingRow;

class SpecEditor : public QScrollArea {
  Q_OBJECT
 public:
  explicit SpecEditor(QWidget* parent);
  const ServiceSpec& spec() const { return spec_; }   // the accepted values
  bool refused() const { return !refused_.empty(); }  // a field has a text that is not accepted
  void setSpec(const ServiceSpec& spec);              // emits no signal; drops refused texts
  // Shows the problem of a run at the field of its setting, or at the field of the file that it names. False:
  // no field has it. Null: no problem.
  bool showProblem(const Problem* problem);
  SettingRow* row(const std::string& id) const { return rows_.at(id); }
  QPushButton* header(SettingGroup group) const { return sections_.at(group).header; }
  void setFolded(SettingGroup group, bool folded);
  void focusField(const std::string& id);  // scrolls to the field of a setting and gives it the keyboard

 Q_SIGNALS:
  void changed();     // spec() or refused()
  void fieldShown();  // a field gets the keyboard, or shows the problem of a run

 private:
  struct Section {
    QPushButton* header = nullptr;
    QWidget* body = nullptr;
  };
  void addSection(SettingGroup group, QWidget* content);
  void edit(SettingRow* row, const QString& text);
  SettingRow* rowOf(const Problem& problem) const;
  void showEngine();
  ServiceSpec spec_;
  std::map<SettingGroup, Section> sections_;
  std::map<std::string, SettingRow*> rows_;
  std::set<std::string> refused_;
  SettingRow* marked_ = nullptr;  // shows the problem of a run
};

}  // namespace shardscape::ui

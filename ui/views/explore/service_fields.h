// The service of a search by goodput: its requests, engine and service level. The same settings as those of
// the page Requests, which has all of them.
#pragma once

#include <QWidget>
#include <map>
#include <set>
#include <string>

#include "serving/service/service_spec.h"

class QPushButton;

namespace shardscape::ui {

class PageSettings;
class SettingRow;

class ServiceFields : public QWidget {
  Q_OBJECT
 public:
  ServiceFields(PageSettings* pages, QWidget* parent);
  const ServiceSpec& spec() const;
  bool refused() const { return !refused_.empty(); }  // a field has a text that is not accepted
  SettingRow* row(const std::string& id) const;       // null: not among the fields
  // Shows the problem of a search at the field of its setting. False: no field has it.
  bool showProblem(const Problem& problem);
  QPushButton* allSettings() const { return all_; }

 Q_SIGNALS:
  void edited();                // spec() or refused()
  void allSettingsRequested();  // the person wants the page Requests

 private:
  void edit(SettingRow* row, const QString& text);
  void follow();
  PageSettings* pages_;
  std::map<std::string, SettingRow*> rows_;
  std::set<std::string> refused_;
  QPushButton* all_;
};

}  // namespace shardscape::ui

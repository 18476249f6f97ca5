// The settings of engine and fleet that a fleet search varies: a field per setting with its values, and a
// menu that adds settings.
#pragma once

#include <QList>
#include <QString>
#include <QWidget>
#include <string>
#include <utility>
#include <vector>

#include "serving/service/service_spec.h"

class QLineEdit;
class QMenu;
class QPushButton;

namespace shardscape::ui {

class VariedSettings : public QWidget {
  Q_OBJECT
 public:
  VariedSettings(const ServiceSpec& spec, QWidget* parent);
  // The menu offers the settings of this engine, and their values start from it. Fields stay.
  void setSpec(const ServiceSpec& spec) { spec_ = spec; }
  // Adds a field with its usual values: the value of the spec, and a step of each kind around it.
  QLineEdit* add(const ServiceSetting& setting);
  void remove(const std::string& id);
  QLineEdit* field(const std::string& id) const;  // null: the setting does not vary
  QPushButton* addButton() const { return add_; }
  QMenu* menu() const { return menu_; }
  // Id and values of each setting. Blanks around values are dropped.
  std::vector<std::pair<std::string, std::vector<std::string>>> values() const;

 private:
  struct Row {
    const ServiceSetting* setting = nullptr;
    QWidget* widget = nullptr;
    QLineEdit* values = nullptr;
  };
  void fillMenu();
  ServiceSpec spec_;
  QList<Row> rows_;
  QPushButton* add_;
  QMenu* menu_;
};

}  // namespace shardscape::ui

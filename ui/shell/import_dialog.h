// The preview of an imported Hugging Face config.json: recognised, assumed and ignored fields. "Apply" adopts
// the model.
#pragma once

#include <QDialog>

#include "design/design.h"
#include "model/huggingface/hf_import.h"

class QPushButton;
class QStandardItemModel;
class QTreeView;

namespace shardscape::ui {

class Session;

class ImportDialog : public QDialog {
  Q_OBJECT
 public:
  ImportDialog(Session* session, ImportResult result, const QString& file, QWidget* parent);

 private:
  void fill();
  void addSection(const QString& title, const std::vector<ImportField>& fields);
  QString summary() const;  // family, parameters, preset of the same sizes
  QString problemText() const;
  void apply();
  Session* session_;
  ImportResult result_;
  Design design_;  // the present design with the imported model
  QStandardItemModel* model_;
  QTreeView* fields_;
  QPushButton* apply_;
};

}  // namespace shardscape::ui

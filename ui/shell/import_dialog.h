// The preview of an imported Hugging Face config.json: recognised, assumed and unknown fields. Fields that
// do not change the architecture are folded. "Apply" adopts the model. A file of an unknown type can be
// imported as the nearest known type; the preview then lists the differences.
#pragma once

#include <QDialog>

#include "design/design.h"
#include "model/huggingface/hf_files.h"
#include "ui/shell/import_parts.h"

class QLabel;
class QPushButton;

namespace shardscape::ui {

class Session;

class ImportDialog : public QDialog {
  Q_OBJECT
 public:
  // files: with the names that messages show.
  ImportDialog(Session* session, HfFiles files, const QString& file, QWidget* parent);

 Q_SIGNALS:
  void architectureRequested();  // edit the layers of the model

 private:
  void addWidgets();
  void present(ImportResult result);  // shows a result in all parts of the dialog
  void fill();
  void addSection(const QString& title, const std::vector<ImportField>& fields);  // nothing without fields
  QString summary() const;  // family, parameters, preset of the same sizes
  QString problemText() const;
  QString approximationText() const;
  void apply();
  void openEditor();  // after an import that succeeded: with its model
  Session* session_;
  const HfFiles files_;
  const QString file_name_;
  ImportResult result_;
  Design design_;  // the present design with the imported model
  FieldTree fields_;
  QLabel *title_, *summary_, *problem_, *approximation_;
  QPushButton *import_as_, *editor_, *apply_;
};

}  // namespace shardscape::ui

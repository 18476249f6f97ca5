// From a wish to a layout: model, GPUs, accelerator, batch, and the button "Find a layout". Edits the
// design of the session.
#pragma once

#include <QWidget>

class QPushButton;

namespace shardscape::ui {

class PresetBox;
class GpusRow;
class KnobRow;
class Session;

class StartRow : public QWidget {
  Q_OBJECT
 public:
  StartRow(Session* session, QWidget* parent);
  PresetBox* model() const { return model_; }
  GpusRow* gpus() const { return gpus_; }
  KnobRow* accelerator() const { return accelerator_; }
  KnobRow* batch() const { return batch_; }
  QPushButton* findButton() const { return find_; }

 Q_SIGNALS:
  void layoutAsked();

 private:
  void refresh();
  Session* session_;
  PresetBox* model_;
  GpusRow* gpus_;
  KnobRow *accelerator_, *batch_;
  QPushButton* find_;
};

}  // namespace shardscape::ui

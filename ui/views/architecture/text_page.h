// The text of an architecture or a block, next to the graph that it makes. The text is checked while a person
// types: mistakes with line, column and a suggestion; parameters and FLOPs of the model that it makes.
#pragma once

#include <QTimer>
#include <QWidget>
#include <functional>
#include <memory>

#include "plan/architecture_check.h"

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QSplitter;

namespace shardscape::ui {

class ElidedLabel;
class NewestJob;
class Session;

class TextPage : public QWidget {
  Q_OBJECT
 public:
  // Draws the graph of a report; null: no graph.
  using ShowGraph = std::function<void(std::shared_ptr<const Report>)>;
  TextPage(Session* session, QWidget* graph, ShowGraph show_graph, QWidget* parent = nullptr);

  // Opens a copy of a text of the library with an id that is free.
  void duplicate(const QString& id, bool block);
  QPlainTextEdit* editor() const { return editor_; }
  bool checked() const { return check_ && !job_pending_; }  // the newest text is checked
  const ArchitectureCheck* check() const { return check_.get(); }

 Q_SIGNALS:
  void checkedChanged();
  void saved(const QString& path);

 private:
  QWidget* makeBar();
  QWidget* makeEditor(QWidget* parent);
  void fillTexts();
  void openChosen(int index);
  void setText(const QString& text);
  void startCheck();
  void take(std::shared_ptr<const ArchitectureCheck> check);
  void showMistakes();
  void goTo(const Problem& problem);
  bool save();  // whether it is saved
  void use();

  Session* session_;
  ShowGraph show_graph_;
  QComboBox* texts_ = nullptr;
  QPlainTextEdit* editor_ = nullptr;
  QSplitter* split_;
  QPushButton *message_ = nullptr, *save_ = nullptr, *use_ = nullptr;
  ElidedLabel* numbers_ = nullptr;
  NewestJob* job_;
  QTimer delay_;
  std::shared_ptr<const ArchitectureCheck> check_;
  bool job_pending_ = false;
};

}  // namespace shardscape::ui

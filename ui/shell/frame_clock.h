// Measures how long a person waits: from a key press, a click or a turn of the wheel to the next painted
// frame, and, if the input changed the design, to the frame that shows the new figures. Where nothing visible
// changes, no frame comes: such an edit ends when its figures are known, and any other input is left out.
#pragma once

#include <QElapsedTimer>
#include <QFile>
#include <QObject>
#include <QString>
#include <QTimer>
#include <optional>

class QWidget;

namespace shardscape::ui {

class Session;

class FrameClock : public QObject {
  Q_OBJECT
 public:
  // What a person waited for, in milliseconds.
  struct Wait {
    QString input;                 // "key Ctrl+2", "click", "wheel"; "edit": typed text after its pause
    double frame = 0;              // to the first painted frame
    std::optional<double> answer;  // to the frame with the figures of the new design; none: no new design
  };

  // Inputs of this window and of its popups and dialogs.
  FrameClock(Session* session, QWidget* window);
  // From now on every wait is a line of this file: input, frame_ms, answer_ms. An input that is left out has
  // no times. False: the file cannot be written.
  bool logTo(const QString& path);
  const std::optional<Wait>& last() const { return last_; }
  int leftOut() const { return left_out_; }  // inputs without a visible change

 Q_SIGNALS:
  void waited();        // last() is new
  void inputLeftOut();  // an input changed nothing visible

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  bool belongsToWindow(const QWidget* widget) const;
  void begin(const QString& input, double queued);
  double elapsed() const;  // milliseconds since the input
  void painted();
  void nothingPainted();
  void end();
  void log(const QString& input, const QByteArray& frame, const QByteArray& answer);
  Session* session_;
  QWidget* window_;
  double queued_ = 0;  // milliseconds that the input waited for the program to take it
  QElapsedTimer since_;
  QTimer without_frame_;
  std::optional<Wait> wait_, last_;  // wait_: the input whose frame or figures are not painted yet
  bool first_frame_ = false;
  bool awaits_answer_ = false, answered_ = false;
  double answered_at_ = 0;  // when the figures were known
  int left_out_ = 0;
  QFile log_;
};

}  // namespace shardscape::ui

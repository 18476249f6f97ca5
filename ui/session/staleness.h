// Whether what a view shows is of an earlier design, long enough to be seen: everything that dims asks one of
// these, so that all parts of the window dim together.
#pragma once

#include <QObject>
#include <QTimer>

class QWidget;

namespace shardscape::ui {

class Session;

class Staleness : public QObject {
  Q_OBJECT
 public:
  enum class Of { Report, Estimate };  // what is shown: fresh as soon as that is of the present design
  Staleness(const Session* session, Of of, QObject* parent);
  bool stale() const { return stale_; }

 Q_SIGNALS:
  void changed(bool stale);

 private:
  void follow();
  void set(bool stale);
  const Session* session_;
  Of of_;
  QTimer patience_;  // quick results come without a flicker
  bool stale_ = false;
};

// The widget is pale while its figures are of an earlier design; readable still.
void dimWhileStale(QWidget* widget, const Session* session, Staleness::Of of = Staleness::Of::Report);
void setDimmed(QWidget* widget, bool on);

}  // namespace shardscape::ui

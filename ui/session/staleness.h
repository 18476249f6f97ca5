// Tells whether a shown result has belonged to an earlier design for long enough that a person notices. All
// widgets that dim use this class, so that they dim together.
#pragma once

#include <QObject>
#include <QTimer>

class QWidget;

namespace shardscape::ui {

class Session;

class Staleness : public QObject {
  Q_OBJECT
 public:
  enum class Of { Report, Estimate };  // the shown result: it is fresh once it belongs to the present design
  Staleness(const Session* session, Of of, QObject* parent);
  bool stale() const { return stale_; }

 Q_SIGNALS:
  void changed(bool stale);

 private:
  void follow();
  void set(bool stale);
  const Session* session_;
  Of of_;
  QTimer dim_delay_;  // delays dimming, so that quick results do not flicker
  bool stale_ = false;
};

// Paints the widget pale but readable while its figures belong to an earlier design.
void dimWhileStale(QWidget* widget, const Session* session, Staleness::Of of = Staleness::Of::Report);
void setDimmed(QWidget* widget, bool on);

}  // namespace shardscape::ui

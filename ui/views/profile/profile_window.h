// A profile of a run next to the step of the present design: where does the run differ from what it should
// take? The comparison follows the design.
#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "profile/profile_comparison.h"
#include "profile/rank_profile.h"
#include "ui/toolkit/newest_job.h"

class QComboBox;
class QLabel;
class QStackedWidget;

namespace shardscape::ui {

class ChartTable;
class ElidedLabel;
class ProfileBars;
class ProfileCollectiveModel;
class ProfileKernelModel;
class ProfileLayerModel;
class ProfilePartModel;
class ProfileRankModel;
class SegmentedControl;
class Session;

class ProfileWindow : public QWidget {
  Q_OBJECT
 public:
  enum Page { Parts, Collectives, Layers, Kernels, Ranks };

  ProfileWindow(Session* session, QWidget* parent);
  void open(const QStringList& paths);  // profiles, or folders of profiles
  void showPage(Page page);
  const std::vector<RankProfile>& ranks() const { return ranks_; }
  const ProfileComparison* comparison() const { return comparison_ ? &*comparison_ : nullptr; }
  QLabel* verdict() const { return verdict_; }
  QLabel* notes() const { return notes_; }
  ProfileBars* bars() const { return bars_; }
  ChartTable* partTable() const { return tables_[Parts]; }
  ChartTable* table(Page page) const { return tables_[page]; }
  QComboBox* rankChoice() const { return rank_; }

 Q_SIGNALS:
  void opened();

 private:
  QWidget* makeTop();
  QWidget* makeParts();
  void read(std::vector<RankProfile> ranks);
  void compare();
  void fill();
  QString verdictText() const;
  const RankProfile& shown() const;
  Session* session_;
  ElidedLabel *name_, *facts_;
  QLabel *verdict_, *notes_;
  QComboBox* rank_;
  SegmentedControl* pages_;
  QStackedWidget* stack_;
  ProfileBars* bars_;
  ProfilePartModel* parts_;
  ProfileCollectiveModel* collectives_;
  ProfileLayerModel* layers_;
  ProfileKernelModel* kernels_;
  ProfileRankModel* rank_rows_;
  ChartTable* tables_[Ranks + 1] = {};
  std::vector<RankProfile> ranks_;
  std::optional<ProfileComparison> comparison_;
  QString accelerator_;
  NewestJob job_;  // last: it posts to the window
};

}  // namespace shardscape::ui

#include "ui/views/requests/effects_panel.h"

#include <utility>

#include "report/fleet_report.h"
#include "ui/session/page_settings.h"
#include "ui/session/session.h"
#include "ui/toolkit/file_slug.h"
#include "ui/views/requests/answer_models.h"
#include "ui/views/requests/bar_list.h"

namespace shardscape::ui {
namespace {

QString effect_text(const SettingEffect& effect) {
  return EffectsPanel::tr("%1: %2").arg(text_of(effect.setting->label), text_of(effect.value));
}

}  // namespace

EffectsPanel::EffectsPanel(Session* session, PageSettings* pages, QWidget* parent)
    : AnswerPanel({QStringLiteral("effects"), tr("Compute effects"),
                   tr("Simulates one step up and one step down of each setting of the engine"),
                   tr("The settings get the selected value; one undo step"), tr("Effects of settings")},
                  session, pages, parent),
      model_(new EffectsModel(this)) {
  setTable(model_);
}

AnswerPanel::Compute EffectsPanel::question() {
  return [this, design = session()->design(), spec = pages()->pages().service, plans = session()->plans()](
             std::stop_token stop, const Progress& progress) -> Result<Show> {
    auto made = setting_effects(design, spec, stop, plans, progress);
    if (auto* problem = std::get_if<Problem>(&made)) return *std::move(problem);
    return Show([this, effects = std::get<0>(std::move(made))] { show(effects); });
  };
}

void EffectsPanel::show(std::shared_ptr<const SettingEffects> effects) {
  effects_ = std::move(effects);
  std::vector<BarRow> rows;
  for (const SettingEffect& effect : effects_->effects) {
    if (!effect.figures) break;  // those that cannot run come last
    rows.push_back({effect_text(effect), effect.change > 0 ? percent_text(effect.change) : tr("none"),
                    effect.change, effect.figures->keeps_level});
  }
  bars()->setRows(tr("Largest change of p99 TTFT, TPOT, end to end, goodput or cost"), std::move(rows));
  model_->setEffects(*effects_);
}

QString EffectsPanel::summary() const {
  if (effects_->effects.empty() || effects_->effects.front().change <= 0)
    return tr("No setting of the engine has an effect on these requests.");
  const SettingEffect& first = effects_->effects.front();
  return tr("%1 changes a figure by %2, more than any other step.")
      .arg(effect_text(first), percent_text(first.change));
}

std::optional<AnswerPanel::Applied> EffectsPanel::applied(int row) const {
  if (!effects_ || row < 0 || row >= static_cast<int>(effects_->effects.size())) return std::nullopt;
  const SettingEffect& effect = effects_->effects[static_cast<size_t>(row)];
  Applied out{session()->design(), pages()->pages().service, effect_text(effect)};
  if (!effect.figures || set_setting(out.spec, *effect.setting, effect.value)) return std::nullopt;
  return out;
}

Picture EffectsPanel::picture() const {
  const QString name = text_of(session()->design().name);
  Picture picture = bars()->picture(tr("%1, effects of settings").arg(name),
                                    slug(name) + QStringLiteral("-effects"));
  if (effects_) {
    picture.csv = [effects = effects_] { return text_of(effects_csv(*effects)); };
    picture.json = [effects = effects_] { return QByteArray::fromStdString(effects_json(*effects)); };
  }
  return picture;
}

}  // namespace shardscape::ui

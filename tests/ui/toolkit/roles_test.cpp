// One role has one colour, and the roles of one chart stay apart for people with deuteranopia.
#include <QTest>
#include <array>
#include <cmath>

#include "offscreen.h"
#include "ui/toolkit/roles.h"
#include "ui/toolkit/theme.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

using Triple = std::array<double, 3>;

// Machado, Oliveira, Fernandes: A Physiologically-based Model for Simulation of Color Vision Deficiency
// (2009), deuteranopia of severity 1, on linear RGB.
constexpr double kDeuteranopia[3][3] = {
    {0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}};
// Linear sRGB to XYZ, IEC 61966-2-1.
constexpr double kXyz[3][3] = {
    {0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}};

double linear(double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); }

Triple times(const double (&matrix)[3][3], const Triple& in) {
  Triple out{};
  for (size_t r = 0; r < 3; ++r)
    for (size_t c = 0; c < 3; ++c) out[r] += matrix[r][c] * in[c];
  return out;
}

// CIE 1976 L*a*b* of the colour as a person with deuteranopia sees it.
Triple lab(const QColor& color) {
  Triple seen = times(kDeuteranopia, {linear(color.redF()), linear(color.greenF()), linear(color.blueF())});
  for (double& c : seen) c = std::clamp(c, 0.0, 1.0);
  const Triple xyz = times(kXyz, seen);
  const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
  const double x = f(xyz[0] / 0.95047), y = f(xyz[1]), z = f(xyz[2] / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double difference(const QColor& a, const QColor& b) {
  const Triple p = lab(a), q = lab(b);
  return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

constexpr double kLeast = 12;  // CIE 1976; about 2.3 is just noticeable side by side

}  // namespace

class RolesTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void rolesOfOneChartStayApart_data() {
    QTest::addColumn<QList<int>>("roles");
    const auto row = [](const char* name, std::initializer_list<Role> roles) {
      QList<int> list;
      for (const Role role : roles) list << static_cast<int>(role);
      QTest::newRow(name) << list;
    };
    row("memory", {Role::Parameters, Role::Gradients, Role::Optimizer, Role::Activations, Role::Logits,
                   Role::KvCache, Role::Buffers, Role::Runtime});
    row("time", {Role::MatrixProducts, Role::Attention, Role::MemoryBound, Role::TensorParallel,
                 Role::ContextParallel, Role::ExpertParallel, Role::Pipeline, Role::DataParallel, Role::Host,
                 Role::Optimizer, Role::Bubble});
    row("passes", {Role::Forward, Role::Recompute, Role::Backward, Role::WeightGradient, Role::Optimizer,
                   Role::DataParallel, Role::Pipeline, Role::Host});
    row("groups", {Role::TensorParallel, Role::ContextParallel, Role::ExpertParallel, Role::Pipeline,
                   Role::DataParallel, Role::OtherGroups});
    row("ops",
        {Role::MatrixProducts, Role::Attention, Role::ActivationFunctions, Role::Embedding, Role::Routing,
         Role::OtherOps, Role::TensorParallel, Role::ContextParallel, Role::ExpertParallel});
  }
  void rolesOfOneChartStayApart() {
    QFETCH(QList<int>, roles);
    for (const Theme::Mode mode : {Theme::Mode::Light, Theme::Mode::Dark}) {
      Theme::instance().setMode(mode);
      for (int i = 0; i < roles.size(); ++i)
        for (int k = 0; k < i; ++k) {
          const auto a = static_cast<Role>(roles[i]), b = static_cast<Role>(roles[k]);
          if (fill_of(a) != fill_of(b)) continue;
          const double apart = difference(color_of(a), color_of(b));
          QVERIFY2(apart >= kLeast,
                   qPrintable(QString("%1, %2: %3").arg(label_of(a), label_of(b)).arg(apart)));
        }
    }
    Theme::instance().setMode(Theme::Mode::Light);
  }

  // Where hatching says that time is hidden, groups differ by colour alone.
  void groupsDifferByColour() {
    const Role groups[] = {Role::TensorParallel, Role::ContextParallel, Role::ExpertParallel, Role::Pipeline,
                           Role::DataParallel};
    for (const Role& a : groups)
      for (const Role* b = groups; b != &a; ++b)
        QVERIFY2(difference(color_of(a), color_of(*b)) >= kLeast,
                 qPrintable(label_of(a) + ' ' + label_of(*b) + ' ' +
                            QString::number(difference(color_of(a), color_of(*b)))));
  }

  // The same thing under its names in different views.
  void oneRoleForOneThing() {
    QCOMPARE(role_of(MemoryCategory::Optimizer), role_of(TimeCategory::Optimizer));
    QCOMPARE(role_of(TimeCategory::Optimizer), role_of(SpanKind::Optimizer));
    for (const char* group : {"dp", "dp_cp", "dp_shard", "edp", "embedding"})
      QCOMPARE(role_of_group(group), role_of(TimeCategory::DataComm));
    QCOMPARE(role_of(SpanKind::Collective), role_of(TimeCategory::DataComm));
    QCOMPARE(role_of_group("pp"), role_of(TimeCategory::PipelineComm));
    QCOMPARE(role_of(SpanKind::Send), role_of(TimeCategory::PipelineComm));
    for (const char* group : {"tp", "tp_kv", "tp_rep"})
      QCOMPARE(role_of_group(group), role_of(TimeCategory::TensorComm));
    for (const char* group : {"cp", "cp_ring", "cp_ulysses"})
      QCOMPARE(role_of_group(group), role_of(TimeCategory::ContextComm));
    for (const char* group : {"ep", "ep_node", "etp", "etp_ep", "tp_ep"})
      QCOMPARE(role_of_group(group), role_of(TimeCategory::ExpertComm));
    QCOMPARE(role_of(OpKind::Einsum), role_of(TimeCategory::MatrixProducts));
    QCOMPARE(role_of(OpKind::Attention), role_of(TimeCategory::Attention));
    QCOMPARE(fill_of(Role::DataParallel), RoleFill::Hatched);
  }
};

QTEST_MAIN(RolesTest)
#include "roles_test.moc"

// Op kinds, their table of properties, and the attributes of ops.
#include <QTest>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "graph/op_traits.h"
#include "graph/segment_builder.h"
#include "graph/useful_flops.h"
#include "model/library.h"

using namespace shardscape;

class OpKindTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void namesAreUniqueAndFoundAgain() {
    std::set<std::string_view> names, templates;
    for (int i = 0; i < kOpKindCount; ++i) {
      const auto kind = static_cast<OpKind>(i);
      QVERIFY(!op_kind_name(kind).empty());
      QVERIFY2(names.insert(op_kind_name(kind)).second, op_kind_name(kind).data());
      if (template_name(kind).empty()) continue;
      QVERIFY2(templates.insert(template_name(kind)).second, template_name(kind).data());
      QCOMPARE(op_kind_from_name(template_name(kind)), kind);
    }
    QCOMPARE(op_kind_from_name(kRouterRule), OpKind::Einsum);
    QVERIFY(!op_kind_from_name("") && !op_kind_from_name("all_gather"));
  }

  void propertiesAgree() {
    for (int i = 0; i < kOpKindCount; ++i) {
      const auto kind = static_cast<OpKind>(i);
      const OpTraits& row = op_traits(kind);
      const char* const name = op_kind_name(kind).data();
      QVERIFY2(is_redistribution(kind) == (is_collective(kind) || kind == OpKind::Slice), name);
      QVERIFY2(is_routing(kind) == (row.gradient == GradientRule::Routing), name);
      QVERIFY2(!is_ring(kind) || is_collective(kind), name);
      QVERIFY2(!is_relabelling(kind) || is_routing(kind) || kind == OpKind::FoldTokens ||
                   kind == OpKind::SplitHeads,
               name);
      QVERIFY2(template_name(kind).empty() == (row.operands == 0), name);
    }
  }

  // Reports and validation count the same kinds.
  void modelFlopsCountMatrixProductsAndAttention() {
    for (int i = 0; i < kOpKindCount; ++i) {
      const auto kind = static_cast<OpKind>(i);
      QCOMPARE(has_model_flops(kind),
               kind == OpKind::Einsum || kind == OpKind::Attention || kind == OpKind::IndexTopK);
    }
  }

  // A routing rule places the letters that only the result has, in front of the others.
  void routingRulesPlaceTheLettersThatAKindMakes() {
    const std::map<RoutingRule, std::vector<Axis>> made{
        {RoutingRule::StreamToTokens, {Axis::Tokens}},
        {RoutingRule::TokensToStream, {Axis::Batch, Axis::Seq}},
        {RoutingRule::TokensToNodes, {Axis::Nodes, Axis::NodeSlots}},
        {RoutingRule::ToExperts, {Axis::Experts, Axis::Slots}},
        {RoutingRule::FromExperts, {}},
        {RoutingRule::NodesToTokens, {Axis::Tokens}}};
    for (int i = 0; i < kOpKindCount; ++i) {
      const OpTraits& row = op_traits(static_cast<OpKind>(i));
      if (!row.routing || *row.routing == RoutingRule::Tokens) continue;
      QVERIFY2(std::vector<Axis>(row.makes.begin(), row.makes.end()) == made.at(*row.routing),
               row.name.data());
    }
  }

  void everyProfileHasARule() {
    for (const KernelProfile& profile : ModelLibrary::instance().profiles())
      for (int i = 0; i < kOpKindCount; ++i)
        if (const std::string name(template_name(static_cast<OpKind>(i))); !name.empty())
          QVERIFY2(profile.rule(name), (profile.id + ": " + name).c_str());
  }

  void wordsSetAttributesOfOneFamily() {
    const auto spec = parse_op_spec("bshe,btge,btge->bshe; causal, window");
    QVERIFY(spec.has_value());
    const auto* attention = std::get_if<AttentionAttributes>(&spec->attributes);
    QVERIFY(attention && attention->causal && attention->window);
    QVERIFY(!attention->soft_cap && !attention->alibi && attention->ring == Ring::None);
    const auto gate = parse_op_spec("bsf,bsf->bsf; clamp");
    QVERIFY(gate && std::get_if<SwiGluAttributes>(&gate->attributes));
    QVERIFY(std::get<SwiGluAttributes>(gate->attributes).clamp);
    const auto router = parse_op_spec("un->uk; sigmoid, raw");
    QVERIFY(router && std::get_if<RouterAttributes>(&router->attributes));
    QVERIFY(std::get<RouterAttributes>(router->attributes).sigmoid);
    QVERIFY(std::get<RouterAttributes>(router->attributes).raw);
    QVERIFY(!std::get<RouterAttributes>(router->attributes).sqrt_softplus);
    const auto rotation = parse_op_spec("bshe->bshe; part, inverse");
    QVERIFY(rotation && std::get_if<RopeAttributes>(&rotation->attributes));
    QVERIFY(std::get<RopeAttributes>(rotation->attributes).part);
    QVERIFY(std::get<RopeAttributes>(rotation->attributes).inverse);
    QVERIFY(!parse_op_spec("bshe->bshe; part, causal"));
    QVERIFY(std::holds_alternative<std::monostate>(parse_op_spec("bsd,df->bsf")->attributes));
    const auto scan = parse_op_spec("bshk,bshk,bshv->bshv; fixed");
    QVERIFY(scan && std::get<LinearScanAttributes>(scan->attributes).fixed);
    QVERIFY(!std::get<LinearScanAttributes>(scan->attributes).has_delta_rule());
    const auto decay = parse_op_spec("bsgk,g,gk->bsgk; bounded");
    QVERIFY(decay && std::get<DecayGateAttributes>(decay->attributes).bounded);
    QVERIFY(!parse_op_spec("bsgk,g,gk->bsgk; bounded, delta"));
    QVERIFY(!parse_op_spec("bshe,btge,btge->bshe; causal, clamp"));
    QVERIFY(!parse_op_spec("bshe,btge,btge->bshe; ring"));
  }

  void segmentsRefuseOpsWithoutTheAttributesOfTheirKind() {
    const Structure structure;
    const KernelProfile profile;
    SegmentBuilder builder(structure, profile);
    Op op;
    op.name = "gather";
    op.kind = OpKind::AllGather;
    QVERIFY_THROWS_EXCEPTION(std::logic_error, builder.add_op(op));
    op.attributes = default_attributes(op.kind);
    const OpId id = builder.add_op(op);
    QVERIFY(redistribution_of(builder.segment().op(id)) && !attention_of(builder.segment().op(id)));
    QVERIFY_THROWS_EXCEPTION(std::bad_variant_access, attention_attributes(builder.segment().op(id)));
  }
};

QTEST_APPLESS_MAIN(OpKindTest)
#include "op_kind_test.moc"

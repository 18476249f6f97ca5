// The reader of traces agrees with the code that protoc generates, reads older schemas and JSON, and survives
// damage.
#include <google/protobuf/util/delimited_message_util.h>
#include <google/protobuf/util/json_util.h>

#include <QtTest>
#include <random>
#include <sstream>

#include "chakra.pb.h"
#include "chakra/chakra.h"
#include "chakra/trace_reader.h"

using namespace shardscape;
namespace pb = ChakraProtoMsg;
using chakra::CollectiveType;
using chakra::NodeType;

namespace {

using Random = std::mt19937_64;

std::string delimited(const std::vector<const google::protobuf::MessageLite*>& messages) {
  std::ostringstream out;
  for (const auto* m : messages) google::protobuf::util::SerializeDelimitedToOstream(*m, &out);
  return out.str();
}

void set_random_value(pb::AttributeProto& attr, Random& random) {
  const auto bits = random() >> random() % 64;
  switch (random() % 12) {
    case 0: return attr.set_int32_val(static_cast<int32_t>(bits));
    case 1: return attr.set_int64_val(static_cast<int64_t>(bits));
    case 2: return attr.set_uint32_val(static_cast<uint32_t>(bits));
    case 3: return attr.set_uint64_val(bits);
    case 4: return attr.set_sint32_val(static_cast<int32_t>(bits));
    case 5: return attr.set_sint64_val(static_cast<int64_t>(bits));
    case 6: return attr.set_fixed64_val(bits);
    case 7: return attr.set_sfixed32_val(static_cast<int32_t>(bits));
    case 8: return attr.set_bool_val(bits % 2);
    case 9: return attr.set_string_val("group " + std::to_string(bits));
    case 10: return attr.mutable_bool_list()->add_values(bits % 2);
    default: attr.mutable_string_list()->add_values("x"), attr.mutable_string_list()->add_values("64");
  }
}

pb::Node random_node(Random& random) {
  pb::Node node;
  node.set_id(random() >> random() % 64);
  node.set_name("node µ" + std::to_string(random() % 100));
  node.set_type(static_cast<pb::NodeType>(random() % 8));
  node.set_start_time_micros(random() % 1000);
  node.set_duration_micros(random() % 1000);
  for (auto k = random() % 4; k > 0; --k) node.add_ctrl_deps(random() % 300);
  for (auto k = random() % 4; k > 0; --k) node.add_data_deps(random() % 300);
  node.mutable_inputs()->set_values("[1]");
  for (int a = 0; a < kAttrCount; ++a) {
    if (random() % 2) continue;
    pb::AttributeProto& attr = *node.add_attr();
    attr.set_name(std::string(attr_name(static_cast<Attr>(a))));
    attr.set_doc_string("text");
    set_random_value(attr, random);
  }
  node.add_attr()->set_name("another program's");
  return node;
}

int64_t integer_of(const pb::AttributeProto& a) {
  switch (a.value_case()) {
    case pb::AttributeProto::kInt32Val: return a.int32_val();
    case pb::AttributeProto::kInt64Val: return a.int64_val();
    case pb::AttributeProto::kUint32Val: return a.uint32_val();
    case pb::AttributeProto::kUint64Val: return static_cast<int64_t>(a.uint64_val());
    case pb::AttributeProto::kSint32Val: return a.sint32_val();
    case pb::AttributeProto::kSint64Val: return a.sint64_val();
    case pb::AttributeProto::kFixed64Val: return static_cast<int64_t>(a.fixed64_val());
    case pb::AttributeProto::kSfixed32Val: return a.sfixed32_val();
    case pb::AttributeProto::kBoolVal: return a.bool_val();
    default: return 0;
  }
}

void compare(const RawNode& read, const pb::Node& node) {
  QCOMPARE(read.id, node.id());
  QCOMPARE(std::string(read.name), node.name());
  QCOMPARE(read.type, int64_t{node.type()});
  QCOMPARE(read.start, node.start_time_micros());
  QCOMPARE(read.duration, node.duration_micros());
  QCOMPARE(read.ctrl_deps, std::vector<uint64_t>(node.ctrl_deps().begin(), node.ctrl_deps().end()));
  QCOMPARE(read.data_deps, std::vector<uint64_t>(node.data_deps().begin(), node.data_deps().end()));
  for (const pb::AttributeProto& a : node.attr()) {
    RawNode copy = read;
    const AttrValue* value = find_attr(a.name(), copy);
    if (!value) continue;
    QVERIFY(value->present && !value->repeated);
    QCOMPARE(value->kind, static_cast<uint32_t>(a.value_case()));
    QCOMPARE(value->integer, integer_of(a));
    QCOMPARE(std::string(value->text), a.string_val());
    QCOMPARE(value->any_true, a.bool_list().values_size() > 0 && a.bool_list().values(0));
  }
}

struct Read {
  std::vector<RawNode> nodes;
  std::vector<std::string> names, groups;
  std::string version, form, problem;
};

// Texts of the nodes are valid in names and groups only.
Read read_all(const std::string& file) {
  Read out;
  TraceReader reader(file);
  reader.read_metadata(out.version);
  RawNode node;
  TraceReader::Step step;
  while ((step = reader.next(node)) == TraceReader::Step::Node) {
    out.nodes.push_back(node);
    out.names.emplace_back(node.name);
    out.groups.emplace_back(node.attr(Attr::PgName).text);
  }
  out.form = reader.form();
  if (reader.json_version()) out.version = *reader.json_version();
  if (step == TraceReader::Step::Bad) out.problem = reader.problem();
  return out;
}

// A field of the wire format; sizes below 128.
std::string number(uint32_t field, uint8_t value) {
  std::string out;
  if (field >= 16)
    return {static_cast<char>((field << 3 & 0x7f) | 0x80), static_cast<char>(field >> 4),
            static_cast<char>(value)};
  return {static_cast<char>(field << 3), static_cast<char>(value)};
}
std::string bytes(uint32_t field, const std::string& content) {
  return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(content.size())} + content;
}
std::string message(const std::string& content) { return static_cast<char>(content.size()) + content; }

}  // namespace

class TraceFormsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void decoder_agrees_with_protobuf() {
    Random random(1);
    for (int round = 0; round < 500; ++round) {
      pb::GlobalMetadata metadata;
      metadata.set_version("1.0");
      const pb::Node node = random_node(random);
      const std::string file = delimited({&metadata, &node});
      TraceReader reader(file);
      std::string version;
      QVERIFY(reader.read_metadata(version));
      QCOMPARE(version, std::string("1.0"));
      RawNode read;
      QVERIFY2(reader.next(read) == TraceReader::Step::Node, reader.problem().c_str());
      compare(read, node);
      if (QTest::currentTestFailed()) return;
      QVERIFY(reader.next(read) == TraceReader::Step::End);
    }
  }

  // Whatever protobuf refuses of a node's own fields, the reader refuses; no bytes crash it.
  void damage_is_survived() {
    Random random(2);
    int refused = 0;
    for (int round = 0; round < 4000; ++round) {
      pb::GlobalMetadata metadata;
      const pb::Node node = random_node(random);
      std::string file = delimited({&metadata, &node, &node});
      for (auto k = 1 + random() % 4; k > 0; --k) file[random() % file.size()] = static_cast<char>(random());
      if (random() % 3 == 0) file.resize(random() % file.size());
      refused += !read_all(file).problem.empty();
    }
    QVERIFY(refused > 1000);
  }

  void json_of_protobuf_reads_the_same() {
    Random random(3);
    pb::GlobalMetadata metadata;
    metadata.set_version("1.0");
    std::string json;
    std::vector<pb::Node> nodes;
    google::protobuf::util::JsonPrintOptions options;
    options.add_whitespace = true;
    const auto print = [&](const google::protobuf::Message& m) {
      std::string text;
      QVERIFY(google::protobuf::util::MessageToJsonString(m, &text, options).ok());
      json += text;
    };
    print(metadata);
    for (int k = 0; k < 50; ++k) print(nodes.emplace_back(random_node(random)));
    TraceReader reader(json);
    RawNode read;
    for (const pb::Node& node : nodes) {
      QVERIFY2(reader.next(read) == TraceReader::Step::Node, reader.problem().c_str());
      QCOMPARE(read.id, node.id());
      QCOMPARE(std::string(read.name), node.name());
      QCOMPARE(read.type, int64_t{node.type()});
      QCOMPARE(read.duration, node.duration_micros());
      QCOMPARE(read.ctrl_deps.size(), static_cast<size_t>(node.ctrl_deps_size()));
      for (const pb::AttributeProto& a : node.attr())
        if (a.has_int64_val() && find_attr(a.name(), read) && a.name() != "pg_name" && a.name() != "inputs" &&
            a.name() != "outputs")
          QCOMPARE(find_attr(a.name(), read)->integer, a.int64_val());
    }
    QVERIFY(reader.next(read) == TraceReader::Step::End);
    QCOMPARE(*reader.json_version(), std::string("1.0"));
    QCOMPARE(reader.form(), std::string("JSON of Chakra's jsonizer"));
  }

  // 0.0.1: values are fields, COMM_COLL_NODE is 6, ALL_GATHER is 3, a file has no metadata.
  void schema_0_0_1() {
    const Read read = read_all(
        message(number(1, 1) + bytes(2, "a") + number(3, 3) + number(6, 8) + number(12, 9)) +
        message(number(1, 4) + bytes(2, "g") + number(3, 6) + number(4, 1) + number(13, 3) + number(15, 2) +
                number(18, 64)));
    QVERIFY2(read.problem.empty(), read.problem.c_str());
    QCOMPARE(read.form, std::string("Chakra 0.0.1"));
    QCOMPARE(read.nodes.size(), size_t{2});
    QCOMPARE(read.nodes[0].type, int64_t(NodeType::Comp));
    QCOMPARE(read.nodes[0].attr(Attr::NumOps).integer, 9);
    QCOMPARE(read.nodes[0].attr(Attr::TensorSize).integer, 8);
    QCOMPARE(read.nodes[1].type, int64_t(NodeType::Coll));
    QCOMPARE(read.nodes[1].data_deps, std::vector<uint64_t>{1});
    QCOMPARE(read.nodes[1].attr(Attr::CommType).integer, int64_t(CollectiveType::AllGather));
    QCOMPARE(read.nodes[1].attr(Attr::CommSize).integer, 64);
    QCOMPARE(read.nodes[1].attr(Attr::PgName).integer, 2);
  }

  // Attributes with a type (field 2). 0.0.2 has no METADATA_NODE: an integer has type 1 and field 5.
  void schemas_0_0_2_and_0_0_3() {
    const auto attr = [](const char* name, uint8_t type, uint32_t field, uint8_t value) {
      return bytes(11, bytes(1, name) + number(2, type) + number(field, value));
    };
    const Read third = read_all(message(bytes(1, bytes(1, "schema") + number(2, 4) + bytes(8, "x"))) +
                                message(number(1, 1) + bytes(2, "g") + number(3, 7) +
                                        attr("comm_type", 3, 7, 1) + attr("comm_size", 3, 7, 64) +
                                        attr("runtime", 3, 7, 5)));
    QVERIFY2(third.problem.empty(), third.problem.c_str());
    QCOMPARE(third.form, std::string("Chakra 0.0.2 or 0.0.3"));
    QCOMPARE(third.nodes.size(), size_t{1});
    QCOMPARE(third.nodes[0].type, int64_t(NodeType::Coll));
    QCOMPARE(third.nodes[0].attr(Attr::CommType).integer, int64_t(CollectiveType::AllToAll));
    QCOMPARE(third.nodes[0].attr(Attr::CommSize).integer, 64);
    QCOMPARE(third.nodes[0].duration, uint64_t{5});
    const Read second = read_all(message(number(1, 1) + bytes(2, "g") + number(3, 6) +
                                         attr("comm_type", 1, 5, 2) + attr("comm_size", 1, 5, 9)));
    QCOMPARE(second.nodes.size(), size_t{1});
    QCOMPARE(second.nodes[0].type, int64_t(NodeType::Coll));
    QCOMPARE(second.nodes[0].attr(Attr::CommType).integer, int64_t(CollectiveType::AllGather));
    QCOMPARE(second.nodes[0].attr(Attr::CommSize).integer, 9);
  }

  void json_forms() {
    const Read feeder = read_all(
        R"({"workload_graph": [{"Id": 216, "Name": "x", "NodeType": 7, "data_deps": [3, 4],
      "runtime": 318, "is_cpu_op": true, "comm_type": 2, "comm_size": 64}]})");
    QVERIFY2(feeder.problem.empty(), feeder.problem.c_str());
    QCOMPARE(feeder.form, std::string("JSON of Chakra's feeder"));
    QCOMPARE(feeder.nodes.at(0).data_deps, (std::vector<uint64_t>{3, 4}));
    QCOMPARE(feeder.nodes[0].duration, uint64_t{318});
    QCOMPARE(feeder.nodes[0].attr(Attr::CommType).integer, int64_t(CollectiveType::AllGather));
    const Read stage = read_all(
        R"({"nodes": [{"id": 7, "name": "r", "node_type": "coll_comm_node", "y_tensor_size": 1,
      "data_deps": [], "ctrl_deps": [1], "comm_size": 64,
      "comm_type": "REDUCE_SCATTER", "comm_group": 5}]})");
    QVERIFY2(stage.problem.empty(), stage.problem.c_str());
    QCOMPARE(stage.nodes.at(0).type, int64_t(NodeType::Coll));
    QCOMPARE(stage.groups[0], std::string("5"));
    QCOMPARE(stage.nodes[0].attr(Attr::CommType).integer, int64_t(CollectiveType::ReduceScatter));
    const Read pytorch = read_all(R"({"schema": "1.1.0-chakra.0.0.4", "pid": 1, "nodes": [
      {"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1,
       "inputs": {"values": []}},
      {"id": 2, "name": "record_param_comms", "ctrl_deps": 1, "attrs": [{"name": "pg_name", "type": "string",
        "value": "3"}], "inputs": {"values": [[[4, 5, 0, 100, 4, "cuda:1"]], 33, "broadcast"]}}],
      "finish_ts": 9})");
    QVERIFY2(pytorch.problem.empty(), pytorch.problem.c_str());
    QCOMPARE(pytorch.form, std::string("execution trace of PyTorch"));
    QCOMPARE(pytorch.version, std::string("1.1.0-chakra.0.0.4"));
    QVERIFY(pytorch.nodes.at(0).is_root());
    QCOMPARE(pytorch.nodes.at(1).type, int64_t(NodeType::Coll));
    QCOMPARE(pytorch.nodes[1].attr(Attr::CommType).integer, int64_t(CollectiveType::Broadcast));
    QCOMPARE(pytorch.nodes[1].attr(Attr::CommSize).integer, 400);
    QCOMPARE(pytorch.groups[1], std::string("3"));
  }

  void bad_json_names_the_line_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("problem");
    const auto row = [](const char* name, const QString& file, const char* problem) {
      QTest::newRow(name) << file << QString(problem);
    };
    row("list cut off", "{\"nodes\": [\n{\"id\": 1, \"name\": \"a\"},\n",
        "line 3: the list of nodes is not closed");
    row("node cut off", "{\"nodes\": [\n{\"id\": 1, \"na", "line 2: a text has no closing quote");
    row("bracket open", "{\"nodes\": [\n{\"id\": 1, \"x\": [1, 2", "line 2: a bracket is not closed");
    row("no object", "{\"nodes\": [\n5]}", "line 2: a node must be an object");
    row("id of another type", "{\"nodes\": [{\"id\": [], \"name\": \"a\"}]}",
        "the key \"id\" must be an integer");
    row("type of another type", "{\"nodes\": [{\"id\": 1, \"type\": \"X\"}]}",
        "the key \"type\" must be a node type");
    row("dependency of another type", "{\"nodes\": [{\"id\": 1, \"name\": \"a\", \"data_deps\": [\"x\"]}]}",
        "the key \"data_deps\" must be an id");
    row("no JSON inside", "{\"nodes\": [\n\n{\"id\": nul}]}", "line 3: a node is not JSON");
    row("deep", "{\"nodes\": [{\"id\": 1, \"x\": " + QString(200'000, '['), "more than 100 levels");
    row("deep metadata", "{\"a\": " + QString(200'000, '{'), "more than 100 levels");
  }
  void bad_json_names_the_line() {
    QFETCH(QString, file);
    QFETCH(QString, problem);
    const Read read = read_all(file.toStdString());
    QVERIFY2(QString::fromStdString(read.problem).contains(problem), read.problem.c_str());
  }
};

QTEST_APPLESS_MAIN(TraceFormsTest)
#include "trace_forms_test.moc"

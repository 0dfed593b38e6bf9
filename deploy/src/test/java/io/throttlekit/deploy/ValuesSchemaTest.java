package io.throttlekit.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The schema of the chart's values, which Helm checks before it renders. */
class ValuesSchemaTest {
  private static final Path VALUES = Chart.FOLDER.resolve("values.yaml");
  private static final Pattern KEY = Pattern.compile("^ *[a-zA-Z_]+:.*");

  private final ObjectMapper json = new ObjectMapper();
  private final Schema schema;

  ValuesSchemaTest() throws IOException {
    schema =
        SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_7)
            .getSchema(Files.readString(Chart.FOLDER.resolve("values.schema.json")));
  }

  static List<String> examples() throws IOException {
    return Chart.examples();
  }

  /** As Helm does, which adds the defaults first. */
  private List<String> mistakes(Map<String, Object> values) throws IOException {
    Map<String, Object> all = merged(Manifest.readMap(VALUES), values);
    return schema.validate(json.<JsonNode>valueToTree(all)).stream().map(Object::toString).toList();
  }

  private static Map<String, Object> merged(Map<String, Object> base, Map<String, Object> over) {
    Map<String, Object> merged = new TreeMap<>(base);
    over.forEach((name, value) -> {
      boolean both = value instanceof Map<?, ?> && base.get(name) instanceof Map<?, ?>;
      merged.put(
          name, both ? merged(new Manifest(base).map(name), new Manifest(over).map(name)) : value);
    });
    return merged;
  }

  @Test
  void theDefaultsAreValid() throws IOException {
    assertThat(mistakes(Map.of())).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("examples")
  void theExamplesAreValid(String example) throws IOException {
    assertThat(mistakes(Manifest.readMap(Chart.example(example)))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{replicas: 3} | replicas",
        "{image: {name: x}} | name",
        "{image: {repository: x, digest: sha256:12}} | digest",
        "{replicaCount: two} | replicaCount",
        "{store: {uri: 'redis:6379'}} | uri",
        "{store: {perSecond: {uri: 'postgresql://db/limits'}}} | uri",
        "{store: {password: secret}} | password",
        "{store: {passwordSecret: {name: Login}}} | name",
        "{grpc: {port: 80}} | port", // the user of the image may not bind it
        "{policies: {files: {shop.json: '{}'}}} | shop.json",
        "{service: {type: External}} | type",
        "{serviceMonitor: {interval: 15}} | interval",
        "{podAnnotations: {a: 1}} | a",
        "{probes: {liveness: {path: /livez}}} | path",
        "{extraEnv: [{value: x}]} | name",
        "{networkPolicy: {grpcFrom: [{cidr: 10.0.0.0/8}]}} | cidr",
        "{xds: {server: envoy-gateway}} | server",
        "{fullnameOverride: Rate_Limits} | fullnameOverride",
        "{config: {respnse: {}}} | respnse",
        "{config: {grpc: 8081}} | grpc",
        "{replicaCount: 0} | replicaCount",
        "{image: {tag: ''}} | tag",
        "{image: {digest: ''}} | digest",
        "{image: {repository: 'registry.example/throttlekit:'}} | repository",
        "{redis: {image: 'redis:'}} | image",
        "{compatibility: ratelimit} | compatibility",
        "{prometheusRule: {runbookUrl: docs/OPERATIONS.md}} | runbookUrl",
      })
  void aMistakeIsRejected(String values, String named) throws IOException {
    assertThat(mistakes(Manifest.readMap(values)))
        .isNotEmpty()
        .allSatisfy(mistake -> assertThat(mistake).contains(named));
  }

  /** In a template, every text counts as true, also "false". */
  @Test
  void aTextInPlaceOfABooleanIsRejected() throws IOException {
    List<String> flags = new ArrayList<>();
    addFlags("", Manifest.readMap(VALUES), flags);
    assertThat(flags)
        .contains("sensors.enabled", "podSecurityContext.runAsNonRoot")
        .hasSizeGreaterThan(20);
    for (String flag : flags) {
      Object values = "false";
      List<String> path = List.of(flag.split("\\."));
      for (String name : path.reversed()) {
        values = Map.of(name, values);
      }
      assertThat(mistakes(new Manifest(Map.of("all", values)).map("all")))
          .as(flag)
          .singleElement()
          .asString()
          .contains(path.getLast());
    }
  }

  private static void addFlags(String prefix, Map<String, Object> values, List<String> flags) {
    values.forEach((name, value) -> {
      if (value instanceof Boolean) {
        flags.add(prefix + name);
      } else if (value instanceof Map<?, ?>) {
        addFlags(prefix + name + ".", new Manifest(values).map(name), flags);
      }
    });
  }

  @Test
  void theSectionsOfTheConfigurationAreThoseOfTheService() throws IOException {
    Set<String> sections = new TreeSet<>();
    Pattern.compile("^\\| `([a-z_]+)\\.[a-z_.]+` \\|", Pattern.MULTILINE)
        .matcher(Files.readString(Chart.PROJECT.resolve("docs/CONFIGURATION.md")))
        .results()
        .forEach(setting -> sections.add(setting.group(1)));
    assertThat(sections).contains("grpc", "store");
    for (String section : sections) {
      assertThat(mistakes(Map.of("config", Map.of(section, Map.of())))).isEmpty();
    }
    Manifest schema = new Manifest(Manifest.readMap(Chart.FOLDER.resolve("values.schema.json")));
    assertThat(schema.map("properties", "config", "properties").keySet()).isEqualTo(sections);
  }

  @Test
  void everyValueHasAComment() throws IOException {
    List<String> lines = Files.readAllLines(VALUES);
    for (int i = 0; i < lines.size(); i++) {
      if (KEY.matcher(lines.get(i)).matches()) {
        assertThat(lines.get(i - 1).strip()).as("above %s", lines.get(i)).startsWith("# ");
      }
    }
  }
}

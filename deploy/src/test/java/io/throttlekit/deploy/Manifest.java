package io.throttlekit.deploy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;

/**
 * An object of Kubernetes.
 *
 * @param fields its YAML
 */
record Manifest(Map<String, Object> fields) {

  /** Reads all documents of a file that are not empty, sorted by kind and name. */
  static List<Manifest> readAll(String yaml) {
    List<Manifest> manifests = new ArrayList<>();
    for (Object document : load().loadAllFromString(yaml)) {
      if (document != null) {
        manifests.add(new Manifest(map(document)));
      }
    }
    manifests.sort(Comparator.comparing(Manifest::kind).thenComparing(Manifest::name));
    return List.copyOf(manifests);
  }

  /** Reads a file with one document. */
  static Map<String, Object> readMap(Path file) throws IOException {
    return readMap(Files.readString(file));
  }

  /** Reads a text with one document. */
  static Map<String, Object> readMap(String yaml) {
    return map(load().loadFromString(yaml));
  }

  private static Load load() {
    return new Load(LoadSettings.builder().setCodePointLimit(16 << 20).build());
  }

  /**
   * Returns objects as YAML that does not depend on the version of Helm. Texts that are files of
   * the chart are replaced by their paths.
   */
  static String write(List<Manifest> manifests) throws IOException {
    Map<String, String> files = new TreeMap<>();
    for (Path file : Chart.files(Chart.DASHBOARDS)) {
      files.put(Files.readString(file).strip(), "the text of " + Chart.FOLDER.relativize(file));
    }
    List<Object> documents = new ArrayList<>();
    for (Manifest manifest : manifests) {
      documents.add(sorted(manifest.fields(), files));
    }
    DumpSettings settings =
        DumpSettings.builder()
            .setDefaultFlowStyle(FlowStyle.BLOCK)
            .setExplicitStart(true)
            .setWidth(10_000)
            .setSplitLines(false)
            .build();
    return new Dump(settings).dumpAllToString(documents.iterator());
  }

  private static Object sorted(Object value, Map<String, String> files) {
    return switch (value) {
      case Map<?, ?> map -> {
        Map<String, Object> sorted = new TreeMap<>();
        map(map).forEach((key, each) -> sorted.put(key, sorted(each, files)));
        yield sorted;
      }
      case List<?> list -> list.stream().map(each -> sorted(each, files)).toList();
      case String text -> files.getOrDefault(text.strip(), text);
      default -> value;
    };
  }

  String kind() {
    return text("kind");
  }

  String name() {
    return text("metadata", "name");
  }

  /** Returns the text at a path; empty if there is none. */
  String text(String... path) {
    Object value = at(path);
    return value == null ? "" : value.toString();
  }

  /** Returns the map at a path; empty if there is none. */
  Map<String, Object> map(String... path) {
    Object value = at(path);
    return value == null ? Map.of() : map(value);
  }

  /** Returns the maps in the list at a path; empty if there is none. */
  List<Manifest> list(String... path) {
    Object value = at(path);
    return value == null
        ? List.of()
        : ((List<?>) value).stream().map(each -> new Manifest(map(each))).toList();
  }

  private @Nullable Object at(String... path) {
    Object value = fields;
    for (String name : path) {
      value = value instanceof Map<?, ?> map ? map.get(name) : null;
    }
    return value;
  }

  @SuppressWarnings("unchecked") // keys of YAML maps in these files are texts
  private static Map<String, Object> map(Object value) {
    return (Map<String, Object>) value;
  }
}

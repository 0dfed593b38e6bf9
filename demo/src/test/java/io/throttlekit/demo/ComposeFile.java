package io.throttlekit.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/**
 * The compose file of the project, as Compose reads it.
 *
 * @param root whole document
 */
record ComposeFile(Map<String, Object> root) {
  static final Path PROJECT = Path.of("..");

  static ComposeFile read() throws IOException {
    return new ComposeFile(map(yaml(PROJECT.resolve("docker-compose.yml"))));
  }

  /** Parses a YAML or JSON file. */
  static Object yaml(Path file) throws IOException {
    LoadSettings settings = LoadSettings.builder().setMaxAliasesForCollections(1_000).build();
    return Objects.requireNonNull(new Load(settings).loadFromString(Files.readString(file)));
  }

  Map<String, Service> services() {
    Map<String, Service> services = new TreeMap<>();
    map(root.get("services"))
        .forEach((name, properties) -> services.put(name, new Service(map(properties))));
    return services;
  }

  /** The settings of one service; missing ones are empty. */
  record Service(Map<String, Object> properties) {
    String text(String key) {
      return Objects.toString(properties.get(key), "");
    }

    List<String> list(String key) {
      return properties.get(key) instanceof List<?> list
          ? list.stream().map(String::valueOf).toList()
          : List.of();
    }

    /** Returns the keys of a mapping, or the members of a list. */
    List<String> names(String key) {
      return properties.get(key) instanceof Map<?, ?>
          ? List.copyOf(map(properties.get(key)).keySet())
          : list(key);
    }
  }

  /** Returns a mapping including what it merges ({@code <<}); empty if the value is none. */
  static Map<String, Object> map(@Nullable Object value) {
    Map<String, Object> merged = new LinkedHashMap<>();
    if (value instanceof Map<?, ?> mapping) {
      merged.putAll(mapping.get("<<") == null ? Map.of() : map(mapping.get("<<")));
      mapping.forEach((key, member) -> {
        if (!key.equals("<<") && member != null) {
          merged.put(key.toString(), member);
        }
      });
    }
    return merged;
  }
}

package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.policy.EntrySource;
import io.throttlekit.descriptors.source.Fields;
import io.throttlekit.descriptors.source.Fields.Field;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.descriptors.source.YamlNode;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads where Envoy finds the values of entries: the section {@code entries} of a file. */
final class EntrySourceReader {
  private static final Pattern HEADER = Pattern.compile(":?[a-z0-9!#$%&'*+.^_`|~-]{1,100}");

  private EntrySourceReader() {}

  /**
   * Source of the entries of one key, and where it is written.
   *
   * @param location place of the key
   */
  record Located(SourceLocation location, EntrySource source) {}

  /** Reads the sources by key; wrong ones are reported and left out. */
  static Map<String, Located> read(PolicySection file) {
    Map<String, Located> sources = new LinkedHashMap<>();
    YamlNode.Mapping entries = file.mapping("entries");
    if (entries == null) {
      return sources;
    }
    for (Field entry : Fields.of(entries, file.problems()).all()) {
      if (!(entry.value() instanceof YamlNode.Mapping mapping)) {
        file.wrongType(entry, "a mapping", "write {header: NAME} or {value: TEXT}");
        continue;
      }
      PolicySection section =
          new PolicySection(Fields.of(mapping, file.problems()), "entry", file.problems());
      EntrySource source = source(section, entry);
      if (source != null) {
        sources.put(entry.name(), new Located(entry.at(), source));
      }
    }
    return sources;
  }

  private static @Nullable EntrySource source(PolicySection section, Field entry) {
    String header = section.text("header").toLowerCase(Locale.ROOT);
    String value = section.text("value");
    if (header.isEmpty() == value.isEmpty()) {
      if (section.mayMean("header") || section.mayMean("value")) {
        return null;
      }
      section
          .problems()
          .error(
              entry.at(),
              "the entry %s needs either a header or a value"
                  .formatted(Wording.quote(entry.name())),
              "write {header: NAME} or {value: TEXT}");
      return null;
    }
    if (header.isEmpty()) {
      return new EntrySource.Constant(value);
    }
    if (!HEADER.matcher(header).matches()) {
      section.error(
          "header",
          Wording.quote(header) + " is not the name of a header",
          "write one such as x-user or :path");
      return null;
    }
    return new EntrySource.Header(header);
  }
}

package io.throttlekit.descriptors;

import io.throttlekit.descriptors.Fields.Field;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the response that clients receive when a rule refuses: the mapping {@code denied}. */
final class DenialReader {
  private static final int MIN_STATUS = 400;
  private static final int MAX_STATUS = 599;
  // Bounds for what a service holds in memory and sends with each refusal, in characters.
  private static final int MAX_BODY = 65_536;
  private static final int MAX_VALUE = 4_096;
  // A token of RFC 9110, in lower case as HTTP/2 requires.
  private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9a-z-]{1,256}");

  /** Headers of a message and its connection, which only Envoy may set. */
  private static final Set<String> OF_ENVOY =
      Set.of(
          "connection",
          "content-length",
          "host",
          "keep-alive",
          "proxy-connection",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade");

  private final Problems problems;
  private final Values values;
  private final MetadataReader metadataReader;

  DenialReader(Problems problems) {
    this.problems = problems;
    this.values = new Values(problems);
    this.metadataReader = new MetadataReader(problems);
  }

  /** Reads the field; returns null when it is absent. Wrong parts are reported and left out. */
  @Nullable Denial read(@Nullable Field denied) {
    YamlNode.Mapping mapping = values.mapping(denied);
    if (mapping == null) {
      return null;
    }
    Fields fields = Fields.of(mapping, problems);
    Place.DENIED.check(fields, problems);
    YamlNode.Mapping metadata = values.mapping(fields.get("metadata"));
    return new Denial(
        status(fields.get("status")),
        headers(fields.get("headers")),
        body(fields.get("body")),
        metadata == null ? null : metadataReader.read(metadata));
  }

  private int status(@Nullable Field field) {
    if (field == null) {
      return 0;
    }
    int status =
        (int)
            values.number(
                field, MIN_STATUS, MAX_STATUS, "what is below 400 would look like an admission");
    if (status > 0 && !Denial.STATUSES.contains(status)) {
      problems.error(
          field.value().location(),
          "Envoy knows no status " + status,
          "write 429, 503, or another that has a name");
      return 0;
    }
    return Math.max(0, status); // -1 was reported
  }

  private Map<String, String> headers(@Nullable Field field) {
    Map<String, String> headers = new LinkedHashMap<>();
    YamlNode.Mapping mapping = values.mapping(field);
    if (mapping == null) {
      return headers;
    }
    for (Field header : Fields.of(mapping, problems).all()) {
      String name = header.name().toLowerCase(Locale.ROOT);
      if (isName(header, name) && isValue(header) && headers.containsKey(name)) {
        problems.error(
            header.at(), Wording.quote(header.name()) + " stands here twice", "remove one of them");
      }
      headers.putIfAbsent(name, values.text(header));
    }
    return headers;
  }

  private boolean isName(Field header, String name) {
    if (!NAME.matcher(name).matches()) {
      problems.error(
          header.at(),
          Wording.quote(header.name()) + " is not the name of a header",
          name.equals(":status") ? "write status: beside headers" : "");
      return false;
    }
    if (OF_ENVOY.contains(name)) {
      problems.error(
          header.at(), Wording.quote(header.name()) + " is for Envoy to say", "remove it");
      return false;
    }
    return true;
  }

  private boolean isValue(Field header) {
    if (!(header.value() instanceof YamlNode.Scalar scalar)) {
      return true; // values.text reports it
    }
    String text = scalar.text();
    if (scalar.isNull() || text.isEmpty()) {
      problems.error(
          header.at(),
          Wording.quote(header.name()) + " has no value, and Envoy sends no such header",
          "write one, or remove it");
      return false;
    }
    if (text.length() > MAX_VALUE || !text.chars().allMatch(c -> c >= ' ' && c < 0x7f)) {
      problems.error(
          scalar.location(),
          "the value of " + Wording.quote(header.name()) + " cannot be sent",
          "write at most " + MAX_VALUE + " printable ASCII characters");
      return false;
    }
    return true;
  }

  private @Nullable String body(@Nullable Field field) {
    if (field == null) {
      return null;
    }
    String text = values.text(field);
    if (text.length() > MAX_BODY) {
      problems.error(
          field.value().location(),
          "the body has more than " + MAX_BODY + " characters",
          "write a shorter one");
      return null;
    }
    return text;
  }
}

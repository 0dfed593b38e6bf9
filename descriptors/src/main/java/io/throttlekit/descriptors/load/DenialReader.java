package io.throttlekit.descriptors.load;

import io.throttlekit.descriptors.policy.Denial;
import io.throttlekit.descriptors.source.Fields;
import io.throttlekit.descriptors.source.Fields.Field;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.descriptors.source.YamlNode;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the response that clients receive when a rule refuses: the mapping {@code denied}. */
final class DenialReader {
  // Bounds for what a service holds in memory and sends with each refusal, in characters.
  private static final int MAX_BODY = 65_536;
  private static final int MAX_VALUE = 4_096;
  // A token of RFC 9110, in lower case as HTTP/2 requires.
  private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9a-z-]{1,256}");

  private static final Pattern VALUE = Pattern.compile("[ -~]{0," + MAX_VALUE + "}");

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

  private DenialReader() {}

  /** Reads the section; returns null when it is absent. Wrong parts are reported and left out. */
  static @Nullable Denial read(@Nullable PolicySection denied) {
    if (denied == null) {
      return null;
    }
    return new Denial(
        status(denied),
        headers(denied),
        body(denied),
        MetadataReader.read(denied.mapping("metadata"), denied.problems()));
  }

  private static int status(PolicySection denied) {
    int status = (int) denied.number("status");
    if (status > 0 && !Denial.STATUSES.contains(status)) {
      denied.error(
          "status",
          "Envoy knows no status " + status,
          "write 429, 503, or another that has a name");
      return 0;
    }
    return Math.max(0, status); // -1 was reported
  }

  private static Map<String, String> headers(PolicySection denied) {
    Map<String, String> headers = new LinkedHashMap<>();
    YamlNode.Mapping mapping = denied.mapping("headers");
    if (mapping == null) {
      return headers;
    }
    Problems problems = denied.problems();
    for (Field header : Fields.of(mapping, problems).all()) {
      String name = header.name().toLowerCase(Locale.ROOT);
      String quoted = Wording.quote(header.name());
      YamlNode.Scalar value = header.scalar(); // others are reported when they are read as texts
      if (!NAME.matcher(name).matches()) {
        String hint = name.equals(":status") ? "write status: beside headers" : "";
        problems.error(header.at(), quoted + " is not the name of a header", hint);
      } else if (OF_ENVOY.contains(name)) {
        problems.error(header.at(), quoted + " is set by Envoy only", "remove it");
      } else if (value != null && (value.isNull() || value.text().isEmpty())) {
        problems.error(
            header.at(),
            quoted + " has no value, and Envoy sends no such header",
            "write one, or remove it");
      } else if (value != null && !VALUE.matcher(value.text()).matches()) {
        problems.error(
            value.location(),
            "the value of " + quoted + " cannot be sent",
            "write at most " + MAX_VALUE + " printable ASCII characters");
      } else if (headers.containsKey(name)) {
        problems.error(header.at(), quoted + " stands here twice", "remove one of them");
      }
      headers.putIfAbsent(name, denied.text(header));
    }
    return headers;
  }

  private static @Nullable String body(PolicySection denied) {
    String text = denied.text("body");
    if (text.length() > MAX_BODY) {
      denied.error(
          "body", "the body has more than " + MAX_BODY + " characters", "write a shorter one");
    }
    return denied.has("body") ? text : null;
  }
}

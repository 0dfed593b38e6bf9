package io.throttlekit.envoy.ads;

import io.grpc.Status;
import io.throttlekit.store.RootCause;
import java.util.Objects;

/** Text that quotes a control plane, or is sent to it. */
final class PeerText {
  private static final int MAX_LINE = 500;

  private PeerText() {}

  /** Returns the text on one line without control characters, truncated. */
  static String line(String text) {
    StringBuilder line = new StringBuilder();
    truncated(text, MAX_LINE)
        .codePoints()
        .map(c -> isPrintable(c) ? c : ' ')
        .forEach(line::appendCodePoint);
    return line.toString();
  }

  /** Returns the text, or its beginning if it is longer than {@code max} characters. */
  static String truncated(String text, int max) {
    if (text.length() <= max) {
      return text;
    }
    int end = Character.isHighSurrogate(text.charAt(max - 1)) ? max - 1 : max;
    return text.substring(0, end) + "… (" + (text.length() - end) + " characters more)";
  }

  /** Returns why a stream ended, in one line. */
  static String reason(Throwable error) {
    Status status = Status.fromThrowable(error);
    String description = Objects.requireNonNullElse(status.getDescription(), "no description");
    if (status.getCode() == Status.Code.RESOURCE_EXHAUSTED
        && description.contains("exceeds maximum size")) { // said by gRPC on this side
      description = "the response is longer than is permitted here: " + description;
    }
    String root =
        RootCause.causes(error.getCause())
            .reduce((_, innermost) -> innermost)
            .map(innermost -> String.valueOf(innermost.getMessage()))
            .orElse("");
    String detail = root.isEmpty() || description.contains(root) ? "" : " (" + root + ")";
    return line(status.getCode() + ": " + description + detail);
  }

  private static boolean isPrintable(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          false;
      default -> true;
    };
  }
}

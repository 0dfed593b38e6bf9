package io.throttlekit.service.cli;

import com.google.gson.JsonObject;
import io.throttlekit.service.log.PrintableText;
import io.throttlekit.service.log.Redaction;
import io.throttlekit.service.log.StructuredRecord;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.logging.Formatter;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.stream.Collectors;

/**
 * Formats a record as one line for people, or as one JSON object with envoyproxy/ratelimit's names.
 */
final class LogLine extends Formatter {
  /** The longest message, and line of a stack: they may quote a store or a request. */
  private static final int MAX_LENGTH = 4_000;

  private final boolean json;
  private final Redaction redaction;

  /** Creates a format that shows no secret which {@code redaction} knows. */
  LogLine(boolean json, Redaction redaction) {
    this.json = json;
    this.redaction = redaction;
  }

  @Override
  public String format(LogRecord record) {
    return json ? json(record) : text(record);
  }

  private String text(LogRecord record) {
    String logger = String.valueOf(record.getLoggerName());
    return "%s %-5s %s: %s%n%s"
        .formatted(
            record.getInstant(),
            level(record.getLevel()),
            logger.substring(logger.lastIndexOf('.') + 1),
            shown(message(record)),
            stack(record));
  }

  private String json(LogRecord record) {
    JsonObject line = new JsonObject();
    line.addProperty("@timestamp", record.getInstant().toString());
    line.addProperty("level", level(record.getLevel()));
    line.addProperty("logger", record.getLoggerName());
    if (record instanceof StructuredRecord structured) {
      line.addProperty("@message", structured.getMessage());
      structured.fields().forEach((name, value) -> add(line, name, value));
    } else {
      line.addProperty("@message", shown(formatMessage(record)));
    }
    if (record.getThrown() != null) {
      line.addProperty("stack", stack(record));
    }
    return line + "\n";
  }

  private void add(JsonObject line, String name, Object value) {
    switch (value) {
      case Number number -> line.addProperty(name, number);
      case Boolean flag -> line.addProperty(name, flag);
      default -> line.addProperty(name, shown(value.toString()));
    }
  }

  private String message(LogRecord record) {
    return record instanceof StructuredRecord structured
        ? structured.text()
        : formatMessage(record);
  }

  private String stack(LogRecord record) {
    Throwable thrown = record.getThrown();
    if (thrown == null) {
      return "";
    }
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    return text.toString()
        .lines()
        .map(line -> shown(line.replace("\t", "    ")) + System.lineSeparator())
        .collect(Collectors.joining());
  }

  /** Returns what stays one line of bounded length without secrets, whatever it quotes. */
  private String shown(String unredacted) {
    String text = redaction.of(unredacted); // before the cut, which may leave half of a secret
    return text.length() <= MAX_LENGTH
        ? PrintableText.of(text)
        : PrintableText.of(text.substring(0, MAX_LENGTH))
            + "… (%d characters)".formatted(text.length());
  }

  private static String level(Level level) {
    int value = level.intValue();
    if (value >= Level.SEVERE.intValue()) {
      return "error";
    }
    if (value >= Level.WARNING.intValue()) {
      return "warn";
    }
    if (value >= Level.INFO.intValue()) {
      return "info";
    }
    return value >= Level.FINE.intValue() ? "debug" : "trace";
  }
}

package io.throttlekit.service.cli;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.logging.Formatter;
import java.util.logging.Level;
import java.util.logging.LogRecord;

/**
 * Formats a record as one line for people, or as one JSON object with envoyproxy/ratelimit's names.
 */
final class LogLine extends Formatter {

  private final boolean json;

  LogLine(boolean json) {
    this.json = json;
  }

  @Override
  public String format(LogRecord record) {
    try {
      return json ? json(record) : text(record);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a StringWriter does not fail
    }
  }

  private String text(LogRecord record) {
    String logger = String.valueOf(record.getLoggerName());
    return "%s %-5s %s: %s%n%s"
        .formatted(
            record.getInstant(),
            level(record.getLevel()),
            logger.substring(logger.lastIndexOf('.') + 1),
            formatMessage(record),
            stack(record));
  }

  private String json(LogRecord record) throws IOException {
    StringWriter text = new StringWriter();
    JsonWriter writer = new JsonWriter(text);
    writer.beginObject();
    writer.name("@timestamp").value(record.getInstant().toString());
    writer.name("level").value(level(record.getLevel()));
    writer.name("logger").value(record.getLoggerName());
    writer.name("@message").value(formatMessage(record));
    if (record.getThrown() != null) {
      writer.name("stack").value(stack(record));
    }
    writer.endObject();
    return text + "\n";
  }

  private static String stack(LogRecord record) {
    Throwable thrown = record.getThrown();
    if (thrown == null) {
      return "";
    }
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    return text.toString();
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

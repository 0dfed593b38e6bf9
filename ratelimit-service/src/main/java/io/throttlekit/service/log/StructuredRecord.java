package io.throttlekit.service.log;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;
import java.util.logging.Level;
import java.util.logging.LogRecord;

/**
 * A log record with named values, which a JSON log has as properties of their own.
 *
 * <p>Its message is constant, so that lines of one kind are found by it.
 */
public final class StructuredRecord extends LogRecord {
  private static final long serialVersionUID = 1L;

  private final transient Map<String, Object> fields;

  /**
   * Creates a record.
   *
   * @param fields texts, numbers and booleans by their names, in order; copied
   */
  public StructuredRecord(Level level, String logger, String message, Map<String, ?> fields) {
    super(level, message);
    setLoggerName(logger);
    this.fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
  }

  /** Returns the values by their names. */
  public Map<String, Object> fields() {
    return fields;
  }

  /** Returns the message and the values in one line: {@code refused domain="shop" refusals=3}. */
  public String text() {
    StringJoiner line = new StringJoiner(" ").add(getMessage());
    fields.forEach((name, value) ->
        line.add(name + '=' + (value instanceof String text ? quoted(text) : value)));
    return line.toString();
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}

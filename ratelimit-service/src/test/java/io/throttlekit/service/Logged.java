package io.throttlekit.service;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.StreamHandler;
import org.jspecify.annotations.Nullable;

/**
 * Captures the lines of a logger and its children while this is open, and keeps them from the
 * build's output: a failure that a test provokes must not look like a failure of the test.
 */
public final class Logged implements AutoCloseable {

  private final Logger logger;
  private final boolean usesParents;
  private final @Nullable Level level;
  private final List<LogRecord> records = new ArrayList<>();
  private final Handler handler =
      new StreamHandler() {
        @Override
        public void publish(LogRecord record) {
          synchronized (records) {
            records.add(record);
          }
        }
      };

  private Logged(String name, @Nullable Level lowest) {
    this.logger = Logger.getLogger(name);
    this.usesParents = logger.getUseParentHandlers();
    this.level = logger.getLevel();
    if (lowest != null) {
      logger.setLevel(lowest);
    }
    logger.setUseParentHandlers(false);
    logger.addHandler(handler);
  }

  /** Captures the lines of the loggers of a package; of all for an empty name. */
  public static Logged by(String name) {
    return new Logged(name, null);
  }

  /** Captures the lines of {@code source}. */
  public static Logged by(Class<?> source) {
    return new Logged(source.getName(), null);
  }

  /** Captures the lines of {@code source} from level {@code lowest} on. */
  public static Logged by(Class<?> source, Level lowest) {
    return new Logged(source.getName(), lowest);
  }

  /** Returns the records so far. */
  public List<LogRecord> records() {
    synchronized (records) {
      return List.copyOf(records);
    }
  }

  /** Returns level and text of each line so far. */
  public List<String> lines() {
    synchronized (records) {
      return records.stream().map(r -> r.getLevel() + " " + r.getMessage()).toList();
    }
  }

  /** Returns the same, with the exception of each line that has one. */
  public List<String> linesWithCauses() {
    synchronized (records) {
      return records.stream()
          .map(r ->
              r.getLevel()
                  + " "
                  + r.getMessage()
                  + (r.getThrown() == null ? "" : "\n" + r.getThrown()))
          .toList();
    }
  }

  /** Restores the logger. */
  @Override
  public void close() {
    logger.removeHandler(handler);
    logger.setUseParentHandlers(usesParents);
    logger.setLevel(level);
  }
}

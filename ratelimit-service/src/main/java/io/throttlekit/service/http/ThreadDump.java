package io.throttlekit.service.http;

import java.util.Comparator;
import java.util.Map;

/**
 * Renders the stacks of all platform threads; virtual threads are many and short-lived, and
 * omitted.
 */
final class ThreadDump {

  private ThreadDump() {}

  static String text() {
    StringBuilder text = new StringBuilder();
    Thread.getAllStackTraces().entrySet().stream()
        .sorted(Comparator.comparing(dump -> dump.getKey().getName()))
        .forEach(dump -> append(text, dump));
    return text.toString();
  }

  private static void append(StringBuilder text, Map.Entry<Thread, StackTraceElement[]> dump) {
    Thread thread = dump.getKey();
    text.append('"').append(thread.getName()).append("\" ").append(thread.getState()).append('\n');
    for (StackTraceElement frame : dump.getValue()) {
      text.append("    at ").append(frame).append('\n');
    }
    text.append('\n');
  }
}

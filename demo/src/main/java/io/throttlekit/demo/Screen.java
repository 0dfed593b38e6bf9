package io.throttlekit.demo;

import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;

/** Shows the counts: a table that is redrawn on a terminal, elsewhere a line every few seconds. */
final class Screen {
  private static final String CLEAR_LINE = "\033[K";
  private static final int LINE_SECONDS = 5;

  private final PrintStream out;
  private final boolean terminal;
  private final Map<String, Long> before = new HashMap<>();
  private boolean drawn;

  Screen(PrintStream out, boolean terminal) {
    this.out = out;
    this.terminal = terminal;
  }

  /** Shows the counts of this second. */
  void show(long second, Counts counts) {
    if (terminal) {
      table(second, counts);
    } else if (second % LINE_SECONDS == 0) {
      line(second, counts);
    }
    out.flush();
  }

  private void table(long second, Counts counts) {
    if (drawn) {
      out.printf("\033[%dA", counts.rules().size() + 2);
    }
    drawn = true;
    row("after %d s".formatted(second), "allowed", "limited", "limited just now");
    for (String rule : counts.rules()) {
      long allowed = counts.of(rule, Answer.ALLOWED);
      long limited = counts.of(rule, Answer.LIMITED);
      long justNow = limited - before.getOrDefault(rule, 0L);
      before.put(rule, limited);
      row(rule, Long.toString(allowed), Long.toString(limited), "#".repeat((int) justNow));
    }
    String failed = counts.of(Answer.FAILED) == 0 ? "" : counts.of(Answer.FAILED) + " failed";
    row("", total(counts, Answer.ALLOWED), total(counts, Answer.LIMITED), failed);
  }

  private static String total(Counts counts, Answer answer) {
    return Long.toString(counts.of(answer));
  }

  private void row(String rule, String allowed, String limited, String note) {
    out.printf("  %-34s %9s %9s   %s%s%n", rule, allowed, limited, note, CLEAR_LINE);
  }

  private void line(long second, Counts counts) {
    StringBuilder line = new StringBuilder();
    for (String rule : counts.rules()) {
      line.append("  ")
          .append(rule.replaceAll(" +", " "))
          .append(": ")
          .append(counts.of(rule, Answer.ALLOWED))
          .append(" allowed, ")
          .append(counts.of(rule, Answer.LIMITED))
          .append(" limited;");
    }
    long failed = counts.of(Answer.FAILED);
    out.printf("%4d s%s%s%n", second, line, failed == 0 ? "" : "  " + failed + " failed");
  }
}

package io.throttlekit.spec;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Result of a run of TLC.
 *
 * @param distinct states, up to symmetry where the configuration names one
 * @param generated initial states and steps
 * @param depth states on the longest of the shortest behaviours
 * @param violated the name of the invariant or property that does not hold, where TLC ended; null
 *     when it saw all states and everything holds
 * @param output all of its output, with the behaviour that leads to the violation
 */
record Verdict(long distinct, long generated, int depth, @Nullable String violated, String output) {
  private static final Pattern COUNTS =
      Pattern.compile("(?m)^(\\d+) states generated, (\\d+) distinct states found, (\\d+) states");
  private static final Pattern DEPTH =
      Pattern.compile("The depth of the complete state graph search is (\\d+)\\.");
  private static final Pattern VIOLATED =
      Pattern.compile("(?:Invariant|Action property) (\\w+) is violated(?: by the initial state)?");
  private static final Pattern STATE = Pattern.compile("(?m)^@!@!@STARTMSG 2217:");
  private static final String DONE = "Model checking completed. No error has been found.";

  /**
   * Parses TLC's output in its tool mode.
   *
   * @throws IllegalStateException when it neither saw all states nor found a violation
   */
  static Verdict of(String output) {
    Matcher violated = VIOLATED.matcher(output);
    boolean refuted = violated.find();
    Matcher counts = COUNTS.matcher(output);
    Matcher depth = DEPTH.matcher(output);
    boolean counted = counts.find() && depth.find();
    boolean done = output.contains(DONE) && counted && counts.group(3).equals("0");
    if (refuted == done || !counted) {
      throw new IllegalStateException("TLC did not come to an end:\n" + output);
    }
    return new Verdict(
        Long.parseLong(counts.group(2)),
        Long.parseLong(counts.group(1)),
        Integer.parseInt(depth.group(1)),
        refuted ? violated.group(1) : null,
        output);
  }

  /** Returns how many states the behaviour that leads to the violation has: no other has fewer. */
  int statesToViolation() {
    return (int) STATE.matcher(output).results().count();
  }

  @Override
  public String toString() {
    String end = violated == null ? "all hold" : violated + " violated";
    return end + ": " + distinct + " distinct, " + generated + " generated, depth " + depth;
  }
}

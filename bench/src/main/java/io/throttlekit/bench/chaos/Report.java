package io.throttlekit.bench.chaos;

import java.util.List;

/** Result of a campaign or a matrix. */
public interface Report {

  /** Returns the command that repeats it. */
  String repeat();

  /**
   * Returns units that were admitted beyond what limits and losses of data allow, of all counters.
   */
  long overshoot();

  /**
   * Returns descriptions of what hung, ended by itself or does not serve; empty when nothing did.
   */
  List<String> problems();

  /** Returns what could not be checked, and why; the command fails when there is any. */
  List<String> unjudged();

  /** Returns a Markdown table. */
  String markdown();

  /** Returns one line of JSON. */
  String json();
}

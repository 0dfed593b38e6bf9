package io.throttlekit.bench.chaos;

import java.util.List;

/** What came of a campaign or a matrix. */
public interface Report {

  /** The command that repeats it. */
  String repeat();

  /** Units that were admitted beyond what limits and losses of data allow, of all counters. */
  long overshoot();

  /** What hung, ended by itself or does not serve, in words; empty when nothing did. */
  List<String> problems();

  /** What could not be judged, and why, in words: no command passes without it. */
  List<String> unjudged();

  /** A Markdown table. */
  String markdown();

  /** One line of JSON. */
  String json();
}

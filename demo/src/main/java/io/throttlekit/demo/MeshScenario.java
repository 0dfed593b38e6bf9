package io.throttlekit.demo;

import java.util.List;

/**
 * What happens in the mesh, told in windows: each six of them are alike. The demand moves from one
 * region to another; then one is cut off for two windows, and comes back.
 *
 * @param windowMillis length of a window, in ms, from 1000
 */
record MeshScenario(long windowMillis) {
  static final List<String> REGIONS = List.of("eu", "us", "ap");

  /** The region that is cut off. */
  static final String CUT = "eu";

  /** The shortest run, in seconds: windows are whole seconds. */
  static final int FEWEST_SECONDS = 18;

  static final int USUAL_SECONDS = 60;
  private static final int WINDOWS = 6;
  private static final int LONGEST_WINDOW_SECONDS = 10;
  private static final int UNITS_PER_SECOND = 30;
  private static final double OFFERED = 1.5; // times the limit
  private static final double CUT_AT = 2.25;
  private static final double BACK_AT = 4.25;

  /** In hundredths of what is offered, in the order of the regions; the last one goes on. */
  private static final int[][] SHARES = {{60, 30, 10}, {10, 30, 60}, {34, 33, 33}};

  /** One that fits into so many seconds as often as it can, but at least once. */
  static MeshScenario within(int seconds) {
    return new MeshScenario(1000L * Math.min(LONGEST_WINDOW_SECONDS, seconds / WINDOWS));
  }

  /** Units that all regions together may admit in a window. */
  long limit() {
    return UNITS_PER_SECOND * windowMillis / 1000;
  }

  /**
   * Requests per second.
   *
   * @param region by its place in {@link #REGIONS}
   * @param millis since the first window began; less than 0 before
   */
  double rate(int region, long millis) {
    int window = (int) Math.clamp(inCycle(millis), 0, SHARES.length - 1);
    return UNITS_PER_SECOND * OFFERED * SHARES[window][region] / 100;
  }

  /** Whether {@link #CUT} is cut off then. */
  boolean isCut(long millis) {
    double at = inCycle(millis);
    return at >= CUT_AT && at < BACK_AT;
  }

  private double inCycle(long millis) {
    return millis < 0 ? 0 : (double) millis / windowMillis % WINDOWS;
  }
}

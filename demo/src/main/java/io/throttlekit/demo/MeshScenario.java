package io.throttlekit.demo;

import java.util.List;

/**
 * The scenario of the mesh, repeated every six windows: demand moves from one region to another;
 * then a region is partitioned for two windows, and reconnected.
 *
 * @param windowMillis length of a window, in ms, from 1000
 */
public record MeshScenario(long windowMillis) {
  static final List<String> REGIONS = List.of("eu", "us", "ap");

  /** The region that is partitioned. */
  static final String CUT = "eu";

  /** The shortest run, in seconds: six windows of whole seconds. */
  public static final int MIN_SECONDS = 18;

  public static final int USUAL_SECONDS = 60;
  private static final int WINDOWS = 6;
  private static final int MAX_WINDOW_SECONDS = 10;
  private static final int UNITS_PER_SECOND = 30;
  private static final double OFFERED = 1.5; // times the limit
  private static final double CUT_AT = 2.25; // windows, within one, so that units are leased
  private static final double BACK_AT = 4.25;

  /** Percentages of the offered load, in the order of the regions; the last row continues. */
  private static final int[][] SHARES = {{60, 30, 10}, {10, 30, 60}, {34, 33, 33}};

  /** Creates the scenario with the longest window, up to 10 s, of which six fit into the time. */
  static MeshScenario within(int seconds) {
    return new MeshScenario(1000L * Math.min(MAX_WINDOW_SECONDS, seconds / WINDOWS));
  }

  /** Returns the units that all regions together may admit in a window. */
  long limit() {
    return UNITS_PER_SECOND * windowMillis / 1000;
  }

  /**
   * Returns the request rate per second.
   *
   * @param region index in {@link #REGIONS}
   * @param millis since the start of the first window; below 0 before it
   */
  double rate(int region, long millis) {
    int window = (int) Math.clamp(inCycle(millis), 0, SHARES.length - 1);
    return UNITS_PER_SECOND * OFFERED * SHARES[window][region] / 100;
  }

  /** Returns whether {@link #CUT} is partitioned at that time. */
  boolean isCut(long millis) {
    double at = inCycle(millis);
    return at >= CUT_AT && at < BACK_AT;
  }

  private double inCycle(long millis) {
    return millis < 0 ? 0 : (double) millis / windowMillis % WINDOWS;
  }
}

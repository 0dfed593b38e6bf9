package io.throttlekit.limit.stats;

/**
 * A linear regression of one value on another, within slices of time: a change of both from one
 * slice to another does not count, as it may have a third cause. A slice counts once the second
 * after it has begun: the samples that come first are not the mean of all. Samples may come in any
 * order of their times, up to {@value #SLICES} slices late. Not thread-safe.
 */
public final class SlicedRegression {
  private static final int SLICES = 64;

  /** Slices after which one is complete. */
  private static final int COMPLETE = 2;

  /** The relative difference of the length of slices up to which they are kept. */
  private static final double SIMILAR = 0.5;

  private final Slice[] slices = new Slice[SLICES];
  private long sliceNanos = 1;
  private boolean begun;

  /** When slice 0 began: monotonic times may overflow, and only their differences count. */
  private long originNanos;

  private long newest;
  private Sums ended = Sums.NONE;

  /** Sums of differences from the mean of a slice, so that sums of several slices can be added. */
  private record Sums(long degrees, double xx, double xy, double yy) {
    private static final Sums NONE = new Sums(0, 0, 0, 0);

    Sums plus(Sums other) {
      return new Sums(degrees + other.degrees, xx + other.xx, xy + other.xy, yy + other.yy);
    }

    Slope slope() {
      if (degrees < 2 || xx <= 0) {
        return Slope.UNKNOWN;
      }
      double residual = Math.max(0, yy - xy * xy / xx) / (degrees - 1);
      return new Slope(xy / xx, xx / residual);
    }
  }

  private static final class Slice {
    private long number;
    private long count;
    private double x;
    private double y;
    private double xx;
    private double xy;
    private double yy;

    void add(double addedX, double addedY) {
      count++;
      x += addedX;
      y += addedY;
      xx += addedX * addedX;
      xy += addedX * addedY;
      yy += addedY * addedY;
    }

    Sums take() {
      Sums taken =
          count == 0
              ? Sums.NONE
              : new Sums(
                  count - 1,
                  Math.max(0, xx - x * x / count),
                  xy - x * y / count,
                  Math.max(0, yy - y * y / count));
      count = 0;
      x = 0;
      y = 0;
      xx = 0;
      xy = 0;
      yy = 0;
      return taken;
    }
  }

  /** Creates a regression in slices of 1 ns, until {@link #take} sets another length. */
  public SlicedRegression() {
    for (int i = 0; i < SLICES; i++) {
      slices[i] = new Slice();
    }
  }

  /**
   * Adds a sample.
   *
   * @param nanos its time, monotonic
   * @param x independent value
   * @param y dependent value
   */
  public void add(long nanos, double x, double y) {
    if (!begun) {
      begun = true;
      originNanos = Math.floorDiv(nanos, sliceNanos) * sliceNanos; // none begins with a sample
      newest = 0;
    }
    long number = Math.floorDiv(nanos - originNanos, sliceNanos);
    Slice slice = slices[Math.floorMod(number, SLICES)];
    if (slice.count > 0 && slice.number > number) {
      return; // too late
    }
    if (slice.number != number) {
      ended = ended.plus(slice.take());
      slice.number = number;
    }
    slice.add(x, y);
    newest = Math.max(newest, number);
  }

  /**
   * Returns the slope in the slices that were completed since the last call.
   *
   * @param nextSliceNanos length of the slices from now on, from 1; slices that are not complete
   *     are lost if that is very different
   */
  public Slope take(long nextSliceNanos) {
    Sums taken = ended;
    ended = Sums.NONE;
    boolean other = Math.abs(nextSliceNanos - sliceNanos) > SIMILAR * sliceNanos;
    for (Slice slice : slices) {
      if (newest - slice.number >= COMPLETE) {
        taken = taken.plus(slice.take());
      } else if (other) {
        var _ = slice.take();
      }
    }
    if (other) {
      sliceNanos = nextSliceNanos;
      begun = false;
    }
    return taken.slope();
  }
}

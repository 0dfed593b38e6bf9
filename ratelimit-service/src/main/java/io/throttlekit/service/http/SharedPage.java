package io.throttlekit.service.http;

import io.throttlekit.TimeSource;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A page that is rendered once for all concurrent callers.
 *
 * <p>A caller gets a rendering that began after its call, so it is never stale. One rendering runs
 * at a time, and a pause of {@value #PAUSE_FACTOR} times the last one's duration follows, at most a
 * second. So a rendering of up to 250 ms takes at most a fifth of one processor for any number of
 * callers, and a longer one begins a second after the last one ended. Callers block; thread-safe.
 */
final class SharedPage {
  /** Ratio of the pause to the rendering before it: up to the maximum, one part in five renders. */
  private static final int PAUSE_FACTOR = 4;

  /** Longest pause, so that a caller waits at most a second and two renderings for its page. */
  private static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Rendering rendering;
  private final TimeSource time;
  private final ReentrantLock one = new ReentrantLock();
  private final Object joining = new Object();

  /**
   * The result for callers that come before the next rendering begins; null while there are none.
   */
  private @Nullable CompletableFuture<Reply> next;

  private long endedNanos;
  private long pauseNanos;

  /** Renders the page. */
  @FunctionalInterface
  interface Rendering {
    Reply render() throws IOException;
  }

  SharedPage(Rendering rendering, TimeSource time) {
    this.rendering = rendering;
    this.time = time;
  }

  /**
   * Returns the page, whose body is one array for all callers that share it.
   *
   * @throws CompletionException when the rendering failed
   */
  Reply get() throws InterruptedException {
    CompletableFuture<Reply> mine;
    boolean first;
    synchronized (joining) {
      first = next == null;
      mine = next == null ? new CompletableFuture<>() : next;
      next = mine;
    }
    if (first) { // renders for those that join
      render(mine);
    }
    return mine.join();
  }

  private void render(CompletableFuture<Reply> mine) throws InterruptedException {
    try {
      one.lockInterruptibly();
      try {
        pause();
        long begun = time.monotonicNanos();
        closeTo(mine);
        mine.complete(rendering.render());
        endedNanos = time.monotonicNanos();
        pauseNanos = Math.min(MAX_PAUSE_NANOS, PAUSE_FACTOR * (endedNanos - begun));
      } finally {
        one.unlock();
      }
    } catch (IOException | RuntimeException | Error | InterruptedException failed) {
      mine.completeExceptionally(failed);
      if (failed instanceof InterruptedException stopped) {
        throw stopped;
      }
    } finally {
      closeTo(mine);
    }
  }

  /** Makes later callers wait for the rendering after this one. */
  @SuppressWarnings("ReferenceEquality") // futures have no equality but identity
  private void closeTo(CompletableFuture<Reply> mine) {
    synchronized (joining) {
      if (next == mine) { // the next rendering may be open already
        next = null;
      }
    }
  }

  private void pause() throws InterruptedException {
    long left = pauseNanos - (time.monotonicNanos() - endedNanos);
    if (left > 0) {
      TimeUnit.NANOSECONDS.sleep(left);
    }
  }
}

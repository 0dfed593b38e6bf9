package io.throttlekit.service.policies;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes the newest policies to a {@link LastGoodFile} on a thread of its own, so that a slow disk
 * delays no policies. While a write lasts, only the newest policies wait for the next one.
 *
 * <p>Thread-safe.
 *
 * @param <T> policies that do not change any more
 */
public final class LastGoodWriter<T> implements AutoCloseable {
  private static final Duration MAX_WAIT = Duration.ofSeconds(5); // of a stop, for a slow disk

  private final LastGoodFile file;
  private final Function<T, byte[]> content;
  private final BiPredicate<T, T> same;
  private final ExecutorService writer;
  private final Duration maxWait;
  private final AtomicReference<@Nullable T> newest = new AtomicReference<>();
  private @Nullable T written; // of the writer's thread

  /**
   * Creates a writer with a thread of its own, which starts with the first write.
   *
   * @param content of the file, of policies; called by the thread of the writer
   * @param same whether policies are there already; called by the thread of the writer
   */
  public LastGoodWriter(LastGoodFile file, Function<T, byte[]> content, BiPredicate<T, T> same) {
    this(file, content, same, oneThread(), MAX_WAIT);
  }

  /**
   * @param writer runs the writes one after the other, and is shut down at the end
   * @param maxWait time that {@link #close} waits for the last write
   */
  public LastGoodWriter(
      LastGoodFile file,
      Function<T, byte[]> content,
      BiPredicate<T, T> same,
      ExecutorService writer,
      Duration maxWait) {
    this.file = file;
    this.content = content;
    this.same = same;
    this.writer = writer;
    this.maxWait = maxWait;
  }

  /** Returns a thread that starts with the first write, and does not keep the process alive. */
  private static ExecutorService oneThread() {
    return new ThreadPoolExecutor(
        1,
        1,
        0,
        TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(),
        Thread.ofPlatform().daemon().name("last-good-policies").factory(),
        new ThreadPoolExecutor.DiscardPolicy()); // of policies that arrive after the end
  }

  /**
   * Lets policies be written, unless they are there already; returns without waiting. The file
   * warns if they cannot be written.
   */
  public void save(T policies) {
    if (newest.getAndSet(policies) == null) {
      writer.execute(this::write);
    }
  }

  /**
   * Waits until the newest policies are in the file, for a limited time, and warns if they are not.
   * Nothing is saved after that.
   */
  @Override
  public void close() {
    writer.shutdown();
    boolean done = false;
    try {
      done = writer.awaitTermination(maxWait.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!done) { // the write goes on, and ends with the process
      file.late();
    }
  }

  private void write() {
    T policies = newest.getAndSet(null);
    if (policies == null || (written != null && same.test(policies, written))) {
      return;
    }
    written = policies; // if it fails, too: the next change tries again
    try {
      file.write(content.apply(policies));
    } catch (RuntimeException | OutOfMemoryError e) {
      file.failed(e.toString());
    }
  }
}

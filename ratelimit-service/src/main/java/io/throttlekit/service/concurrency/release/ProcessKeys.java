package io.throttlekit.service.concurrency.release;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.share.ReleaseExchange;
import io.throttlekit.share.ReleaseExchange.Delivery;
import io.throttlekit.share.ReleaseExchange.Release;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The keys with which the processes of a store sign the ids of their permits.
 *
 * <p>Each process draws its key when it starts, and publishes it every 4 minutes in the queue of an
 * address that belongs to no process ({@value #ADDRESS}), as {@code 1 <address> <key>}. No process
 * acknowledges these texts, so all processes read them for the 10 minutes for which the exchange
 * keeps them: the keys of some 300 processes fit into an answer. A process of an earlier version
 * publishes no key, and its ids are {@link Verification#NO_KEY}.
 *
 * <p>Thread-safe and non-blocking.
 */
public final class ProcessKeys {
  /** Where keys are published: addresses of processes contain a dash. */
  public static final String ADDRESS = "keys";

  private static final String VERSION = "1";
  private static final int PARTS = 3;
  private static final long PUBLISH_NANOS = TimeUnit.MINUTES.toNanos(4);
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The most keys that are remembered; those published last remain. */
  private static final int MAX_KEYS = 1_000;

  /** Result of the verification of an id. */
  public enum Verification {
    /** The process that the id names has signed it. */
    VALID,
    /** The process that the id names has not signed it, and so never gave it. */
    INVALID,
    /** The key of the process is not known. */
    NO_KEY
  }

  private final String address;
  private final IdSigner own;
  private final TimeSource time;
  private final Scheduler timer;
  private final Consumer<String> failed;

  // Guarded by this.
  private final Map<String, IdSigner> keys =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, IdSigner> eldest) {
          return size() > MAX_KEYS;
        }
      };
  private @Nullable ReleaseExchange exchange;
  private boolean reading;
  private long nextReadNanos;

  /**
   * Creates the keys of a process that knows no others.
   *
   * @param address of the process
   * @param own signs its ids
   * @param timer follows {@code time}
   * @param failed receives the message of a call that failed
   */
  public ProcessKeys(
      String address, IdSigner own, TimeSource time, Scheduler timer, Consumer<String> failed) {
    this.address = address;
    this.own = own;
    this.time = time;
    this.timer = timer;
    this.failed = failed;
    this.nextReadNanos = time.monotonicNanos();
  }

  /** Publishes the key of this process through this exchange, and reads the keys of the others. */
  public void publishThrough(ReleaseExchange through) {
    synchronized (this) {
      exchange = through;
    }
    publish();
  }

  /** Makes no further calls. */
  public synchronized void stop() {
    exchange = null;
  }

  /**
   * Verifies an id by the key of its process.
   *
   * @param process address that the id names
   * @param text that is signed
   */
  public Verification verify(String process, String text, String signature) {
    IdSigner signer;
    synchronized (this) {
      signer = process.equals(address) ? own : keys.get(process);
    }
    if (signer == null) {
      return Verification.NO_KEY;
    }
    return signer.signed(text, signature) ? Verification.VALID : Verification.INVALID;
  }

  /** Reads the keys again, at most once a second: a process may have started. */
  public void read() {
    synchronized (this) {
      long now = time.monotonicNanos();
      if (reading || exchange == null || now - nextReadNanos < 0) {
        return;
      }
      nextReadNanos = now + RETRY_NANOS;
      reading = true;
    }
    var _ = call(List.of()).whenComplete((_, _) -> hasRead());
  }

  private synchronized void hasRead() {
    reading = false;
  }

  private void publish() {
    Release key = new Release(ADDRESS, String.join(" ", VERSION, address, own.key()));
    var _ =
        call(List.of(key))
            .whenComplete((_, failure) ->
                timer.runAfter(failure == null ? PUBLISH_NANOS : RETRY_NANOS, this::publishAgain));
  }

  private void publishAgain() {
    synchronized (this) {
      if (exchange == null) {
        return;
      }
    }
    publish();
  }

  private CompletionStage<Delivery> call(List<Release> published) {
    ReleaseExchange through;
    synchronized (this) {
      through = exchange;
    }
    if (through == null) {
      return new CompletableFuture<>();
    }
    CompletionStage<Delivery> answer;
    try {
      answer = through.exchange(ADDRESS, Delivery.NO_RECEIPT, published);
    } catch (RuntimeException e) { // a bug: must not end the loop
      answer = CompletableFuture.failedStage(e);
    }
    return answer.whenComplete((delivery, failure) -> {
      if (failure == null) {
        learn(delivery.releases());
      } else {
        failed.accept(String.valueOf(failure.getMessage()));
      }
    });
  }

  private synchronized void learn(List<String> published) {
    for (String text : published) {
      String[] parts = text.split(" ", -1);
      if (parts.length != PARTS || !parts[0].equals(VERSION) || parts[1].equals(address)) {
        continue;
      }
      try {
        IdSigner known = keys.remove(parts[1]); // to the end of the order
        keys.put(parts[1], known == null ? IdSigner.of(parts[2]) : known);
      } catch (IllegalArgumentException _) {
        // of another version
      }
    }
  }
}

package io.throttlekit.store;

import io.throttlekit.Decision;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * A failure of a store to answer, or to answer in time. The request may have been counted, unless
 * the call was {@linkplain #isNotSent not sent}.
 *
 * <p>Its message is for operators and may quote the store or its driver. Callers of the service get
 * {@link #forCaller}.
 */
public final class StoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final String LATE = "the store did not answer in time";
  private static final String OVERTAKEN = "a later call of the same sender was answered";
  private static final String NOT_REACHABLE = "the store is not reachable";

  private final boolean late;
  private final boolean notSent;
  private final transient @Nullable Part part;

  /**
   * What failed of a request whose counters are in several stores. Charges that are neither failed
   * nor decided were not counted, and can be decided by another request.
   *
   * @param failed the charges of the store that failed, by their numbers in the request
   * @param decided the decisions of charges that another store has counted, by the same numbers
   */
  public record Part(Set<Integer> failed, Map<Integer, Decision> decided) {
    /** Checks that something failed. */
    public Part {
      if (failed.isEmpty()) {
        throw new IllegalArgumentException("no charge failed");
      }
      failed = Set.copyOf(failed);
      decided = Map.copyOf(decided);
    }
  }

  /** Creates an outage with a message for an operator. */
  public StoreException(String message, @Nullable Throwable cause) {
    this(message, cause, false, false, null);
  }

  private StoreException(
      String message,
      @Nullable Throwable cause,
      boolean late,
      boolean notSent,
      @Nullable Part part) {
    super(message, cause, false, false); // no stack trace: it would be the event loop's
    this.late = late;
    this.notSent = notSent;
    this.part = part;
  }

  /** Returns the failure of a call whose deadline passed before its answer. */
  public static StoreException late(String message) {
    return new StoreException(message, null, true, false, null);
  }

  /** Returns the failure of a call that never left this process, so nothing was counted. */
  public static StoreException notSent(String message) {
    return new StoreException(message, null, false, true, null);
  }

  /** Returns the failure of a call without effect, because its sender's next call was answered. */
  public static StoreException overtaken() {
    return new StoreException(OVERTAKEN, null);
  }

  /** Returns this failure as one of a part of a request. */
  public StoreException ofPart(Part failed) {
    return new StoreException(String.valueOf(getMessage()), this, late, notSent, failed);
  }

  /** Returns what failed of the request; null if all of it did. */
  public @Nullable Part part() {
    return part;
  }

  /** Returns whether the store cannot have acted on the call. */
  public boolean isNotSent() {
    return notSent;
  }

  /**
   * Returns {@code failure} as a store failure: itself or its cause, if that is one, else a new
   * one.
   */
  public static StoreException of(Throwable failure) {
    Throwable cause = causeOf(failure);
    return cause instanceof StoreException known
        ? known
        : new StoreException("the store failed: " + cause, failure);
  }

  /** Returns what made a stage fail: its failure without the exception that stages wrap it in. */
  public static @Nullable Throwable causeOf(@Nullable Throwable failure) {
    return failure instanceof CompletionException ? failure.getCause() : failure;
  }

  /** Returns one of two fixed texts for a caller, which must not reveal the kind of store. */
  public String forCaller() {
    return late ? LATE : NOT_REACHABLE;
  }
}

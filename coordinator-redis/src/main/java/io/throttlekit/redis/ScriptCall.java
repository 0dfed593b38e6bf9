package io.throttlekit.redis;

import io.throttlekit.TimeSource;
import io.throttlekit.federation.TermsMismatchException;
import io.throttlekit.store.CallId;
import io.throttlekit.store.StoreException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One call of a federation's script, with the lease deadline.
 *
 * @param <T> the answer
 */
final class ScriptCall<T> extends Call<T> {
  final Script script;
  final FederationKeys.Place place;

  /** The keys: first the epoch's, in a Cluster last the history's; must not be modified. */
  final byte[][] keys;

  /** The arguments in order. */
  final List<byte[]> arguments = new ArrayList<>();

  private final Function<Reply, T> reader;

  /** The reply of a federation script: the epoch, and then the parts. */
  static final class Reply {
    private final List<Object> parts;

    /** Creates a reply from Lettuce's parts: integers and bytes. */
    Reply(List<Object> parts) {
      this.parts = parts;
    }

    /** Returns the number of parts. */
    int size() {
      return parts.size() - 1;
    }

    /** Returns the epoch that the caller has to record; empty if the caller knows it. */
    byte[] epoch() {
      return (byte[]) parts.getFirst();
    }

    /** Returns a number, sent by Redis as an integer or as text. */
    long number(int index) {
      return parts.get(index + 1) instanceof Long number ? number : Long.parseLong(text(index));
    }

    /**
     * Returns a number that is not negative.
     *
     * @throws StoreException at the script's mark of an overtaken call
     */
    long unlessOvertaken(int index) {
      long number = number(index);
      if (number < 0) {
        throw StoreException.overtaken();
      }
      return number;
    }

    String text(int index) {
      return new String(bytes(index), StandardCharsets.UTF_8);
    }

    /** Returns bytes; must not be modified. */
    byte[] bytes(int index) {
      return (byte[]) parts.get(index + 1);
    }
  }

  /**
   * Creates a call without arguments.
   *
   * @param keys of the place, without the epoch's
   * @param repeatable whether a repeated call takes effect once, so that its answer counts however
   *     late it arrives
   * @param reader converts a reply to an answer, or throws {@link TermsMismatchException}
   */
  ScriptCall(
      Script script,
      FederationKeys.Place place,
      List<byte[]> keys,
      long leaseDeadlineNanos,
      boolean repeatable,
      Function<Reply, T> reader) {
    super(place.slot(), leaseDeadlineNanos, true, repeatable);
    this.script = script;
    this.place = place;
    List<byte[]> all = new ArrayList<>(keys);
    all.addFirst(place.epochKey());
    if (place.slot() != Slots.NONE) {
      all.add(KeyText.historyOf(place.epochKey()));
    }
    this.keys = all.toArray(byte[][]::new);
    this.reader = reader;
  }

  /** Adds the id of the call, or two empty arguments if it is never repeated. */
  ScriptCall<T> with(@Nullable CallId id) {
    return id == null ? with("").with("") : with(id.sender()).with(id.number());
  }

  ScriptCall<T> with(String text) {
    return with(KeyText.bytes(text));
  }

  /** Adds an argument; it must not be modified. */
  ScriptCall<T> with(byte[] argument) {
    arguments.add(argument);
    return this;
  }

  ScriptCall<T> with(long number) {
    return with(Long.toString(number));
  }

  /** Returns the argument that replaces Redis's clock by a test's; empty for Redis's own. */
  static byte[] clock(@Nullable TimeSource storeClock) {
    return KeyText.bytes(storeClock == null ? "" : Long.toString(storeClock.wallMillis()));
  }

  /** Records the epoch and completes the call. */
  void complete(List<Object> parts, Epochs epochs) {
    try {
      Reply reply = new Reply(parts);
      byte[] epoch = reply.epoch();
      if (epoch.length > 0) {
        epochs.learn(place.epoch(), epoch, false);
      }
      complete(reader.apply(reply));
    } catch (TermsMismatchException | StoreException refusal) {
      fail(refusal);
    } catch (RuntimeException e) {
      fail(new StoreException("Redis has something else where a federation's data should be", e));
    }
  }
}

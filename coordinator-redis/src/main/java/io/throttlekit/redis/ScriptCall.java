package io.throttlekit.redis;

import io.throttlekit.federation.TermsMismatchException;
import io.throttlekit.store.CallId;
import io.throttlekit.store.StoreException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One call of a script and its pending answer.
 *
 * @param <T> the answer
 */
final class ScriptCall<T> {
  /** The caller's answer: fails at the deadline. */
  final CompletableFuture<T> answer = new CompletableFuture<>();

  /** The answer without a deadline, for calls whose answer counts however late it arrives. */
  final CompletableFuture<T> reply = new CompletableFuture<>();

  final Script script;
  final FederationKeys.Place place;

  /** The keys: first the epoch's, in a Cluster last the history's; must not be modified. */
  final byte[][] keys;

  private final List<byte[]> arguments = new ArrayList<>();
  private final Function<Reply, T> reader;

  /**
   * Creates a call without arguments.
   *
   * @param keys of the place, without the epoch's
   * @param reader converts a reply to an answer, or throws {@link TermsMismatchException}
   */
  ScriptCall(
      Script script, FederationKeys.Place place, List<byte[]> keys, Function<Reply, T> reader) {
    this.script = script;
    this.place = place;
    boolean cluster = place.slot != Slots.NONE;
    this.keys = new byte[cluster ? keys.size() + 2 : keys.size() + 1][];
    this.keys[0] = place.epochKey;
    for (int i = 1; i <= keys.size(); i++) {
      this.keys[i] = keys.get(i - 1);
    }
    if (cluster) {
      this.keys[keys.size() + 1] = KeyText.historyOf(place.epochKey);
    }
    this.reader = reader;
  }

  /** Adds the id of the call, or two empty arguments if it is never repeated. */
  ScriptCall<T> with(@Nullable CallId id) {
    return id == null ? with("").with("") : with(id.sender()).with(id.number());
  }

  /** Fails the call; returns whether the caller still waited. */
  boolean fail(Throwable failure) {
    reply.completeExceptionally(failure);
    return answer.completeExceptionally(failure);
  }

  ScriptCall<T> with(String text) {
    arguments.add(KeyText.bytes(text));
    return this;
  }

  ScriptCall<T> with(long number) {
    arguments.add(Long.toString(number).getBytes(StandardCharsets.US_ASCII));
    return this;
  }

  /** Returns the arguments in order. */
  List<byte[]> arguments() {
    return arguments;
  }

  /** Records the epoch and completes the call, without effect if it is done. */
  void land(List<Object> parts, Epochs epochs) {
    try {
      Reply reply = new Reply(parts);
      byte[] epoch = reply.epoch();
      if (epoch.length > 0) {
        epochs.learn(place.epoch, epoch);
      }
      T value = reader.apply(reply);
      this.reply.complete(value);
      answer.complete(value);
    } catch (TermsMismatchException | StoreException told) {
      fail(told);
    } catch (RuntimeException e) {
      fail(new StoreException("Redis has something else where a federation's data should be", e));
    }
  }
}

package io.throttlekit.service.http;

import io.throttlekit.TimeSource;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The open connections of a listener and the bytes held for them. Confined to the event loop.
 *
 * <p>Connections are ordered by the time of their last change of phase, the oldest first. Where a
 * bound is reached, the slowest are closed, so that a new client is always served.
 */
final class OpenConnections {
  final HttpBounds bounds;
  final TimeSource time;
  private final Set<HttpConnection> open = new LinkedHashSet<>();
  private final IdentityHashMap<byte[], Integer> replies = new IdentityHashMap<>();
  private long bodyBytes;
  private long replyBytes;

  OpenConnections(HttpBounds bounds, TimeSource time) {
    this.bounds = bounds;
    this.time = time;
  }

  int size() {
    return open.size();
  }

  boolean isEmpty() {
    return open.isEmpty();
  }

  /** Adds a connection, and closes another one beyond the maximum. */
  void add(HttpConnection connection) {
    open.add(connection);
    if (open.size() > bounds.connections()) {
      HttpConnection oldest = oldest(HttpConnection::waits, connection);
      if (oldest == null) { // all are being answered: the one that takes longest
        oldest = oldest(any -> true, connection);
      }
      (oldest != null ? oldest : connection).close();
    }
  }

  /** Moves a connection that changed its phase to the end of the order. */
  void changed(HttpConnection connection) {
    if (open.remove(connection)) {
      open.add(connection);
    }
  }

  void remove(HttpConnection connection) {
    open.remove(connection);
  }

  /** Reserves bytes for a body; returns false where the bound is reached. */
  boolean takeBody(int bytes) {
    if (bodyBytes + bytes > bounds.heldBytes()) {
      return false;
    }
    bodyBytes += bytes;
    return true;
  }

  void releaseBody(int bytes) {
    bodyBytes -= bytes;
  }

  /** Counts a reply that begins to be sent, and closes the slowest readers beyond the bound. */
  void sending(HttpConnection connection, byte[] body) {
    if (replies.merge(body, 1, Integer::sum) == 1) { // a shared page counts once
      replyBytes += body.length;
    }
    while (replyBytes > bounds.heldBytes()) {
      HttpConnection slowest = oldest(other -> other.sendsOtherThan(body), connection);
      if (slowest == null) {
        return; // this reply alone exceeds the bound and is the only one
      }
      slowest.close();
    }
  }

  void sent(byte[] body) {
    if (replies.merge(body, -1, (one, less) -> one + less == 0 ? null : one + less) == null) {
      replyBytes -= body.length;
    }
  }

  /** Closes the connections whose deadline has passed. */
  void sweep() {
    long now = time.monotonicNanos();
    List.copyOf(open).stream().filter(each -> each.isLate(now)).forEach(HttpConnection::close);
  }

  /** Closes connections without a request at once, and the others after their answers. */
  void drain() {
    List.copyOf(open).forEach(HttpConnection::drain);
  }

  void closeAll() {
    List.copyOf(open).forEach(HttpConnection::close);
  }

  private @Nullable HttpConnection oldest(Predicate<HttpConnection> choice, HttpConnection except) {
    return open.stream()
        .filter(each -> each != except && choice.test(each))
        .findFirst()
        .orElse(null);
  }
}

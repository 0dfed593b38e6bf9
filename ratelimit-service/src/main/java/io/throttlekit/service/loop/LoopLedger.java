package io.throttlekit.service.loop;

import io.netty.channel.EventLoop;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The memory held by the clients of one event loop. Checks it while there is any, and closes
 * connections above the limit: those that have held the most for the longest time, because an
 * active client holds each of its calls for a few ms only. Confined to the event loop.
 */
final class LoopLedger {
  // Short, because what clients send between two checks can exceed the limit.
  private static final int LOOK_MILLIS = 20;

  private final HeldByClients owner;
  private final EventLoop loop;
  private final Set<ClientConnection> connections = new LinkedHashSet<>();
  private boolean lookIsDue;

  LoopLedger(HeldByClients owner, EventLoop loop) {
    this.owner = owner;
    this.loop = loop;
  }

  void add(ClientConnection connection) {
    connections.add(connection);
  }

  void remove(ClientConnection connection) {
    connections.remove(connection);
  }

  /** Returns the number of open calls that would end without their clients. */
  long openCalls() {
    return connections.stream().mapToLong(ClientConnection::openCalls).sum();
  }

  void lookSoon() {
    if (!lookIsDue) {
      lookIsDue = true;
      var _ = loop.schedule(this::look, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  void look() {
    lookIsDue = false;
    boolean again = false;
    for (ClientConnection connection : connections) {
      connection.look();
      again |= connection.needsLook();
    }
    closeSlowest();
    closeLargest();
    if (again) {
      lookSoon();
    }
  }

  /** Closes connections until the messages being decided are within the limit. */
  private void closeLargest() {
    long deciding = connections.stream().mapToLong(ClientConnection::decidingBytes).sum();
    while (deciding > owner.decidingBytes()) {
      ClientConnection largest = greatest(ClientConnection::decidingBytes);
      if (largest == null || largest.decidingBytes() == 0) {
        break;
      }
      deciding -= largest.decidingBytes();
      owner.closingDeciding(largest.decidingBytes());
      close(largest);
    }
  }

  /**
   * Closes connections until what is held is within the limit, but none that holds less than its
   * share of the limit: its client is slow, while others sent much since the last check. The share
   * is not the average of what is held, which one large holder would raise above all others.
   */
  private void closeSlowest() {
    long held = connections.stream().mapToLong(ClientConnection::heldBytes).sum();
    long holders = connections.stream().filter(each -> each.heldBytes() > 0).count();
    while (held > owner.heldBytes()) {
      long share = owner.heldBytes() / holders;
      ToLongFunction<ClientConnection> weight = each -> each.heldBytes() < share ? 0 : weight(each);
      ClientConnection slowest = greatest(weight);
      if (slowest == null || weight.applyAsLong(slowest) == 0) {
        return;
      }
      held -= slowest.heldBytes();
      holders--;
      owner.closing(slowest.heldBytes());
      close(slowest);
    }
  }

  /**
   * Returns the bytes held at earlier checks too; bytes read since the last one do not count unless
   * they are too many by themselves.
   */
  private long weight(ClientConnection connection) {
    return connection.heldBytes() > owner.atOnceBytes() ? Long.MAX_VALUE : connection.byteLooks();
  }

  private void close(ClientConnection connection) {
    connections.remove(connection);
    connection.close();
  }

  private @Nullable ClientConnection greatest(ToLongFunction<ClientConnection> of) {
    return connections.stream().max(Comparator.comparingLong(of)).orElse(null);
  }
}

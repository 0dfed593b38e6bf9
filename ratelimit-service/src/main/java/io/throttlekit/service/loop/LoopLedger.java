package io.throttlekit.service.loop;

import io.netty.channel.EventLoop;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * What the clients of one event loop hold. Looks at it while there is something to look at, and
 * closes connections where it is too much: those that hold most for the longest time, for a client
 * that is at work holds each of its calls for a few ms only. Confined to the event loop.
 */
final class LoopLedger {
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
    cutOffSlowest();
    cutOffLargest();
    if (again) {
      lookSoon();
    }
  }

  /** Closes connections until what is being decided is within the bound. */
  private void cutOffLargest() {
    long deciding = 0;
    for (ClientConnection connection : connections) {
      deciding += connection.decidingBytes();
    }
    while (deciding > owner.decidingBytes()) {
      ClientConnection largest = greatest(ClientConnection::decidingBytes);
      if (largest == null || largest.decidingBytes() == 0) {
        break;
      }
      deciding -= largest.decidingBytes();
      owner.cutOffDeciding(largest.decidingBytes());
      close(largest);
    }
  }

  /**
   * Closes connections until what is held is within the bound, but none that holds less than its
   * share of the bound: its client is slow, while others sent much since the last look. The share
   * is not the average of what is held: one that holds more than others would raise it above them.
   */
  private void cutOffSlowest() {
    long held = 0;
    int holders = 0;
    for (ClientConnection connection : connections) {
      held += connection.heldBytes();
      holders += connection.heldBytes() > 0 ? 1 : 0;
    }
    while (held > owner.heldBytes()) {
      long share = owner.heldBytes() / holders;
      ToLongFunction<ClientConnection> weight = each -> each.heldBytes() < share ? 0 : weight(each);
      ClientConnection slowest = greatest(weight);
      if (slowest == null || weight.applyAsLong(slowest) == 0) {
        return;
      }
      held -= slowest.heldBytes();
      holders--;
      owner.cutOff(slowest.heldBytes());
      close(slowest);
    }
  }

  /** What was read since the last look does not count yet, unless it is too much by itself. */
  private long weight(ClientConnection connection) {
    return connection.heldBytes() > owner.atOnceBytes() ? Long.MAX_VALUE : connection.byteLooks();
  }

  private void close(ClientConnection connection) {
    connections.remove(connection);
    connection.cutOff();
  }

  private @Nullable ClientConnection greatest(ToLongFunction<ClientConnection> of) {
    ClientConnection greatest = null;
    for (ClientConnection each : connections) {
      if (greatest == null || of.applyAsLong(each) > of.applyAsLong(greatest)) {
        greatest = each;
      }
    }
    return greatest;
  }
}

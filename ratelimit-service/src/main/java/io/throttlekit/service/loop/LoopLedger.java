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
    long deciding = 0;
    boolean again = false;
    for (ClientConnection connection : connections) {
      connection.look();
      deciding += connection.decidingBytes();
      again |= connection.needsLook();
    }
    cutOffSlowest();
    while (deciding > owner.decidingBytes()) {
      ClientConnection largest = greatest(ClientConnection::decidingBytes);
      if (largest == null || largest.decidingBytes() == 0) {
        break;
      }
      deciding -= largest.decidingBytes();
      cutOff(largest);
    }
    if (again) {
      lookSoon();
    }
  }

  /**
   * Closes connections until what is held is within the bound, but none that holds less than the
   * average: its client is slow, while others sent much since the last look.
   */
  private void cutOffSlowest() {
    long held = 0;
    int holders = 0;
    for (ClientConnection connection : connections) {
      held += connection.heldBytes();
      holders += connection.heldBytes() > 0 ? 1 : 0;
    }
    while (held > owner.heldBytes()) {
      ClientConnection slowest = greatest(this::weight);
      if (slowest == null || weight(slowest) == 0 || slowest.heldBytes() < held / holders) {
        return;
      }
      held -= slowest.heldBytes();
      holders--;
      cutOff(slowest);
    }
  }

  /** What was read since the last look does not count yet, unless it is too much by itself. */
  private long weight(ClientConnection connection) {
    return connection.heldBytes() > owner.heldBytes() ? Long.MAX_VALUE : connection.byteLooks();
  }

  private void cutOff(ClientConnection connection) {
    connections.remove(connection);
    owner.cutOff(connection.heldBytes() + connection.decidingBytes());
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

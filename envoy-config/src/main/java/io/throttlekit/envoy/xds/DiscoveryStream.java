package io.throttlekit.envoy.xds;

import com.google.protobuf.Any;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.throttlekit.envoy.NodeIds;
import io.throttlekit.envoy.xds.DiscoveryMessage.Subscription;
import io.throttlekit.envoy.xds.Parts.Part;
import org.jspecify.annotations.Nullable;

/**
 * One Envoy's discovery stream, in either variant of xDS.
 *
 * <p>Its state is bounded whatever the Envoy does. While the connection is full, only the newest
 * response is kept, and nothing is queued. Only {@value #CREDITS} messages are read in each pause
 * of the server; their requests are noted, and answered in the next round.
 *
 * <p>Messages about other resources are not answered: an empty response would remove an Envoy's
 * clusters or listeners. Calls by gRPC are executed by the server's one thread at a time, which
 * also makes all other calls here.
 */
final class DiscoveryStream<Q, A> implements StreamObserver<Q> {
  /**
   * Messages read per pause. An Envoy sends fewer: a request for each type, and an acknowledgement.
   */
  static final int CREDITS = 8;

  /** Longest version kept. Ours are shorter, so a longer one was not issued by this server. */
  private static final int MAX_VERSION = 100;

  private final Wire<Q, A> wire;
  private final ServerCallStreamObserver<A> call;
  private final LimitServer server;
  private final NodeIds allowed;
  private String node = "";
  private String version = "";
  private @Nullable Part part;
  private boolean wanted;
  private long joinedNanos;
  private boolean joinedOnce;
  private int read;
  private boolean stale;
  private boolean ended;
  private long sent;

  DiscoveryStream(
      Wire<Q, A> wire, ServerCallStreamObserver<A> call, LimitServer server, NodeIds allowed) {
    this.wire = wire;
    this.call = call;
    this.server = server;
    this.allowed = allowed;
    call.disableAutoRequest();
    call.setOnReadyHandler(() -> server.within(this::ready));
    call.setOnCancelHandler(() -> server.within(this::over));
    call.request(CREDITS);
  }

  /** Returns the node id in the Envoy's first message. */
  String node() {
    return node;
  }

  @Override
  public void onNext(Q message) {
    server.within(() -> {
      if (!ended) {
        received(wire.read(message));
        if (read++ == 0) {
          server.readMoreLater(this);
        }
      }
    });
  }

  @Override
  public void onError(Throwable cause) {
    server.within(this::over);
  }

  @Override
  public void onCompleted() {
    server.within(() -> end(Status.OK));
  }

  /** Requests as many messages as were read since the last time. */
  void readMore() {
    int more = read;
    read = 0;
    if (!ended && more > 0) {
      call.request(more);
    }
  }

  /** Sends the Envoy's current share, as soon as the connection accepts it. */
  void push() {
    Part current = part;
    if (ended || current == null) {
      return;
    }
    stale = !call.isReady();
    if (!stale) {
      sent = server.round();
      Any layer = server.layer(current);
      call.onNext(wire.write(layer, server.version(sent, current), Long.toString(sent)));
    }
  }

  /** Sends the first layer of its current part, unless it was sent already. */
  void greet() {
    if (sent == 0) {
      push();
    }
  }

  /** Gives up its part to a newer stream of the same Envoy. */
  void succeeded() {
    part = null;
    wanted = false;
  }

  /**
   * Claims a part for a subscribed Envoy, unless its last claim was too recent. A client that
   * subscribes and unsubscribes all the time must not cause a division each time.
   */
  void settle(long nowNanos) {
    if (ended || !wanted || part != null) {
      return;
    }
    if (joinedOnce && nowNanos - joinedNanos < server.turnNanos()) {
      server.settleLater(this);
      return;
    }
    joinedOnce = true;
    joinedNanos = nowNanos;
    sent = 0;
    server.join(this, version);
  }

  /** Assigns the part whose share this stream sends. */
  void assign(Part given) {
    part = given;
  }

  /** Ends the stream; has no effect the second time. */
  void end(Status status) {
    if (!ended) {
      over();
      if (status.isOk()) {
        call.onCompleted();
      } else {
        call.onError(status.asRuntimeException());
      }
    }
  }

  private void over() {
    if (!ended) {
      ended = true;
      leave();
      server.closed();
    }
  }

  private void ready() {
    if (stale) {
      push();
    }
  }

  private void received(DiscoveryMessage message) {
    if (node.isEmpty()) {
      Status denied = denied(message.node());
      if (denied != null) {
        server.reject(this, message.node(), denied);
        return;
      }
      node = message.node();
    }
    if (message.typeUrl().isEmpty() || message.typeUrl().equals(Wire.TYPE_URL)) {
      if (!message.nonce().isEmpty()) {
        answered(message);
      } else if (!message.version().isEmpty() && message.version().length() <= MAX_VERSION) {
        version = message.version();
      }
      subscribe(message.subscription());
    }
  }

  /**
   * Returns the status for an Envoy with an unusable or forbidden id, or without room; null if it
   * gets a share.
   */
  private @Nullable Status denied(String named) {
    Status rejection = allowed.rejection(named);
    return rejection == null ? server.full() : rejection;
  }

  private void answered(DiscoveryMessage message) {
    if (!message.refusal().isEmpty()) {
      server.refused(node, message.refusal());
    } else if (part != null) {
      server.acknowledged(part, numberOf(message.nonce()));
    }
  }

  /** Returns the number in a nonce, if it was sent on this stream; 0 for any other nonce. */
  private long numberOf(String nonce) {
    try {
      long number = Long.parseLong(nonce);
      return number <= sent ? number : 0;
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private void subscribe(Subscription subscription) {
    if (subscription == Subscription.WANTED && !wanted) {
      wanted = true;
      settle(server.nowNanos());
    } else if (subscription == Subscription.UNWANTED && wanted) {
      leave();
    }
  }

  private void leave() {
    wanted = false;
    if (part != null) {
      part = null;
      server.left(this);
    }
  }
}

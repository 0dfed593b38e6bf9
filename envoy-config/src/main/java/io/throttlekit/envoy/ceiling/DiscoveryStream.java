package io.throttlekit.envoy.ceiling;

import com.google.protobuf.Any;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.throttlekit.envoy.NodeId;
import io.throttlekit.envoy.NodeIds;
import io.throttlekit.envoy.ceiling.Asked.Subscription;
import io.throttlekit.envoy.ceiling.Parts.Part;
import org.jspecify.annotations.Nullable;

/**
 * One Envoy's stream, in either way of xDS.
 *
 * <p>Its state is bounded whatever the Envoy does. Of what is to be sent, only the newest is kept
 * while the connection is full, and nothing is queued. Only {@value #CREDITS} messages are read in
 * each pause of the server; what they ask for is noted, and answered in the next round.
 *
 * <p>Messages about other resources are not answered: an empty answer would take away an Envoy's
 * clusters or listeners. What gRPC calls here is done within the server's one thread at a time,
 * where everything else here is called.
 */
final class DiscoveryStream<Q, A> implements StreamObserver<Q> {
  /** More than an Envoy sends in a pause: a request for each type, and an acknowledgement. */
  static final int CREDITS = 8;

  /** Of a version of ours; it is kept, and whoever sends a longer one did not have it from here. */
  private static final int LONGEST_VERSION = 100;

  private final Wire<Q, A> wire;
  private final ServerCallStreamObserver<A> call;
  private final CeilingServer server;
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
      Wire<Q, A> wire, ServerCallStreamObserver<A> call, CeilingServer server, NodeIds allowed) {
    this.wire = wire;
    this.call = call;
    this.server = server;
    this.allowed = allowed;
    call.disableAutoRequest();
    call.setOnReadyHandler(() -> server.within(this::ready));
    call.setOnCancelHandler(() -> server.within(this::over));
    call.request(CREDITS);
  }

  /** The id that the Envoy gave itself in its first message. */
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

  /** Reads as many messages as were read since the last time. */
  void readMore() {
    int more = read;
    read = 0;
    if (!ended && more > 0) {
      call.request(more);
    }
  }

  /** Sends what the Envoy is to obey now, as soon as the connection takes it. */
  void push() {
    Part obeyed = part;
    if (ended || obeyed == null) {
      return;
    }
    stale = !call.isReady();
    if (!stale) {
      sent = server.round();
      Any layer = server.layer(obeyed);
      call.onNext(wire.write(layer, server.version(sent, obeyed), Long.toString(sent)));
    }
  }

  /** Sends the first layer of the part that it has now, unless that was sent already. */
  void greet() {
    if (sent == 0) {
      push();
    }
  }

  /** Loses its part to a newer stream of the same Envoy. */
  void succeeded() {
    part = null;
    wanted = false;
  }

  /**
   * Asks for a part where the Envoy wants one, and it is not too soon after the last time: a client
   * that changes its mind all the time must not have everything divided anew as often.
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

  /** From now on it obeys this part. */
  void obey(Part given) {
    part = given;
  }

  /** Ends the stream; without effect the second time. */
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

  private void received(Asked asked) {
    if (node.isEmpty()) {
      Status denied = denied(asked.node());
      if (denied != null) {
        server.turnAway(this, asked.node(), denied);
        return;
      }
      node = asked.node();
    }
    if (asked.typeUrl().isEmpty() || asked.typeUrl().equals(RuntimeLayer.TYPE_URL)) {
      if (!asked.nonce().isEmpty()) {
        answered(asked);
      } else if (!asked.version().isEmpty() && asked.version().length() <= LONGEST_VERSION) {
        version = asked.version();
      }
      subscribe(asked.subscription());
    }
  }

  /** Why there is no share for an Envoy of this id; null where there is. */
  private @Nullable Status denied(String named) {
    if (!NodeId.isUsable(named)) {
      return Status.INVALID_ARGUMENT.withDescription(NodeId.WANTED);
    }
    if (!allowed.allow(named)) {
      return Status.PERMISSION_DENIED.withDescription(NodeIds.DENIED);
    }
    return server.full();
  }

  private void answered(Asked asked) {
    if (!asked.refusal().isEmpty()) {
      server.refused(node, asked.refusal());
    } else if (part != null) {
      server.acknowledged(part, numberOf(asked.nonce()));
    }
  }

  /** What an Envoy says is compared with what it was sent on this stream; 0 says nothing. */
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

package io.throttlekit.envoy.xds;

import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.throttlekit.envoy.NodeIds;
import io.throttlekit.envoy.xds.DiscoveryMessage.Subscription;
import io.throttlekit.envoy.xds.LimitServer.Layer;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One Envoy's discovery stream, in either variant of xDS.
 *
 * <p>Its state is bounded whatever the Envoy does. While the connection is full, only the newest
 * response is kept, and nothing is queued. Only {@value #CREDITS} messages are read in each pause
 * of the server; their requests are noted, and answered with the next plan.
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

  /**
   * Unread bytes at which the connection is full: with the default of 32 KiB, a client that
   * acknowledges without reading holds more than a hundred responses, each in 4 KiB.
   */
  private static final int UNREAD_BYTES = 1;

  private final Wire<Q, A> wire;
  private final ServerCallStreamObserver<A> call;
  private final LimitServer server;
  private final NodeIds allowed;
  private String node = "";
  private String token = "";
  private boolean wanted;
  private boolean subscribed;
  private long joined;
  private long joinedNanos;
  private boolean joinedOnce;
  private int read;
  private boolean stale;
  private boolean ended;

  // Of the current subscription.
  private boolean greeted;
  private long sent;
  private long acknowledged;
  private Map<ClusterLimit, Integer> shares = Map.of();
  private Map<ClusterLimit, Integer> mayApply = Map.of();

  DiscoveryStream(
      Wire<Q, A> wire, ServerCallStreamObserver<A> call, LimitServer server, NodeIds allowed) {
    this.wire = wire;
    this.call = call;
    this.server = server;
    this.allowed = allowed;
    call.disableAutoRequest();
    call.setOnReadyThreshold(UNREAD_BYTES);
    call.setOnReadyHandler(() -> server.within(this::ready));
    call.setOnCancelHandler(() -> server.within(this::over));
    call.request(CREDITS);
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

  /** Returns the node id in the Envoy's first message. */
  String node() {
    return node;
  }

  /** Returns the suffix of its versions; empty before it subscribed. */
  String token() {
    return token;
  }

  /** Returns what is to be reported; only while it is subscribed. */
  StreamState state() {
    return new StreamState(node, token, sent, acknowledged, mayApply);
  }

  /** Requests as many messages as were read since the last time. */
  void readMore() {
    int more = read;
    read = 0;
    if (!ended && more > 0) {
      call.request(more);
    }
  }

  /**
   * Sends the first layer since it subscribed.
   *
   * @param mark streams that had joined when the visit began from which the plan is
   * @return whether it waits no longer: an older plan might grant what others were given since
   */
  boolean greet(LimitServer.Mark mark) {
    if (joined <= mark.joined()) {
      Layer layer = server.layer(this);
      if (layer != null) {
        greeted = true;
        push(layer);
      }
    }
    return greeted;
  }

  /** Sends the Envoy's current layer if it is new, as soon as the connection accepts it. */
  void push() {
    Layer layer = greeted ? server.layer(this) : null;
    // A grant of the same share is sent too: only its acknowledgement ends a larger reservation.
    if (layer != null && (stale || layer.number() > sent || !layer.shares().equals(shares))) {
      push(layer);
    }
  }

  private void push(Layer layer) {
    if (ended || !subscribed) {
      return;
    }
    stale = !call.isReady();
    if (!stale) {
      sent = server.number();
      shares = layer.shares();
      mayApply = larger(mayApply, shares);
      server.updated(this);
      String nonce = Long.toString(sent);
      call.onNext(wire.write(server.resource(layer), server.version(token), nonce));
    }
  }

  private static Map<ClusterLimit, Integer> larger(
      Map<ClusterLimit, Integer> some, Map<ClusterLimit, Integer> others) {
    Map<ClusterLimit, Integer> all = new HashMap<>(some);
    others.forEach((limit, share) -> all.merge(limit, share, Math::max));
    return all;
  }

  /** Gives up its part to a newer stream of the same Envoy. */
  void succeeded() {
    subscribed = false;
    wanted = false;
    token = "";
  }

  /**
   * Subscribes an Envoy that wants it, unless it did so too recently. A client that subscribes and
   * unsubscribes all the time must not cause a division each time.
   */
  void settle(long nowNanos) {
    if (ended || !wanted || subscribed) {
      return;
    }
    if (joinedOnce && nowNanos - joinedNanos < server.turnNanos()) {
      server.settleLater(this);
      return;
    }
    joinedOnce = true;
    joinedNanos = nowNanos;
    subscribed = true;
    greeted = false;
    stale = false;
    sent = 0;
    acknowledged = 0;
    shares = Map.of();
    mayApply = Map.of();
    if (token.isEmpty()) {
      token = server.newToken();
    }
    joined = server.join(this);
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
      server.closed(this);
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
      } else if (!subscribed) {
        token = tokenOf(message.version());
      }
      subscribe(message.subscription());
    }
  }

  /** Returns the token of a version, which identifies an Envoy; the present one if it has none. */
  private String tokenOf(String version) {
    String last = version.substring(version.lastIndexOf('.') + 1);
    boolean ours = version.length() <= LimitServer.MAX_VERSION && StreamState.isToken(last);
    return ours ? last : token;
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
      return;
    }
    long number = numberOf(message.nonce());
    if (subscribed && number > acknowledged) {
      acknowledged = number;
      if (number == sent) {
        mayApply = shares;
      }
      server.acknowledged(this);
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
    if (subscribed) {
      subscribed = false;
      server.left(this);
    }
  }
}

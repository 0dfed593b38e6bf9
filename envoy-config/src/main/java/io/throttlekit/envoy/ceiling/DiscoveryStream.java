package io.throttlekit.envoy.ceiling;

import com.google.protobuf.Any;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.throttlekit.envoy.NodeId;
import io.throttlekit.envoy.ceiling.Asked.Subscription;

/**
 * One Envoy's stream, in either way of xDS.
 *
 * <p>Of what is to be sent, only the newest is kept while the connection is full. Messages about
 * other resources are not answered: an empty answer would take away an Envoy's clusters or
 * listeners. What gRPC calls here is done within the server's one thread at a time, where
 * everything else here is called.
 */
final class DiscoveryStream<Q, A> implements StreamObserver<Q> {
  private final Wire<Q, A> wire;
  private final ServerCallStreamObserver<A> call;
  private final CeilingServer server;
  private String node = "";
  private boolean subscribed;
  private boolean stale;
  private boolean ended;
  private long sent;

  DiscoveryStream(Wire<Q, A> wire, ServerCallStreamObserver<A> call, CeilingServer server) {
    this.wire = wire;
    this.call = call;
    this.server = server;
    call.setOnReadyHandler(() -> server.within(this::ready));
    call.setOnCancelHandler(() -> server.within(this::over));
  }

  /** The id that the Envoy gave itself in its first message. */
  String node() {
    return node;
  }

  @Override
  public void onNext(Q message) {
    server.within(() -> received(wire.read(message)));
  }

  @Override
  public void onError(Throwable cause) {
    server.within(this::over);
  }

  @Override
  public void onCompleted() {
    server.within(() -> end(Status.OK));
  }

  /** Sends what the Envoy is to obey now, as soon as the connection takes it. */
  void push() {
    if (ended || !subscribed) {
      return;
    }
    stale = !call.isReady();
    if (!stale) {
      sent = server.round();
      Any layer = server.layer(node);
      call.onNext(wire.write(layer, server.version(sent), Long.toString(sent)));
    }
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
      server.closed(this, subscribed);
    }
  }

  private void ready() {
    if (stale) {
      push();
    }
  }

  private void received(Asked asked) {
    if (ended) {
      return;
    }
    if (node.isEmpty()) {
      if (!NodeId.isUsable(asked.node())) {
        server.turnAway(this, Status.INVALID_ARGUMENT.withDescription(NodeId.WANTED));
        return;
      }
      node = asked.node();
    }
    if (asked.typeUrl().isEmpty() || asked.typeUrl().equals(RuntimeLayer.TYPE_URL)) {
      if (!asked.nonce().isEmpty()) {
        answered(asked);
      }
      subscribe(asked.subscription());
    }
  }

  private void answered(Asked asked) {
    if (asked.refusal().isEmpty()) {
      server.acknowledged(node, numberOf(asked.nonce()));
    } else {
      server.refused(node, asked.refusal());
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
    if (subscription == Subscription.WANTED && !subscribed) {
      subscribed = true;
      long before = sent;
      server.joined(this);
      if (sent == before) { // nothing new, but this stream has heard nothing yet
        push();
      }
    } else if (subscription == Subscription.UNWANTED && subscribed) {
      subscribed = false;
      server.left(this);
    }
  }
}

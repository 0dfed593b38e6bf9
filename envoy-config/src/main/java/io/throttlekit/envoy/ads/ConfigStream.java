package io.throttlekit.envoy.ads;

import com.google.rpc.Code;
import com.google.rpc.Status;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.MetadataUtils;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One stream of a {@link ConfigSubscription}, on a connection of its own.
 *
 * <p>Each response is answered with its own version and nonce, and a rejection with an error, too.
 * By the protocol a rejection has the version that was accepted last; but control planes built on
 * go-control-plane, as Envoy Gateway's, answer any version but their newest by sending that again
 * at once: a loop of hundreds of rounds a second. Given the newest version they wait for the next
 * change. A rejection that has to wait is dropped when a newer response arrives.
 *
 * <p>Responses are requested one by one, with pauses, so that HTTP/2's flow control stops a control
 * plane that sends without end. Used by one thread at a time.
 */
final class ConfigStream implements ClientResponseObserver<DiscoveryRequest, DiscoveryResponse> {
  /** Longest time for DNS, TCP, TLS and the exchange of HTTP/2 settings. */
  static final long CONNECT_NANOS = TimeUnit.SECONDS.toNanos(20);

  /** Silence after which the version is withdrawn that the first request had. */
  static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Shortest pause after a response: ten of them a second are more than people change. */
  static final long MIN_READ_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Bounds by how much a slow listener delays the next response. */
  static final long MAX_READ_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** Longest time for which the control plane may not read. */
  static final long UNREAD_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Longest text of a rejection in characters. */
  static final int MAX_MISTAKES = 4096;

  private static final MethodDescriptor<DiscoveryRequest, DiscoveryResponse> METHOD = method();

  private final ConfigSubscription subscription;
  private final SubscriptionSettings settings;
  private final String version;
  private Phase phase = Phase.CONNECTING;
  private @Nullable ManagedChannel channel;
  private @Nullable ClientCallStreamObserver<DiscoveryRequest> requests;
  private long responses;
  private boolean readsWhenReady;

  private enum Phase {
    CONNECTING,
    CONNECTED,
    /** At least one response of the type has arrived. */
    RESPONDED,
    ENDED
  }

  /**
   * Creates a stream that is not open.
   *
   * @param version of the resources that were accepted last; empty for none
   */
  ConfigStream(ConfigSubscription subscription, SubscriptionSettings settings, String version) {
    this.subscription = subscription;
    this.settings = settings;
    this.version = version;
  }

  private static MethodDescriptor<DiscoveryRequest, DiscoveryResponse> method() {
    var generated = AggregatedDiscoveryServiceGrpc.getStreamAggregatedResourcesMethod();
    return generated.toBuilder()
        .setResponseMarshaller(new ResponseMarshaller(generated.getResponseMarshaller()))
        .build();
  }

  /** Subscribes over a channel, which the stream shuts down when it ends. */
  void open(ManagedChannel newChannel) {
    channel = newChannel;
    Channel withHeaders =
        ClientInterceptors.intercept(
            newChannel, MetadataUtils.newAttachHeadersInterceptor(settings.metadata()));
    var sent =
        ClientCalls.asyncBidiStreamingCall(withHeaders.newCall(METHOD, CallOptions.DEFAULT), this);
    sent.onNext(subscribe(version));
    later(
        CONNECT_NANOS,
        () -> {
          if (phase
              == Phase.CONNECTING) { // gRPC has no limit for a server that accepts and is silent
            end(
                "no HTTP/2 connection within "
                    + TimeUnit.NANOSECONDS.toSeconds(CONNECT_NANOS)
                    + " s");
          }
        });
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<DiscoveryRequest> call) {
    requests = call;
    call.disableAutoRequestWithInitial(1);
    call.setOnReadyHandler(this::ready);
  }

  private void ready() {
    connected();
    if (readsWhenReady) {
      readsWhenReady = false;
      read();
    }
  }

  /** Requests the next response once the control plane has read the answers to those before. */
  private void read() {
    if (call().isReady()) {
      call().request(1);
      return;
    }
    readsWhenReady = true; // answers that it does not read would fill the memory
    long number = responses;
    later(
        UNREAD_NANOS,
        () -> {
          // gRPC reports a lost connection only after the responses that have arrived were read.
          if (readsWhenReady && number == responses) {
            end("the connection is lost, or the control plane does not read");
          }
        });
  }

  @Override
  public void onNext(DiscoveryResponse response) {
    connected();
    if (phase == Phase.ENDED || subscription.isClosed()) {
      return;
    }
    responses++;
    long began = subscription.nowNanos();
    if (response.getTypeUrl().equals(settings.typeUrl())) {
      phase = Phase.RESPONDED;
      answer(response);
    } else { // an answer would have to name a type that was never subscribed
      subscription.complain(
          "other type", "a response of type '" + response.getTypeUrl() + "' is ignored", null);
    }
    long took = subscription.nowNanos() - began;
    later(Math.clamp(2 * took, MIN_READ_PAUSE_NANOS, MAX_READ_PAUSE_NANOS), this::read);
  }

  @Override
  public void onError(Throwable error) {
    end(PeerText.reason(error));
  }

  @Override
  public void onCompleted() {
    end("the control plane ended the stream");
  }

  /** Ends the stream from this side, unless it has ended. */
  void end(String reason) {
    if (phase == Phase.ENDED) {
      return;
    }
    boolean responded = phase == Phase.RESPONDED;
    phase = Phase.ENDED;
    if (requests != null) {
      requests.cancel(reason, null);
    }
    if (channel != null) {
      channel.shutdownNow();
    }
    subscription.ended(this, responded, reason);
  }

  private void connected() {
    if (phase != Phase.CONNECTING) {
      return;
    }
    phase = Phase.CONNECTED;
    subscription.connected();
    if (!version.isEmpty()) {
      later(
          SILENCE_NANOS,
          () -> {
            // Nothing has changed, or other resources have the version: of a control plane that
            // began
            // to count anew, and to which this version means what it has.
            if (phase == Phase.CONNECTED) {
              call().onNext(subscribe(""));
            }
          });
    }
  }

  private void answer(DiscoveryResponse response) {
    Optional<String> mistakes = subscription.evaluate(response);
    if (phase == Phase.ENDED) { // closed meanwhile
      return;
    }
    if (mistakes.isEmpty()) {
      call().onNext(reply(response).build());
      return;
    }
    long number = responses;
    long pause = subscription.rejections().next(subscription.nowNanos());
    if (pause == 0) {
      reject(response, mistakes.get());
    } else {
      later(
          pause,
          () -> {
            if (number == responses) { // else a newer nonce is to be answered
              reject(response, mistakes.get());
            }
          });
    }
  }

  private void reject(DiscoveryResponse response, String mistakes) {
    subscription.rejections().sent(subscription.nowNanos());
    Status error =
        Status.newBuilder()
            .setCode(Code.INVALID_ARGUMENT_VALUE)
            .setMessage(PeerText.truncated(mistakes, MAX_MISTAKES))
            .build();
    call().onNext(reply(response).setErrorDetail(error).build());
  }

  private DiscoveryRequest.Builder reply(DiscoveryResponse response) {
    return DiscoveryRequest.newBuilder()
        .setTypeUrl(settings.typeUrl())
        .setVersionInfo(response.getVersionInfo())
        .setResponseNonce(response.getNonce());
  }

  private DiscoveryRequest subscribe(String known) {
    return DiscoveryRequest.newBuilder()
        .setNode(settings.node())
        .setTypeUrl(settings.typeUrl())
        .setVersionInfo(known)
        .build();
  }

  private void later(long nanos, Runnable task) {
    subscription.later(
        nanos,
        () -> {
          if (phase != Phase.ENDED) {
            task.run();
          }
        });
  }

  private ClientCallStreamObserver<DiscoveryRequest> call() {
    return Objects.requireNonNull(requests, "set before the call is started");
  }
}

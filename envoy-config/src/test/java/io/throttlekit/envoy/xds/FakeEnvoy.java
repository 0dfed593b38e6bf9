package io.throttlekit.envoy.xds;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Struct;
import com.google.rpc.Status;
import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.runtime.v3.Runtime;
import io.grpc.Channel;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Fake Envoy that uses ADS, and responds only when the test requests it. */
public final class FakeEnvoy
    implements ClientResponseObserver<DiscoveryRequest, DiscoveryResponse> {
  private static final String LIMIT = "concurrency_limits";

  private final String node;
  private final Deque<DiscoveryResponse> unread = new ArrayDeque<>();
  private String version;
  private Struct layer = Struct.getDefaultInstance();
  private @Nullable ClientCallStreamObserver<DiscoveryRequest> call;
  private @Nullable Throwable failure;
  private boolean ended;
  private final boolean slow;

  private FakeEnvoy(String node, String version, boolean slow) {
    this.node = node;
    this.version = version;
    this.slow = slow;
  }

  /** Opens a stream and subscribes to its limits. */
  public static FakeEnvoy connect(Channel channel, String node) {
    FakeEnvoy envoy = open(channel, node, "", false);
    envoy.ask(Wire.TYPE_URL);
    return envoy;
  }

  /** Does the same for an Envoy that names its previous version. */
  public static FakeEnvoy reconnect(Channel channel, String node, String version) {
    FakeEnvoy envoy = open(channel, node, version, false);
    envoy.ask(Wire.TYPE_URL);
    return envoy;
  }

  /** Does the same for an Envoy whose connection accepts nothing until {@link #read}. */
  static FakeEnvoy connectSlow(Channel channel, String node) {
    FakeEnvoy envoy = open(channel, node, "", true);
    envoy.ask(Wire.TYPE_URL);
    return envoy;
  }

  static FakeEnvoy open(Channel channel, String node, String version, boolean slow) {
    FakeEnvoy envoy = new FakeEnvoy(node, version, slow);
    var _ = AggregatedDiscoveryServiceGrpc.newStub(channel).streamAggregatedResources(envoy);
    return envoy;
  }

  void ask(String typeUrl) {
    send(
        DiscoveryRequest.newBuilder()
            .setNode(Node.newBuilder().setId(node))
            .setTypeUrl(typeUrl)
            .setVersionInfo(version)
            .addResourceNames(LIMIT)
            .build());
  }

  /** Accepts one more message. */
  void read() {
    call().request(1);
  }

  /** Applies the oldest response that it has not read. */
  DiscoveryResponse obey() {
    DiscoveryResponse answer = unread.remove();
    try {
      layer = answer.getResources(0).unpack(Runtime.class).getLayer();
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError(e);
    }
    version = answer.getVersionInfo();
    return answer;
  }

  /** Acknowledges a response. */
  void acknowledge(DiscoveryResponse answer) {
    send(answered(answer).build());
  }

  /** Rejects a response. */
  void refuse(DiscoveryResponse answer) {
    refuse(answer, Status.newBuilder().setCode(3).setMessage("Invalid runtime entry").build());
  }

  /** Does the same with another reason. */
  void refuse(DiscoveryResponse answer, Status why) {
    send(answered(answer).setErrorDetail(why).build());
  }

  /** Applies and acknowledges all responses received. */
  public void obeyAll() {
    while (!unread.isEmpty()) {
      acknowledge(obey());
    }
  }

  /** Lets all of them acknowledge until none receives a new response. */
  static void settle(FakeEnvoy... envoys) {
    for (boolean all = false; !all; ) {
      all = true;
      for (FakeEnvoy envoy : envoys) {
        all &= envoy.unread() == 0;
        envoy.obeyAll();
      }
    }
  }

  /** Ends its stream. */
  public void disconnect() {
    call().onCompleted();
  }

  int unread() {
    return unread.size();
  }

  public boolean ended() {
    return ended;
  }

  public String failure() {
    return failure == null ? "" : String.valueOf(failure.getMessage());
  }

  public String version() {
    return version;
  }

  /** Returns the applied values, without its bootstrap's. */
  Map<String, Double> values() {
    Map<String, Double> values = new TreeMap<>();
    layer.getFieldsMap().forEach((key, value) -> values.put(key, value.getNumberValue()));
    return values;
  }

  /**
   * Returns the applied share for a cluster and its default priority; −1 for its bootstrap's
   * threshold.
   */
  public int share(String cluster) {
    String key = "circuit_breakers." + cluster + ".default.max_requests";
    return values().getOrDefault(key, -1.0).intValue();
  }

  private DiscoveryRequest.Builder answered(DiscoveryResponse answer) {
    return DiscoveryRequest.newBuilder()
        .setTypeUrl(answer.getTypeUrl())
        .setVersionInfo(version)
        .setResponseNonce(answer.getNonce())
        .addResourceNames(LIMIT);
  }

  void send(DiscoveryRequest request) {
    call().onNext(request);
  }

  private ClientCallStreamObserver<DiscoveryRequest> call() {
    if (call == null) {
      throw new IllegalStateException("not connected");
    }
    return call;
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<DiscoveryRequest> stream) {
    call = stream;
    if (slow) {
      stream.disableAutoRequestWithInitial(0);
    }
  }

  @Override
  public void onNext(DiscoveryResponse answer) {
    unread.add(answer);
  }

  @Override
  public void onError(Throwable cause) {
    failure = cause;
    ended = true;
  }

  @Override
  public void onCompleted() {
    ended = true;
  }
}

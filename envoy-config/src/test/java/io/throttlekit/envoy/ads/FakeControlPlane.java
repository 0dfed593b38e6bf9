package io.throttlekit.envoy.ads;

import com.google.protobuf.Any;
import com.google.protobuf.StringValue;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc.AggregatedDiscoveryServiceImplBase;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

/** A control plane for resources that are texts. It reacts to requests as the test wants. */
final class FakeControlPlane extends AggregatedDiscoveryServiceImplBase {
  static final String TYPE = "type.googleapis.com/google.protobuf.StringValue";

  private final List<DiscoveryRequest> requests = new CopyOnWriteArrayList<>();
  private final List<FakeStream> streams = new CopyOnWriteArrayList<>();
  private volatile Reaction reaction = (_, _) -> {};
  private volatile boolean reads = true;

  /** Reaction to a request. */
  @FunctionalInterface
  interface Reaction {
    void to(DiscoveryRequest request, FakeStream stream);
  }

  void react(Reaction newReaction) {
    reaction = newReaction;
  }

  /**
   * Reacts as a cache of go-control-plane with this snapshot. It is sent at once to requests that
   * do not name its version, on a new stream also to one that does, unless it is empty. Other
   * requests wait for the next snapshot, and so does the answer to an older one. Requests with
   * another nonce than the last are ignored.
   */
  void serve(String version, String... resources) {
    react((request, stream) -> {
      boolean isFirst = stream.nonces == 0;
      if (!isFirst && !request.getResponseNonce().equals(Integer.toString(stream.nonces))) {
        return;
      }
      stream.isWaiting = true;
      if (!request.getVersionInfo().equals(version) || (isFirst && resources.length > 0)) {
        stream.send(version, resources);
      }
    });
    streams.stream()
        .filter(stream -> stream.isOpen && stream.isWaiting)
        .forEach(stream -> stream.send(version, resources));
  }

  /** Reads no requests of the next streams, but by {@link FakeStream#read}. */
  void doNotRead() {
    reads = false;
  }

  /** Returns the requests of all streams. */
  List<DiscoveryRequest> requests() {
    return requests;
  }

  DiscoveryRequest lastRequest() {
    return requests.getLast();
  }

  /** Returns the requests that reject a response. */
  List<DiscoveryRequest> rejections() {
    return requests.stream().filter(DiscoveryRequest::hasErrorDetail).toList();
  }

  List<FakeStream> streams() {
    return streams;
  }

  FakeStream stream() {
    return streams.getLast();
  }

  @Override
  public StreamObserver<DiscoveryRequest> streamAggregatedResources(
      StreamObserver<DiscoveryResponse> responses) {
    FakeStream stream = new FakeStream((ServerCallStreamObserver<DiscoveryResponse>) responses);
    if (!reads) {
      stream.responses.disableAutoRequest();
    }
    streams.add(stream);
    return stream;
  }

  static Any resource(String text) {
    return Any.pack(StringValue.of(text));
  }

  /** The server's end of a stream. Nonces are counted from 1. */
  final class FakeStream implements StreamObserver<DiscoveryRequest> {
    private final ServerCallStreamObserver<DiscoveryResponse> responses;
    private volatile boolean isOpen = true;
    private boolean isWaiting;
    private int nonces;

    private FakeStream(ServerCallStreamObserver<DiscoveryResponse> responses) {
      this.responses = responses;
    }

    void send(String version, String... texts) {
      send(
          DiscoveryResponse.newBuilder()
              .setTypeUrl(TYPE)
              .setVersionInfo(version)
              .addAllResources(Stream.of(texts).map(FakeControlPlane::resource).toList())
              .build());
    }

    /** Sends a response with the next nonce. */
    void send(DiscoveryResponse response) {
      nonces++;
      isWaiting = false;
      responses.onNext(response.toBuilder().setNonce(Integer.toString(nonces)).build());
    }

    /** Reads requests. */
    void read(int count) {
      responses.request(count);
    }

    void end() {
      isOpen = false;
      responses.onCompleted();
    }

    void fail(Status status) {
      isOpen = false;
      responses.onError(status.asRuntimeException());
    }

    boolean isOpen() {
      return isOpen;
    }

    @Override
    public void onNext(DiscoveryRequest request) {
      requests.add(request);
      reaction.to(request, this);
    }

    @Override
    public void onError(Throwable error) {
      isOpen = false;
    }

    @Override
    public void onCompleted() {
      isOpen = false;
    }
  }
}

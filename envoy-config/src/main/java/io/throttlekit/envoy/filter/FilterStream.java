package io.throttlekit.envoy.filter;

import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.throttlekit.envoy.NodeIds;
import io.throttlekit.envoy.filter.FilterServer.Filter;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * One Envoy's stream for filters. At most one response is on its way: the next message is read when
 * the last one was answered and the connection has room, and only the newest filters are sent then.
 *
 * <p>A version that the Envoy rejected is not sent again before it changes. Calls by gRPC are
 * executed by the server's one thread at a time, which also makes all other calls here.
 */
final class FilterStream implements StreamObserver<DiscoveryRequest> {
  /** Filters that one stream may request. */
  static final int MAX_NAMES = 64;

  /** Unread bytes at which the connection is full: one response, of any size. */
  private static final int UNREAD_BYTES = 1;

  private final ServerCallStreamObserver<DiscoveryResponse> call;
  private final FilterServer server;
  private final NodeIds allowed;
  private String node = "";
  private Set<String> names = Set.of();
  private String sent = "";
  private long nonce;
  private boolean unread; // the next message is requested when this one was answered
  private boolean outdated; // what was sent, by other names or other policies
  private boolean waiting; // for room in the connection
  private boolean rejected;
  private boolean ended;

  FilterStream(
      ServerCallStreamObserver<DiscoveryResponse> call, FilterServer server, NodeIds allowed) {
    this.call = call;
    this.server = server;
    this.allowed = allowed;
    call.disableAutoRequest();
    call.setOnReadyThreshold(UNREAD_BYTES);
    call.setOnReadyHandler(() -> server.within(this::ready));
    call.setOnCancelHandler(() -> server.within(this::over));
    call.request(1);
  }

  @Override
  public void onNext(DiscoveryRequest message) {
    server.within(() -> {
      if (!ended) {
        unread = true;
        received(message);
        server.answer(this);
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

  /** Notes that there are new policies. */
  void outdate() {
    outdated = true;
  }

  /**
   * Sends the filters if they are new, and reads the next message, if the connection has room; else
   * requests to be answered again when it has.
   *
   * @return the cost of the filters that were looked up, in bytes
   */
  int answer() {
    waiting = !ended && !call.isReady();
    if (ended || waiting) {
      return 0;
    }
    int cost = outdated && !names.isEmpty() ? push() : 0;
    outdated = false;
    if (unread && call.isReady()) {
      unread = false;
      call.request(1);
    }
    waiting = unread;
    return cost;
  }

  private int push() {
    List<Filter> filters = server.filters(names);
    String version = FilterServer.version(filters);
    if (!version.equals(sent)) {
      sent = version;
      rejected = false;
      nonce++;
      call.onNext(
          DiscoveryResponse.newBuilder()
              .setTypeUrl(FilterResource.TYPE_URL)
              .setVersionInfo(version)
              .setNonce(Long.toString(nonce))
              .addAllResources(filters.stream().map(Filter::resource).toList())
              .build());
      server.sent(this);
    }
    return filters.stream().mapToInt(Filter::cost).sum();
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
    ended = true;
    server.closed(this);
  }

  private void ready() {
    if (waiting) {
      server.answer(this);
    }
  }

  private void received(DiscoveryRequest message) {
    if (node.isEmpty()) {
      Status denied = allowed.rejection(message.getNode().getId());
      if (denied != null) {
        end(denied);
        return;
      }
      node = message.getNode().getId();
    }
    if (message.hasErrorDetail() && nonce > 0 && !rejected) { // once for each version
      rejected = true;
      server.rejected(this, node, message.getErrorDetail().getMessage());
    }
    if (!message.getTypeUrl().isEmpty() && !message.getTypeUrl().equals(FilterResource.TYPE_URL)) {
      return;
    }
    Set<String> requested = new LinkedHashSet<>();
    for (String name : message.getResourceNamesList()) {
      if (FilterResource.isName(name) && requested.size() < MAX_NAMES) {
        requested.add(name);
      }
    }
    if (!requested.equals(names)) {
      names = requested;
      sent = ""; // Envoy expects an answer that contains what it added
      outdated = true;
    }
  }
}

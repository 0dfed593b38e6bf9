package io.throttlekit.envoy.xds;

import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc.AggregatedDiscoveryServiceImplBase;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryResponse;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.runtime.v3.RuntimeDiscoveryServiceGrpc.RuntimeDiscoveryServiceImplBase;
import io.grpc.BindableService;
import io.grpc.stub.StreamObserver;
import java.util.List;

/** The gRPC services over which Envoys read their shares: ADS, and RTDS of its own. */
final class DiscoveryServices {

  private DiscoveryServices() {}

  /**
   * Returns the services of a server.
   *
   * @param resource name of the runtime layer
   */
  static List<BindableService> of(LimitServer server, String resource) {
    return List.of(
        new AggregatedDiscoveryServiceImplBase() {
          @Override
          public StreamObserver<DiscoveryRequest> streamAggregatedResources(
              StreamObserver<DiscoveryResponse> answers) {
            return server.open(new StateOfTheWorld(resource), answers);
          }

          @Override
          public StreamObserver<DeltaDiscoveryRequest> deltaAggregatedResources(
              StreamObserver<DeltaDiscoveryResponse> answers) {
            return server.open(new Delta(resource), answers);
          }
        },
        new RuntimeDiscoveryServiceImplBase() {
          @Override
          public StreamObserver<DiscoveryRequest> streamRuntime(
              StreamObserver<DiscoveryResponse> answers) {
            return server.open(new StateOfTheWorld(resource), answers);
          }

          @Override
          public StreamObserver<DeltaDiscoveryRequest> deltaRuntime(
              StreamObserver<DeltaDiscoveryResponse> answers) {
            return server.open(new Delta(resource), answers);
          }
        });
  }
}

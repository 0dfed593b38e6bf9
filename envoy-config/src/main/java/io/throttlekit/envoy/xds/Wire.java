package io.throttlekit.envoy.xds;

import com.google.protobuf.Any;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryResponse;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.discovery.v3.Resource;
import io.envoyproxy.envoy.service.runtime.v3.RuntimeDiscoveryServiceGrpc;
import io.grpc.BindableService;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import io.throttlekit.envoy.xds.DiscoveryMessage.Subscription;
import java.util.List;

/**
 * One of the two variants of the xDS protocol.
 *
 * @param <Q> an Envoy's message
 * @param <A> a response
 */
sealed interface Wire<Q, A> {
  /** Type of the runtime resources. */
  String TYPE_URL = "type.googleapis.com/envoy.service.runtime.v3.Runtime";

  /** Reads an Envoy's message. */
  DiscoveryMessage read(Q message);

  /** Writes a response with the only resource. */
  A write(Any layer, String version, String nonce);

  /**
   * Returns the services over which Envoys read their shares: ADS, and RTDS of its own.
   *
   * @param resource name of the runtime layer
   */
  static List<BindableService> services(LimitServer server, String resource) {
    ServerCallHandler<DiscoveryRequest, DiscoveryResponse> state =
        ServerCalls.asyncBidiStreamingCall(
            answers -> server.open(new StateOfTheWorld(resource), answers));
    ServerCallHandler<DeltaDiscoveryRequest, DeltaDiscoveryResponse> delta =
        ServerCalls.asyncBidiStreamingCall(answers -> server.open(new Delta(resource), answers));
    return List.of(
        () ->
            ServerServiceDefinition.builder(AggregatedDiscoveryServiceGrpc.SERVICE_NAME)
                .addMethod(
                    AggregatedDiscoveryServiceGrpc.getStreamAggregatedResourcesMethod(), state)
                .addMethod(
                    AggregatedDiscoveryServiceGrpc.getDeltaAggregatedResourcesMethod(), delta)
                .build(),
        () ->
            ServerServiceDefinition.builder(RuntimeDiscoveryServiceGrpc.SERVICE_NAME)
                .addMethod(RuntimeDiscoveryServiceGrpc.getStreamRuntimeMethod(), state)
                .addMethod(RuntimeDiscoveryServiceGrpc.getDeltaRuntimeMethod(), delta)
                .build());
  }

  /** State-of-the-world xDS: each message and each response names all resources. */
  record StateOfTheWorld(String resource) implements Wire<DiscoveryRequest, DiscoveryResponse> {
    @Override
    public DiscoveryMessage read(DiscoveryRequest message) {
      return new DiscoveryMessage(
          message.getNode().getId(),
          message.getTypeUrl(),
          message.getVersionInfo(),
          message.getResourceNamesList().contains(resource)
              ? Subscription.WANTED
              : Subscription.UNWANTED,
          message.getResponseNonce(),
          message.hasErrorDetail() ? DiscoveryMessage.refusal(message.getErrorDetail()) : "");
    }

    @Override
    public DiscoveryResponse write(Any layer, String version, String nonce) {
      return DiscoveryResponse.newBuilder()
          .setTypeUrl(TYPE_URL)
          .setVersionInfo(version)
          .setNonce(nonce)
          .addResources(layer)
          .build();
    }
  }

  /** Delta xDS: messages name resources to add or remove, responses contain changed resources. */
  record Delta(String resource) implements Wire<DeltaDiscoveryRequest, DeltaDiscoveryResponse> {
    @Override
    public DiscoveryMessage read(DeltaDiscoveryRequest message) {
      return new DiscoveryMessage(
          message.getNode().getId(),
          message.getTypeUrl(),
          message.getInitialResourceVersionsOrDefault(resource, ""),
          subscription(message),
          message.getResponseNonce(),
          message.hasErrorDetail() ? DiscoveryMessage.refusal(message.getErrorDetail()) : "");
    }

    private Subscription subscription(DeltaDiscoveryRequest message) {
      if (message.getResourceNamesSubscribeList().contains(resource)) {
        return Subscription.WANTED;
      }
      return message.getResourceNamesUnsubscribeList().contains(resource)
          ? Subscription.UNWANTED
          : Subscription.UNCHANGED;
    }

    @Override
    public DeltaDiscoveryResponse write(Any layer, String version, String nonce) {
      return DeltaDiscoveryResponse.newBuilder()
          .setTypeUrl(TYPE_URL)
          .setSystemVersionInfo(version)
          .setNonce(nonce)
          .addResources(
              Resource.newBuilder().setName(resource).setVersion(version).setResource(layer))
          .build();
    }
  }
}

package io.throttlekit.envoy.xds;

import com.google.protobuf.Any;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryResponse;
import io.envoyproxy.envoy.service.discovery.v3.Resource;
import io.throttlekit.envoy.xds.DiscoveryMessage.Subscription;

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
        .setTypeUrl(RuntimeLayer.TYPE_URL)
        .setSystemVersionInfo(version)
        .setNonce(nonce)
        .addResources(
            Resource.newBuilder().setName(resource).setVersion(version).setResource(layer))
        .build();
  }
}

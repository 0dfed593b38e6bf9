package io.throttlekit.envoy.xds;

import com.google.protobuf.Any;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.throttlekit.envoy.xds.DiscoveryMessage.Subscription;

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
  public DiscoveryResponse write(Any resource, String version, String nonce) {
    return DiscoveryResponse.newBuilder()
        .setTypeUrl(RuntimeLayer.TYPE_URL)
        .setVersionInfo(version)
        .setNonce(nonce)
        .addResources(resource)
        .build();
  }
}

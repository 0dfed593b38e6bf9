package io.throttlekit.envoy.ads;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ControlPlaneAddressTest {

  @Test
  @SuppressWarnings("AddressSelection") // an address, and no name
  void anIpv6AddressInBracketsIsConnectedTo() throws IOException {
    assumeThat(NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses))
        .as("IPv6") // not every machine has it
        .anyMatch(address -> address instanceof Inet6Address && address.isLoopbackAddress());
    Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getByName("::1"), 0))
            .build()
            .start();
    ManagedChannel channel = address("[::1]:" + server.getPort()).open(Runnable::run);
    try {
      await().until(() -> channel.getState(true) == ConnectivityState.READY);
    } finally {
      channel.shutdownNow();
      server.shutdownNow();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"::1:18000", "[::1]", "[::1]:99999", "host", "http://host:1"})
  void anythingButHostAndPortIsRefused(String target) {
    assertThatThrownBy(() -> address(target))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("HOST:PORT");
  }

  private static ControlPlaneAddress address(String target) {
    return new ControlPlaneAddress(
        target,
        null,
        ControlPlaneAddress.DEFAULT_MAX_MESSAGE_BYTES,
        ControlPlaneAddress.DEFAULT_KEEP_ALIVE);
  }
}

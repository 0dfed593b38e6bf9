package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisURI;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ClientsTest {

  @Test
  void aHostNameMayHaveAnUnderscore() {
    RedisURI uri = Clients.parse("rediss://me:pw@my_host:6380/3");
    assertThat(uri.getHost()).isEqualTo("my_host");
    assertThat(uri.getPort()).isEqualTo(6380);
    assertThat(uri.getDatabase()).isEqualTo(3);
    assertThat(uri.isSsl()).isTrue();
    assertThat(uri.getCredentialsProvider().resolveCredentials().toFuture().join().getUsername())
        .isEqualTo("me");
  }

  @Test
  void bracketsOfAnIpV6AddressAreRemoved() {
    assertThat(Clients.parse("redis://[::1]:7").getHost()).isEqualTo("::1");
  }

  @Test
  void aSocketHasNoHost() {
    assertThat(Clients.parse("redis-socket:///run/r.sock").getSocket()).isEqualTo("/run/r.sock");
  }

  @Test
  void aUrlWithoutASchemeIsRejectedWithAnExample() {
    assertThatThrownBy(() -> Clients.parse("127.0.0.1:6379"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the URL of a Redis begins with a scheme, such as redis://HOST:PORT");
  }

  /**
   * With the interval of the breaker's probes, requests succeed within 100 ms of Redis's return.
   */
  @Test
  void anAttemptToConnectNeverWaitsLongerThan50Millis() {
    for (int attempt = 1; attempt <= 64; attempt++) {
      assertThat(Clients.reconnectDelay().createDelay(attempt))
          .as("pause before attempt %d", attempt)
          .isLessThanOrEqualTo(Duration.ofMillis(50));
    }
  }
}

package io.throttlekit.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RequestsTest {

  @Test
  void haveOneDescriptorOfTwoEntries() throws InvalidProtocolBufferException {
    RateLimitRequest request = RateLimitRequest.parseFrom(new Requests(10_000).at(7));
    assertThat(request.getDomain()).isEqualTo("bench");
    assertThat(request.getDescriptorsCount()).isEqualTo(1);
    assertThat(request.getDescriptors(0).getEntriesList())
        .extracting(entry -> entry.getKey())
        .containsExactly("path", "user");
  }

  @Test
  void reachNearlyEveryKeyWithinAFewTurns() throws InvalidProtocolBufferException {
    Requests requests = new Requests(1_000);
    Set<String> users = new HashSet<>();
    for (long place = 0; place < 4_000; place++) {
      users.add(
          RateLimitRequest.parseFrom(requests.at(place))
              .getDescriptors(0)
              .getEntries(1)
              .getValue());
    }
    assertThat(users).hasSizeGreaterThan(950);
  }

  @Test
  void comeInTheSameOrderEveryTime() {
    assertThat(new Requests(100).at(4_711)).isEqualTo(new Requests(100).at(4_711));
  }
}

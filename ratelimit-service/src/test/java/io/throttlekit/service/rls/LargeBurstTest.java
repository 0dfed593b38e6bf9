package io.throttlekit.service.rls;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.hits;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.server.Setup;
import org.junit.jupiter.api.Test;

class LargeBurstTest {
  private static final int UINT32_MAX = -1; // Java's value of the unsigned 2^32 − 1

  @Test
  void remainingIsCappedAtTheProtocolsMaximum() {
    String twoToThe33 =
        """
        domain: x
        descriptors:
          - key: k
            rate_limit:
              {unit: second, requests_per_unit: 5, algorithm: token_bucket, burst: 8589934592}
        """;
    RateLimitFrontEnd service = new Setup(twoToThe33, Setup.NATIVE, Setup.BARE).frontEnd();
    assertThat(
            AnswerText.answer(service, x(hits(2, entries("k", "v"))))
                .getStatuses(0)
                .getLimitRemaining())
        .isEqualTo(UINT32_MAX);
  }
}

package io.throttlekit.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AwaitLimitTest {

  @Test
  void awaitsOfTestsLastMinutes() {
    AtomicLong remainingMillis = new AtomicLong();
    await()
        .conditionEvaluationListener(each -> remainingMillis.set(each.getRemainingTimeInMS()))
        .until(() -> true);
    long limit = AwaitLimit.LIMIT.toMillis();
    assertThat(remainingMillis.get()).isBetween(limit / 2, limit);
  }
}

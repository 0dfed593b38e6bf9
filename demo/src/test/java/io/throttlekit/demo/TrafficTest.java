package io.throttlekit.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class TrafficTest {
  private static final int REQUESTS = 20;

  @Test
  void theSameSeedSendsTheSameRequestsInTheSameOrder() throws InterruptedException {
    List<DemoRequest> sent = sent(7);
    assertThat(sent(7)).isEqualTo(sent);
    assertThat(sent(8)).isNotEqualTo(sent);
  }

  private static List<DemoRequest> sent(long seed) throws InterruptedException {
    Recorder recorder = new Recorder();
    Counts counts = new Counts(List.of("rule"));
    try (Traffic traffic = new Traffic(recorder, counts, _ -> "rule", DemoRequest.MIX, seed)) {
      traffic.start();
      recorder.enough.await();
    }
    return recorder.first();
  }

  private static final class Recorder implements RequestSender {
    private final List<DemoRequest> sent = new ArrayList<>();
    private final CountDownLatch enough = new CountDownLatch(REQUESTS);

    synchronized List<DemoRequest> first() {
      return List.copyOf(sent.subList(0, REQUESTS));
    }

    @Override
    public String through() {
      return "memory";
    }

    @Override
    public synchronized void send(DemoRequest request, Consumer<Answer> answered) {
      sent.add(request);
      enough.countDown();
    }

    @Override
    public void close() {}
  }
}

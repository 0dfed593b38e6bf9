package io.throttlekit.service.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.throttlekit.TimeSource;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SharedPageTest {
  private final AtomicInteger renderings = new AtomicInteger();
  private final Semaphore allowed = new Semaphore(0);
  private final SharedPage page = new SharedPage(this::render, TimeSource.system());

  @Test
  void requestsDuringARenderingShareTheNextOne() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Reply> first = threads.submit(page::get);
      await().until(allowed::hasQueuedThreads);
      List<Future<Reply>> later = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        later.add(threads.submit(page::get));
      }
      await().until(() -> renderings.get() == 1);
      allowed.release(61);
      assertThat(first.get().status()).isEqualTo(201);
      for (Future<Reply> each : later) { // some may miss the second
        assertThat(each.get().status()).isBetween(202, 203);
      }
    }
  }

  @Test
  void aRenderingBeginsAfterItsRequest() throws Exception {
    allowed.release(3);
    for (int i = 1; i <= 3; i++) {
      assertThat(page.get().status()).isEqualTo(200 + i);
    }
  }

  @Test
  void aFailureDoesNotAffectLaterRequests() throws Exception {
    SharedPage failing =
        new SharedPage(
            () -> {
              if (renderings.incrementAndGet() == 1) {
                throw new IOException("once");
              }
              return Reply.empty(200);
            },
            TimeSource.system());
    assertThatThrownBy(failing::get)
        .isInstanceOf(CompletionException.class)
        .hasRootCauseMessage("once");
    assertThat(failing.get().status()).isEqualTo(200);
  }

  private Reply render() {
    int number = renderings.incrementAndGet();
    allowed.acquireUninterruptibly();
    return Reply.empty(200 + number);
  }
}

package io.throttlekit.service.warmup;

import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.LoadResult;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.http2.Http2Client;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.server.GrpcServer;
import java.io.IOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends a warm-up's requests to a server of its own on this host. Not thread-safe.
 *
 * @param stopped reaches zero when the warm-up shall stop
 */
record WarmUpRound(TimeSource time, CountDownLatch stopped) {
  private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);

  /** Maximum of requests that a caller sends at once. */
  static final int LARGEST_BURST = 32;

  /** Time without compilation after which the compilers are considered idle. */
  private static final Duration QUIET = Duration.ofMillis(60);

  /** Loads and checks the policies of a warm-up as real ones. */
  PolicyStore policies(String yaml) {
    PolicyStore policies = new PolicyStore();
    LoadResult loaded =
        new PolicyLoader(new LoadOptions(true)).load(List.of(new PolicySource("warm-up", yaml)));
    policies.loaded(Objects.requireNonNull(loaded.book()), loaded.problems(), time.wallMillis());
    return policies;
  }

  /**
   * Starts the server, connects all callers, sends their requests, disconnects and stops the
   * server; returns the number of answered requests.
   */
  int round(GrpcServer server, List<Caller> callers, int requests, long end) {
    List<Http2Client> clients = new ArrayList<>();
    server.start();
    try {
      for (Caller caller : callers) {
        clients.add(Http2Client.connect(ScratchConfig.HOST, server.port(), caller.headers()));
      }
      ask(clients, callers, requests, end);
    } catch (IOException e) {
      LOG.warn("the warm-up ended early: {}", e.getMessage());
    } finally {
      clients.forEach(Http2Client::close);
      server.stopOwnCalls();
    }
    return clients.stream().mapToInt(Http2Client::answered).sum();
  }

  /**
   * Sends bursts of decreasing size, the largest first as from a mesh that was waiting, until all
   * requests are sent or the time is up.
   */
  private void ask(List<Http2Client> clients, List<Caller> callers, int requests, long end)
      throws IOException {
    int sent = 0;
    for (int burst = 0; sent < requests && mayGoOn(end); burst++) {
      for (int i = 0; i < clients.size(); i++) {
        int size = Math.min(requests - sent, LARGEST_BURST - burst % LARGEST_BURST);
        clients.get(i).send(callers.get(i).messages().next(size));
        sent += size;
      }
      for (Http2Client client : clients) {
        if (!client.awaitAnswers(time, end)) {
          return;
        }
      }
    }
  }

  boolean mayGoOn(long end) {
    return stopped.getCount() > 0
        && !Thread.currentThread().isInterrupted()
        && end - time.monotonicNanos() > 0;
  }

  /**
   * Waits until the JIT compilers are idle: further requests would compete with them for the
   * processor, and compile methods on their own that are about to be inlined.
   */
  void awaitCompilers(long end) {
    CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
    // Some JVMs do not report compilation, or run without a compiler.
    if (compilers == null || !compilers.isCompilationTimeMonitoringSupported()) {
      return;
    }
    long millis;
    do {
      millis = compilers.getTotalCompilationTime();
      pause();
    } while (compilers.getTotalCompilationTime() > millis && mayGoOn(end));
  }

  private void pause() {
    try {
      var _ = stopped.await(QUIET.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // ends the warm-up
    }
  }
}

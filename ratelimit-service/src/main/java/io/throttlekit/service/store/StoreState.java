package io.throttlekit.service.store;

import io.throttlekit.redis.RedisListener;
import io.throttlekit.service.telemetry.StoreMetrics;
import io.throttlekit.service.telemetry.StoreMetrics.NoAnswer;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns what Redis does into metrics, log lines and one line of state. Thread-safe. */
final class StoreState implements RedisListener {
  private static final Logger LOG = LoggerFactory.getLogger(StoreState.class);
  private static final int MOST_REASONS = 10;

  /** To those who know the delays of their network, and not the name of the setting. */
  private static final String PATIENCE =
      "; if it is only slow, raise store.deadline (THROTTLEKIT_STORE_DEADLINE)";

  private final String address;
  private final StoreMetrics metrics;
  private final Consumer<Boolean> reachable;
  private final AtomicLong losses = new AtomicLong();

  /** Reasons of this outage that the log has. */
  private final Set<String> logged = ConcurrentHashMap.newKeySet();

  private volatile boolean answers;
  private volatile boolean leftAlone;
  private volatile String lastFailure = "";
  private volatile long lastLossMillis;

  /**
   * Begins as a store that has not answered yet.
   *
   * @param address without passwords
   * @param reachable is told whether the store answers, when that changes
   */
  StoreState(String address, StoreMetrics metrics, Consumer<Boolean> reachable) {
    this.address = address;
    this.metrics = metrics;
    this.reachable = reachable;
    reachable.accept(false);
  }

  /** One line for people. */
  String inWords() {
    String state =
        leftAlone
            ? "does not answer: " + lastFailure
            : answers ? "answers" : "has not answered yet";
    String lost =
        losses.get() == 0
            ? ""
            : ", lost its data " + losses + "×, last at " + Instant.ofEpochMilli(lastLossMillis);
    return address + " " + state + lost;
  }

  @Override
  public void roundTrip(int requests, long nanos) {
    metrics.roundTrip(requests, nanos);
    if (!answers && !leftAlone) { // an answer that came too late ends nothing
      answers();
    }
  }

  private void answers() {
    answers = true;
    metrics.up(true);
    reachable.accept(true);
    LOG.info("the store {} answers", address);
  }

  @Override
  public void failed(int requests, Failure why, String inWords) {
    NoAnswer reason =
        switch (why) {
          case DEADLINE -> NoAnswer.TIMEOUT;
          case CONNECTION, ERROR -> NoAnswer.ERROR;
          case OPEN -> NoAnswer.BREAKER_OPEN;
        };
    metrics.failed(reason, requests);
    if (why != Failure.OPEN) {
      String cause = why == Failure.DEADLINE ? inWords + PATIENCE : inWords;
      lastFailure = cause;
      if (leftAlone && logged.size() < MOST_REASONS && logged.add(cause)) {
        LOG.warn("the store {} does not answer: {}", address, cause);
      }
    }
  }

  @Override
  public void up() {
    leftAlone = false;
    metrics.breakerOpen(false);
    answers();
  }

  @Override
  public void down() {
    answers = false;
    leftAlone = true;
    metrics.breakerOpen(true);
    metrics.up(false);
    reachable.accept(false);
    logged.clear();
    logged.add(lastFailure);
    LOG.warn(
        "the store {} does not answer; on_outage of each rule decides: {}", address, lastFailure);
  }

  @Override
  public void dataLost(long lossMillis) {
    lastLossMillis = lossMillis;
    losses.incrementAndGet();
    metrics.lostData();
    LOG.warn("the store {} has lost its counters; on_data_loss of each rule decides", address);
  }
}

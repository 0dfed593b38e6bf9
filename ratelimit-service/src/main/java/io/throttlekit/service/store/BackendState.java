package io.throttlekit.service.store;

import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.PolicyBook;
import io.throttlekit.service.telemetry.StoreMetrics;
import io.throttlekit.service.telemetry.StoreMetrics.NoAnswer;
import io.throttlekit.store.Persistence;
import io.throttlekit.store.StoreListener;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns what a backend does into metrics, log lines and one line of state. Thread-safe. */
final class BackendState implements StoreListener {
  private static final Logger LOG = LoggerFactory.getLogger(BackendState.class);
  private static final int MOST_REASONS = 10;
  private static final long WARN_EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);

  /**
   * What it is to this process, and the settings for those who know the delays of their network.
   *
   * @param name in log lines
   * @param deadline the setting of a call's deadline
   * @param leaseDeadline the setting of a lease's deadline
   * @param histogram the metric of how long it takes
   */
  record Role(String name, String deadline, String leaseDeadline, String histogram) {
    static final Role STORE =
        new Role(
            "store",
            "store.deadline",
            "store.lease_deadline",
            "throttlekit_store_round_trip_time_seconds");
    static final Role COORDINATOR =
        new Role(
            "coordinator",
            "federation.deadline",
            "federation.deadline",
            "throttlekit_coordinator_round_trip_time_seconds");
  }

  private final Role role;
  private final String address;
  private final StoreMetrics metrics;
  private final Consumer<Boolean> reachable;
  private final TimeSource time;
  private final PersistenceRemarks remarks;
  private final AtomicLong losses = new AtomicLong();

  /** Calls that were not answered in time, since the log had a warning of them. */
  private final AtomicLong lateRequests = new AtomicLong();

  private final AtomicLong nextLateNanos;
  private final AtomicLong nextErrorNanos;

  /** Reasons of this outage that the log has. */
  private final Set<String> logged = ConcurrentHashMap.newKeySet();

  /** Of this time without a connection, in the log. */
  private final Set<String> reasonsNotToConnect = ConcurrentHashMap.newKeySet();

  /** Why there is no connection; empty where there is one. */
  private volatile String notConnected = "";

  /** Whether the log has to say that it is good again, or good for the first time. */
  private volatile boolean complained = true;

  private volatile boolean answers;
  private volatile boolean leftAlone;
  private volatile String lastFailure = "";
  private volatile long lastLossMillis;
  private volatile Runnable whenLost = () -> {};

  /**
   * Begins as a backend that has not answered yet.
   *
   * @param address without passwords
   * @param reachable is told whether the store answers, when that changes
   * @param time for how often the log has the same warning
   */
  BackendState(
      Role role,
      String address,
      StoreMetrics metrics,
      Consumer<Boolean> reachable,
      TimeSource time) {
    this.time = time;
    this.role = role;
    this.address = address;
    this.metrics = metrics;
    this.reachable = reachable;
    this.nextLateNanos = new AtomicLong(time.monotonicNanos());
    this.nextErrorNanos = new AtomicLong(time.monotonicNanos());
    this.remarks = new PersistenceRemarks(role, address);
    reachable.accept(false);
  }

  /** Has {@code forget} run whenever the backend has lost its counters. */
  void whenDataIsLost(Runnable forget) {
    whenLost = forget;
  }

  /** Sets whether calls are counted from now on. */
  void countCalls(boolean counted) {
    metrics.count(counted);
  }

  /** Returns a listener that counts the round trips of the escrow's own connections. */
  StoreListener ofEscrow() {
    return new StoreListener() {
      @Override
      public void roundTrip(int requests, long nanos) {
        metrics.roundTrip(requests, nanos);
      }
    };
  }

  /** Warns where the backend may lose what a rule of these policies relies on. */
  void policiesLoaded(PolicyBook book) {
    remarks.loaded(book);
  }

  /** One that is in this process, and always answers. */
  static BackendState here(Role role, TimeSource time) {
    BackendState state = new BackendState(role, "memory", StoreMetrics.none(), _ -> {}, time);
    state.complained = false;
    state.answers();
    return state;
  }

  /** One line for people. */
  String inWords() {
    String state =
        leftAlone ? "does not answer: " + lastFailure : answers ? "answers" : notAnswering();
    String lost =
        losses.get() == 0
            ? ""
            : ", lost its data " + losses + "×, last at " + Instant.ofEpochMilli(lastLossMillis);
    return address + " " + state + lost;
  }

  private String notAnswering() {
    return notConnected.isEmpty()
        ? "has not answered yet"
        : "cannot be connected to: " + notConnected;
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
    if (complained) {
      complained = false;
      LOG.info("the {} {} answers", role.name(), address);
    }
  }

  @Override
  public void connected() {
    notConnected = "";
    reasonsNotToConnect.clear();
  }

  @Override
  public void notConnected(String whyInWords) {
    notConnected = whyInWords;
    answers = false;
    metrics.up(false);
    reachable.accept(false);
    if (reasonsNotToConnect.size() < MOST_REASONS && reasonsNotToConnect.add(whyInWords)) {
      complained = true;
      LOG.warn(
          "no connection to the {} {}; on_outage of each rule decides: {}",
          role.name(),
          address,
          whyInWords);
    }
  }

  @Override
  public void failed(int requests, Failure why, String inWords) {
    switch (why) {
      case DEADLINE -> late(requests, inWords, role.deadline());
      case LEASE_DEADLINE -> late(requests, inWords, role.leaseDeadline());
      case CONNECTION -> failed(NoAnswer.ERROR, requests, inWords, "");
      case ERROR -> {
        failed(NoAnswer.ERROR, requests, inWords, "");
        if (warnsNow(nextErrorNanos)) {
          LOG.warn("the {} {} failed: {}", role.name(), address, inWords);
        }
      }
      case OPEN -> metrics.failed(NoAnswer.BREAKER_OPEN, requests);
    }
  }

  private void late(int requests, String inWords, String setting) {
    failed(NoAnswer.TIMEOUT, requests, inWords, setting);
    lateRequests.addAndGet(requests);
    if (warnsNow(nextLateNanos)) {
      LOG.warn(
          "the {} {} did not answer {} calls in time; on_outage of each rule decided, and what they"
              + " asked may be counted. Compare {} with what Envoy's filter waits (its timeout) and"
              + " with {}, and look at the load of the {} and of this machine",
          role.name(),
          address,
          lateRequests.getAndSet(0),
          role.histogram(),
          setting,
          role.name());
    }
  }

  /** Whether it is time for another warning; never while it is left alone, which the log has. */
  private boolean warnsNow(AtomicLong nextNanos) {
    long now = time.monotonicNanos();
    long next = nextNanos.get();
    return now - next >= 0 && !leftAlone && nextNanos.compareAndSet(next, now + WARN_EVERY_NANOS);
  }

  /**
   * Notes calls without an answer.
   *
   * @param setting to be raised where it is only slow; empty when that is not it
   */
  private void failed(NoAnswer reason, int requests, String inWords, String setting) {
    metrics.failed(reason, requests);
    String cause = setting.isEmpty() ? inWords : inWords + "; if it is only slow, raise " + setting;
    lastFailure = cause;
    if (leftAlone && logged.size() < MOST_REASONS && logged.add(cause)) {
      LOG.warn("the {} {} does not answer: {}", role.name(), address, cause);
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
    complained = true;
    metrics.breakerOpen(true);
    metrics.up(false);
    reachable.accept(false);
    logged.clear();
    logged.add(lastFailure);
    LOG.warn(
        "the {} {} does not answer; on_outage of each rule decides: {}",
        role.name(),
        address,
        lastFailure);
  }

  @Override
  public void persistence(Persistence found) {
    remarks.found(found);
  }

  @Override
  public void dataLost(long lossMillis) {
    lastLossMillis = lossMillis;
    losses.incrementAndGet();
    metrics.lostData();
    LOG.warn(
        "the {} {} has lost its counters; on_data_loss of each rule decides", role.name(), address);
    whenLost.run();
  }
}

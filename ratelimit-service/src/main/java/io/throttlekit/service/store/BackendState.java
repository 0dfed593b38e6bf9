package io.throttlekit.service.store;

import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.Limit;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.policy.Scope;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.log.LogInterval;
import io.throttlekit.service.store.StoreListeners.BackendListener;
import io.throttlekit.store.Persistence;
import io.throttlekit.store.StoreListener;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports a backend's events as metrics, log lines and a one-line state. Thread-safe. */
final class BackendState implements StoreListener {
  private static final Logger LOG = LoggerFactory.getLogger(BackendState.class);

  /** Maximum of different failure reasons that are logged per outage; bounds log and memory. */
  private static final int MAX_REASONS = 10;

  /** Minimum interval between two warnings of one kind, which keeps the log readable. */
  private static final Duration WARN_INTERVAL = Duration.ofSeconds(10);

  /**
   * The role of a backend and the names of the settings that an operator of a slow network can
   * raise.
   *
   * @param name in log lines
   * @param metrics in the names of metrics
   * @param deadline setting of a call's deadline
   * @param leaseDeadline setting of a lease's deadline
   * @param counts whether counters of a rule are there
   */
  record Role(
      String name, String metrics, String deadline, String leaseDeadline, Predicate<Rule> counts) {
    private static final Predicate<Rule> GLOBAL = rule -> rule.scope() == Scope.GLOBAL;

    static final Role STORE = ofRegion("store", "store", rule -> !rule.limits().isEmpty());

    /** A store beside one for limits per second. */
    static final Role OTHERS = ofRegion("store", "store", has(limit -> !isPerSecond(limit)));

    static final Role PER_SECOND =
        ofRegion("per-second store", "per_second_store", has(Role::isPerSecond));
    static final Role COORDINATOR =
        new Role(
            "coordinator", "coordinator", "federation.deadline", "federation.deadline", GLOBAL);

    private static Role ofRegion(String name, String metrics, Predicate<Rule> counts) {
      return new Role(
          name, metrics, "store.deadline", "store.lease_deadline", counts.and(GLOBAL.negate()));
    }

    private static Predicate<Rule> has(Predicate<Limit> limits) {
      return rule -> rule.limits().stream().anyMatch(limits);
    }

    private static boolean isPerSecond(Limit limit) {
      return PerSecondStore.isPerSecond(limit.algorithm());
    }

    /** Returns the metric of the round-trip time. */
    String histogram() {
      return "throttlekit_" + metrics + "_round_trip_time_seconds";
    }
  }

  private final Role role;
  private final String address;
  private final BackendListener listener;
  private final Consumer<Boolean> reachable;
  private final TimeSource time;
  private final PersistenceRemarks remarks;
  private final AtomicLong losses = new AtomicLong();

  /** Calls that exceeded their deadline since the last warning. */
  private final AtomicLong lateRequests = new AtomicLong();

  private final LogInterval lateLines;
  private final LogInterval errorLines;

  /** Reasons of this outage that were logged. */
  private final Set<String> logged = ConcurrentHashMap.newKeySet();

  /** Reasons for the present lack of a connection that were logged. */
  private final Set<String> reasonsNotToConnect = ConcurrentHashMap.newKeySet();

  /**
   * Whether no attempt to connect has ended yet. Calls that fail until then are not logged: the
   * attempt has the reason.
   */
  private volatile boolean connecting = true;

  /** The reason for the lack of a connection; empty while connected. */
  private volatile String notConnected = "";

  /** Whether the next answer is logged: the first one, and the first one after a warning. */
  private volatile boolean warned = true;

  /** Whether calls are counted: those of the warm-up are not. */
  private volatile boolean counted = true;

  private volatile boolean answers;

  /** Whether the circuit breaker is open. */
  private volatile boolean breakerOpen;

  private volatile String lastFailure = "";
  private volatile long lastLossMillis;
  private volatile Runnable whenLost = () -> {};

  /**
   * Creates the state of a backend that has not answered yet.
   *
   * @param address without passwords
   * @param reachable notified when the store begins or ceases to answer
   * @param time limits the rate of warnings
   */
  BackendState(
      Role role,
      String address,
      BackendListener listener,
      Consumer<Boolean> reachable,
      TimeSource time) {
    this.time = time;
    this.role = role;
    this.address = address;
    this.listener = listener;
    this.reachable = reachable;
    this.lateLines = new LogInterval(WARN_INTERVAL, time.monotonicNanos());
    this.errorLines = new LogInterval(WARN_INTERVAL, time.monotonicNanos());
    this.remarks = new PersistenceRemarks(role, address);
    reachable.accept(false);
  }

  /** Sets the action that runs when the backend has lost its counters. */
  void whenDataIsLost(Runnable forget) {
    whenLost = forget;
  }

  /** Sets whether calls are counted from now on. */
  void countCalls(boolean counted) {
    this.counted = counted;
  }

  /** Returns a listener that counts the round trips of further connections to the backend. */
  StoreListener ofFurtherConnections() {
    return new StoreListener() {
      @Override
      public void roundTrip(int requests, long nanos) {
        count(requests, nanos);
      }
    };
  }

  /** Warns where the backend may lose what a rule of these policies relies on. */
  void policiesLoaded(PolicyBook book) {
    remarks.loaded(book);
  }

  /** Returns the state of the backend at this address; one in this process always answers. */
  static BackendState of(
      Role role,
      StoreAddress address,
      StoreListeners listeners,
      Consumer<Boolean> reachable,
      TimeSource time) {
    if (!address.inMemory()) {
      BackendListener listener = listeners.backend(role.metrics());
      return new BackendState(role, address.toString(), listener, reachable, time);
    }
    BackendListener none = new BackendListener() {};
    BackendState state = new BackendState(role, "memory", none, _ -> {}, time);
    state.warned = false;
    state.answers();
    return state;
  }

  /** Returns a one-line description for operators. */
  String describe() {
    return describe(breakerOpen, answers);
  }

  /**
   * Returns the description of a backend that does not answer now. Returns an empty text for one
   * that answers, and for one that is being connected to or cannot be connected to: the reason is
   * logged at the end of the attempt.
   */
  String describeUnanswering() {
    boolean open = breakerOpen;
    boolean answering = answers;
    boolean reported = connecting || !notConnected.isEmpty();
    return reported || (answering && !open) ? "" : describe(open, answering);
  }

  private String describe(boolean open, boolean answering) {
    String state =
        open && !connecting
            ? "does not answer: " + cause()
            : answering ? "answers" : notAnswering();
    String lost =
        losses.get() == 0
            ? ""
            : ", lost its data " + losses + "×, last at " + Instant.ofEpochMilli(lastLossMillis);
    return address + " " + state + lost;
  }

  private String notAnswering() {
    if (!notConnected.isEmpty()) {
      return "cannot be connected to: " + notConnected;
    }
    return connecting
        ? "has no connection yet: nothing has answered at this address"
        : "has not answered yet";
  }

  /** Returns why calls fail, for an operator. */
  private String cause() {
    return notConnected.isEmpty() ? lastFailure : notConnected;
  }

  private void count(int requests, long nanos) {
    if (counted) {
      listener.roundTrip(requests, nanos);
    }
  }

  @Override
  public void roundTrip(int requests, long nanos) {
    count(requests, nanos);
    if (!answers && !breakerOpen) { // a late answer does not close the breaker
      answers();
    }
  }

  private void answers() {
    connecting = false;
    answers(true);
    if (warned) {
      warned = false;
      LOG.info("the {} {} answers", role.name(), address);
    }
  }

  private void answers(boolean now) {
    answers = now;
    listener.answers(now);
    reachable.accept(now);
  }

  @Override
  public void connected() {
    listener.connected();
    reachable();
  }

  @Override
  public void reachable() {
    boolean again = !notConnected.isEmpty();
    connecting = false;
    notConnected = "";
    reasonsNotToConnect.clear();
    // An unhealthy process may get no requests, whose answers would show it.
    if (again && !answers && !breakerOpen) {
      answers();
    }
  }

  @Override
  public void disconnected() {
    listener.disconnected();
  }

  @Override
  public void notConnected(String failureReason) {
    connecting = false;
    notConnected = failureReason;
    answers(false);
    if (reasonsNotToConnect.size() < MAX_REASONS && reasonsNotToConnect.add(failureReason)) {
      warned = true;
      LOG.warn(
          "no connection to the {} {}; on_outage of each rule decides: {}",
          role.name(),
          address,
          failureReason);
    }
  }

  @Override
  public void failed(int requests, Failure why, String reason) {
    if (counted) {
      listener.failed(requests, why, reason);
    }
    switch (why) {
      case DEADLINE -> late(requests, reason, role.deadline());
      case LEASE_DEADLINE -> late(requests, reason, role.leaseDeadline());
      case CONNECTION -> failed(reason);
      case ERROR -> {
        failed(reason);
        if (warnsNow(errorLines)) {
          LOG.warn("the {} {} failed: {}", role.name(), address, reason);
        }
      }
      case OPEN -> {} // logged when it opened
    }
  }

  private void late(int requests, String reason, String setting) {
    if (connecting || !notConnected.isEmpty()) { // no deadline is long enough
      failed(reason);
      return;
    }
    failed(reason + "; if it is only slow, raise " + setting);
    lateRequests.addAndGet(requests);
    if (warnsNow(lateLines)) {
      LOG.warn(
          "the {} {} did not answer {} calls in time; on_outage of each rule decided, and the"
              + " requests may have been counted. Compare {} with what Envoy's filter waits (its"
              + " timeout) and with {}, and look at the load of the {} and of this machine",
          role.name(),
          address,
          lateRequests.getAndSet(0),
          role.histogram(),
          setting,
          role.name());
    }
  }

  /** Returns whether a warning is due; never while the breaker is open, which was logged. */
  private boolean warnsNow(LogInterval lines) {
    return !breakerOpen && lines.isDue(time.monotonicNanos());
  }

  private void failed(String cause) {
    lastFailure = cause;
    if (breakerOpen
        && !connecting
        && notConnected.isEmpty()
        && logged.size() < MAX_REASONS
        && logged.add(cause)) {
      LOG.warn("the {} {} does not answer: {}", role.name(), address, cause);
    }
  }

  @Override
  public void up() {
    breakerOpen = false;
    listener.up();
    answers();
  }

  @Override
  public void down() {
    breakerOpen = true;
    warned = true;
    listener.down();
    answers(false);
    logged.clear();
    logged.add(lastFailure);
    if (connecting) { // no warning: the end of the attempt brings one with the reason
      LOG.info(
          "the {} {} has no connection yet; on_outage of each rule decides until the first attempt"
              + " to connect has ended",
          role.name(),
          address);
    } else {
      LOG.warn(
          "the {} {} does not answer; on_outage of each rule decides: {}",
          role.name(),
          address,
          cause());
    }
  }

  @Override
  public void persistence(Persistence found) {
    remarks.found(found);
  }

  @Override
  public void dataLost(long lossMillis) {
    lastLossMillis = lossMillis;
    losses.incrementAndGet();
    listener.dataLost(lossMillis);
    LOG.warn(
        "the {} {} has lost its counters; on_data_loss of each rule decides", role.name(), address);
    whenLost.run();
  }
}

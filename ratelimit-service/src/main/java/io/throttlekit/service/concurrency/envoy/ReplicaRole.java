package io.throttlekit.service.concurrency.envoy;

import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.envoy.xds.ClusterLimit;
import io.throttlekit.envoy.xds.LimitServer;
import io.throttlekit.envoy.xds.LimitServer.Mark;
import io.throttlekit.envoy.xds.LimitServerSettings;
import io.throttlekit.envoy.xds.SharePlan;
import io.throttlekit.envoy.xds.StreamState;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.concurrency.envoy.replicas.ReportBuffer;
import io.throttlekit.service.concurrency.envoy.replicas.SteeringRecord;
import io.throttlekit.service.concurrency.envoy.replicas.Visits;
import io.throttlekit.service.concurrency.envoy.replicas.Visits.Visitor;
import io.throttlekit.service.concurrency.sensors.ClusterLoad;
import io.throttlekit.service.concurrency.sensors.LoadListener;
import io.throttlekit.service.concurrency.sensors.OutcomeListener;
import io.throttlekit.service.concurrency.sensors.Reading;
import io.throttlekit.steering.SteeringExchange;
import io.throttlekit.steering.SteeringExchange.Answer;
import io.throttlekit.steering.SteeringExchange.Record;
import io.throttlekit.steering.SteeringExchange.Report;
import io.throttlekit.steering.SteeringExchange.Visit;
import io.throttlekit.store.StoreException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The role of this replica, as the answers to its visits give it: it steers the limits, or reports
 * to the replica that does. Either way, the shares of the newest record are pushed.
 *
 * <p>Two rules keep the sum of all shares below the limit, whichever replica fails: a share is
 * pushed only after the record that reserves it was published, and a stream gets its first share
 * only from the answer of a visit that began after it joined.
 *
 * <p>Samples, figures and {@link #streamsChanged}: any thread. All else: one thread at a time.
 */
final class ReplicaRole implements Visitor, OutcomeListener, LoadListener {
  /** How long a replica may be without a successful visit; less than shares stay reserved. */
  static final long CUT_OFF_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Interval of the lists of streams: reports may be lost. */
  private static final long LIST_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Interval of other reports; logs come once a second. */
  private static final long REPORT_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** How long no replica steers before one without rules does, to withdraw all limits. */
  private static final long ORPHANED_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** How long a process that restarts may find the lease of its predecessor. */
  private static final long RESTART_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final LimitServer server;
  private final LimitServerSettings settings;
  private final ReplicaMembership membership;
  private final TimeSource time;
  private final ConcurrencyListener listener;
  private final SteeringListener events;
  private final ReportBuffer buffer;
  private final AtomicBoolean streamsChanged = new AtomicBoolean();

  /** Null while another replica steers, or none is known to. */
  private volatile @Nullable SteeredLimits steered;

  private volatile Known known = new Known(0, 0, SteeringRecord.EMPTY);
  private volatile String steering = "";
  private volatile boolean cutOff;
  private volatile long epoch;
  private volatile long incarnation;

  private Map<ClusterLimit, Rule> rules = Map.of();
  private Mark mark;
  private @Nullable SteeringRecord unpublished;
  private @Nullable Record unpublishedText;
  private boolean roundIsDue;
  private boolean hasStreams;
  private long listedNanos;
  private long reportedNanos;
  private long succeededNanos;
  private long steeredNanos;
  private int failures;
  private boolean sameId;
  private long sameIdNanos;

  /** The newest record that was published, as far as this replica knows and can read it. */
  private record Known(long epoch, long version, SteeringRecord record) {}

  ReplicaRole(
      LimitServer server,
      LimitServerSettings settings,
      ReplicaMembership membership,
      TimeSource time,
      ConcurrencyListener listener,
      SteeringListener events) {
    this.server = server;
    this.settings = settings;
    this.membership = membership;
    this.time = time;
    this.listener = listener;
    this.events = events;
    this.buffer = new ReportBuffer(membership.incarnation());
    this.mark = server.begin();
    this.incarnation = membership.incarnation();
  }

  /** Returns the limits that this replica steers; null while it does not steer. */
  @Nullable SteeredLimits steered() {
    return steered;
  }

  /** Returns the figures of now. */
  SteeringFigures figures() {
    SteeredLimits own = steered;
    Known newest = known;
    return new SteeringFigures(
        membership.replica(),
        steering,
        own == null ? 0 : epoch,
        cutOff,
        newest.record.plan(),
        newest.epoch,
        own == null ? Map.of() : own.holders());
  }

  @Override
  public void ended(String node, Reading reading, long beganNanos, long arrivedNanos) {
    SteeredLimits own = steered;
    (own == null ? buffer : own).ended(node, reading, beganNanos, arrivedNanos);
  }

  @Override
  public void reported(String node, long stream, ClusterLoad load, long arrivedNanos) {
    SteeredLimits own = steered;
    (own == null ? buffer : own).reported(node, stream, load, arrivedNanos);
  }

  @Override
  public void left(String node, long stream) {
    SteeredLimits own = steered;
    (own == null ? buffer : own).left(node, stream);
  }

  /** Notes that discovery streams joined, left or acknowledged. */
  void streamsChanged() {
    streamsChanged.set(true);
  }

  /** Applies these rules and no others, if this replica steers or as soon as it does. */
  void follow(Map<ClusterLimit, Rule> next) {
    rules = next;
    SteeredLimits own = steered;
    if (own != null) {
      own.follow(next, time.monotonicNanos());
      roundIsDue = true;
    }
  }

  /** Returns whether visits are of use: there is a rule, an Envoy, or a limit to withdraw. */
  boolean needsVisits() {
    return !rules.isEmpty() || hasStreams || steered != null;
  }

  /** Prepares the next round, if this replica steers; notices that no visit succeeds. */
  void tick(long nowNanos) {
    SteeredLimits own = steered;
    if (own != null) {
      own.tick(nowNanos);
      roundIsDue = true;
    }
    if (failures > 0 && nowNanos - succeededNanos >= CUT_OFF_NANOS && !cutOff) {
      cutOff = true;
      server.cutOff();
      events.cutOff();
      cease();
      // A new lease: records of this one may still arrive, and their numbers must not be reused.
      incarnation = membership.incarnation() + nowNanos;
    }
  }

  /** Caps what Envoys may report at the shares of the round that a tick caused. */
  void ticked() {
    SteeredLimits own = steered;
    if (own != null) {
      own.capReports();
    }
  }

  @Override
  public @Nullable Visit next() {
    long now = time.monotonicNanos();
    boolean list = streamsChanged.getAndSet(false) || now - listedNanos >= LIST_NANOS;
    mark = server.begin(); // before the streams are read: what joins later waits for another visit
    List<StreamState> streams = list ? server.streams() : null;
    if (streams != null) {
      listedNanos = now;
      hasStreams = !streams.isEmpty();
    }
    SteeredLimits own = steered;
    if (own == null) {
      return reporting(streams, now);
    }
    if (streams != null) {
      own.ownStreams(streams, now);
    }
    if (streams != null || roundIsDue) {
      roundIsDue = false;
      publishSoon(own.round(now), own);
    }
    return visit("", unpublishedText, leavesSteering());
  }

  private Visit reporting(@Nullable List<StreamState> streams, long now) {
    boolean due =
        streams != null
            || buffer.isFull()
            || (now - reportedNanos >= REPORT_NANOS && !buffer.isEmpty());
    if (!due) {
      return visit("", null, leavesSteering());
    }
    reportedNanos = now;
    String report = buffer.next(streams, now);
    if (report.length() > SteeringExchange.MAX_REPORT) {
      // The last list stays in force: later Envoys get no share, and no share is given to others.
      events.rejected("the streams of this replica's Envoys do not fit into a report");
      report = buffer.next(null, now);
    }
    return visit(report, null, leavesSteering());
  }

  private Visit visit(String report, @Nullable Record record, boolean leaving) {
    Known newest = known;
    return new Visit(
        membership.replica(), incarnation, report, newest.epoch, newest.version, record, leaving);
  }

  /**
   * Returns whether this replica leaves the steering to others, as it has no rule: when it has
   * withdrawn the limits, if it steers. If no other replica steers, it does, to withdraw them.
   */
  private boolean leavesSteering() {
    if (!rules.isEmpty()) {
      return false;
    }
    boolean withdrawn = known.record.plan().limits().isEmpty();
    if (steered != null) {
      return withdrawn && unpublishedText == null;
    }
    boolean orphaned = steering.isEmpty() && time.monotonicNanos() - steeredNanos >= ORPHANED_NANOS;
    return withdrawn || !orphaned;
  }

  private void publishSoon(SharePlan plan, SteeredLimits own) {
    SteeringRecord last = unpublished == null ? known.record : unpublished;
    if (plan == last.plan()) {
      return; // the same object, if nothing has changed
    }
    SteeringRecord next = new SteeringRecord(plan, own.learned());
    String text = next.text();
    if (text.length() > SteeringExchange.MAX_RECORD) {
      events.rejected("the shares of all Envoys do not fit into a record");
      return;
    }
    unpublished = next;
    unpublishedText = new Record(epoch, plan.number(), text);
  }

  @Override
  public boolean answered(Answer answer) {
    long now = time.monotonicNanos();
    failures = 0;
    succeededNanos = now;
    learnRecord(answer);
    if (answer.epoch() == 0) {
      cease();
    } else if (steered == null || answer.epoch() != epoch) {
      begin(answer.epoch(), now);
    }
    steering = answer.steering();
    steeredNanos = steering.isEmpty() ? steeredNanos : now;
    if (answer.dropped() > 0) {
      events.reportsDropped(answer.dropped());
    }
    SteeredLimits own = steered;
    if (own != null) {
      answer.reports().forEach(report -> read(own, report, now));
    }
    noticeSameId(answer, now);
    if (cutOff) {
      cutOff = false;
      server.reachable();
      events.reachable();
    }
    if (known.version == known.record.plan().number()) { // else the newest is unreadable
      server.apply(known.record.plan(), Long.toString(known.epoch, Character.MAX_RADIX), mark);
    }
    return steered != null && (roundIsDue || streamsChanged.get());
  }

  private void learnRecord(Answer answer) {
    SteeringRecord brought = unpublished;
    Record read = answer.record();
    if (answer.published() && brought != null) {
      known = new Known(epoch, brought.plan().number(), brought);
      unpublished = null;
      unpublishedText = null;
    } else if (read != null) {
      SteeringRecord record = known.record;
      try {
        record = SteeringRecord.parse(read.text(), read.version());
      } catch (IllegalArgumentException e) {
        events.rejected("the record is invalid: " + e.getMessage());
      }
      known = new Known(read.epoch(), read.version(), record); // also so as not to read it again
    }
  }

  private void begin(long next, long now) {
    SteeredLimits before = steered;
    SteeringRecord last =
        before == null ? known.record : new SteeringRecord(known.record.plan(), before.learned());
    unpublished = null;
    unpublishedText = null;
    epoch = next;
    SteeredLimits own =
        new SteeredLimits(
            membership.replica(),
            membership.incarnation(),
            next,
            last,
            settings,
            listener,
            events,
            now);
    own.follow(rules, now);
    own.tick(now);
    steered = own;
    buffer.drainTo(own, own);
    roundIsDue = true;
    streamsChanged.set(true);
    events.began(next);
  }

  private void cease() {
    if (steered != null) {
      steered = null;
      unpublished = null;
      unpublishedText = null;
      streamsChanged.set(true);
      events.ended();
    }
  }

  private void read(SteeredLimits own, Report report, long now) {
    try {
      roundIsDue |= own.report(report.replica(), report.text(), now);
    } catch (IllegalArgumentException e) {
      events.rejected("of replica " + report.replica() + ": " + e.getMessage());
    }
  }

  private void noticeSameId(Answer answer, long now) {
    boolean other = answer.epoch() == 0 && answer.steering().equals(membership.replica());
    if (other && !sameId) {
      sameIdNanos = now;
    }
    sameId = other;
    if (sameId && now - sameIdNanos >= RESTART_NANOS) {
      events.sameNode(membership.replica());
    }
  }

  @Override
  public void failed(Throwable why) {
    long now = time.monotonicNanos();
    if (failures++ == 0 && now - succeededNanos > Visits.TIMEOUT_NANOS) {
      succeededNanos = now - Visits.TIMEOUT_NANOS; // it was suspended until then
    }
    streamsChanged.set(true); // the report may be lost
    Throwable cause = StoreException.causeOf(why);
    events.visitFailed(String.valueOf((cause == null ? why : cause).getMessage()));
  }

  /** Returns the last visit, before this replica ends its streams. */
  Visit leave() {
    String report = steered == null ? buffer.next(List.of(), time.monotonicNanos()) : "";
    return visit(report.length() > SteeringExchange.MAX_REPORT ? "" : report, null, true);
  }
}

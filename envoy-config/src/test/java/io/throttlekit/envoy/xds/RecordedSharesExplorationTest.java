package io.throttlekit.envoy.xds;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.explore.Exploration;
import io.throttlekit.explore.Explorer;
import io.throttlekit.explore.Replay;
import io.throttlekit.explore.Subject;
import io.throttlekit.steering.InMemorySteeringExchange;
import io.throttlekit.steering.LimiterState;
import io.throttlekit.steering.SteeringExchange;
import io.throttlekit.steering.SteeringExchange.Answer;
import io.throttlekit.steering.SteeringExchange.Record;
import io.throttlekit.steering.SteeringExchange.Visit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Runs the real {@link LimitDivision} and the real exchange in memory through every order of events
 * of the module {@code RecordedShares}, for two replicas and two Envoys.
 */
@Tag("exploration")
@Tag("thorough")
class RecordedSharesExplorationTest {
  private static final ClusterLimit UP = new ClusterLimit("up", Priority.DEFAULT);
  private static final int LIMIT = 3;
  private static final int MAX_VISITS = 4;

  @Test
  void envoysApplyAtMostTheLimitOnAnyReplica() {
    Set<String> reached = new HashSet<>();
    Exploration seen = Explorer.explore(new Replay<>(() -> new Fleet(true, reached)), 300_000);
    assertThat(seen.violation()).isNull();
    assertThat(seen.distinct()).isGreaterThan(1_000);
    assertThat(reached).contains("a released share is applied by another Envoy", "held back");
  }

  @Test
  void anEnvoyAppliesMoreThanIsReservedIfAStreamHasAnOldRecord() {
    Exploration seen =
        Explorer.explore(new Replay<>(() -> new Fleet(false, new HashSet<>())), 300_000);
    assertThat(seen.broken()).isEqualTo("Covered");
  }

  private static final class Clock implements TimeSource {
    long millis = 1_000;

    @Override
    public long wallMillis() {
      return millis;
    }

    @Override
    public long monotonicNanos() {
      return millis * 1_000_000;
    }
  }

  private static final class Node {
    @Nullable Record copy;
    @Nullable Record brought;
    @Nullable LimitDivision division;
    @Nullable SharePlan next;
    @Nullable Answer answer;
    final Set<Integer> marked = new HashSet<>();
    final List<String> inputs = new ArrayList<>();
    long epoch;
    long incarnation = 1;
  }

  private static final class Fleet implements Subject<String> {
    private final boolean fresh;
    private final Set<String> reached;
    private final Clock clock = new Clock();
    private final SteeringExchange exchange = new InMemorySteeringExchange(clock);
    private final Node[] nodes = {new Node(), new Node()};
    private final int[] home = {0, 0};
    private final boolean[] isFresh = {false, false};
    private final int[] applied = {0, 0};
    private final long[] at = {0, 0};
    private int visits = -100;
    private int moves;
    private int demands;
    private int takeovers;

    Fleet(boolean fresh, Set<String> reached) {
      this.fresh = fresh;
      this.reached = reached;
      for (int i = 0; i < 6; i++) { // all shares are given by the record
        visit(0);
        receive(0);
        visit(1);
        receive(1);
        apply(0);
        apply(1);
      }
      visits = 0;
    }

    @Override
    public List<String> enabled() {
      List<String> events = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        if (visits < MAX_VISITS) {
          events.add("visit " + i);
        }
        if (nodes[i].answer != null) {
          events.add("receive " + i);
        }
        if (takeovers < 1 && visits < MAX_VISITS) {
          events.add("takeover " + i);
        }
        if (moves < 1) {
          events.add("move " + i);
        }
        Record copy = nodes[home[i]].copy;
        if (copy != null && (isFresh[i] || !fresh) && copy.version() != at[i]) {
          events.add("apply " + i);
        }
      }
      if (demands < 1) {
        events.add("demand 1");
      }
      return events;
    }

    @Override
    public void apply(String event) {
      int i = event.charAt(event.length() - 1) - '0';
      switch (event.substring(0, event.length() - 2)) {
        case "visit" -> visit(i);
        case "receive" -> receive(i);
        case "takeover" -> {
          takeovers++;
          clock.millis += SteeringExchange.LEASE_MILLIS + 1;
          visit(i);
        }
        case "move" -> {
          moves++;
          home[i] = 1 - home[i];
          isFresh[i] = false;
          nodes[0].marked.remove(i);
          nodes[1].marked.remove(i);
        }
        case "demand" -> {
          demands++;
          for (Node node : nodes) {
            if (node.division != null) {
              node.inputs.add("demand");
              node.division.demand(UP, "e1", 1, 9, 0);
            }
          }
        }
        default -> apply(i);
      }
    }

    private void visit(int r) {
      visits++;
      Node node = nodes[r];
      Record record =
          node.next == null ? null : new Record(node.epoch, node.next.number(), node.next.text());
      Record copy = node.copy;
      StringBuilder report = new StringBuilder("r");
      node.marked.clear();
      for (int e = 0; e < 2; e++) {
        if (home[e] == r) {
          report.append(' ').append(e).append(':').append(at[e]);
          node.marked.add(e);
        }
      }
      node.answer =
          exchange
              .visit(
                  new Visit(
                      "r" + r,
                      node.incarnation,
                      report.toString(),
                      copy == null ? 0 : copy.epoch(),
                      copy == null ? 0 : copy.version(),
                      record,
                      false))
              .toCompletableFuture()
              .join();
      node.brought = record;
    }

    private void receive(int r) {
      Node node = nodes[r];
      Answer answer = Objects.requireNonNull(node.answer);
      node.answer = null;
      if (answer.published()) {
        node.copy = node.brought;
      } else if (answer.record() != null) {
        node.copy = answer.record();
      }
      node.marked.forEach(e -> isFresh[e] = true);
      node.marked.clear();
      if (answer.epoch() == 0) {
        node.division = null;
        node.next = null;
        node.inputs.clear();
        return;
      }
      LimitDivision division = node.division;
      if (division == null || node.epoch != answer.epoch()) {
        node.epoch = answer.epoch();
        node.inputs.clear();
        division =
            LimitDivision.from(
                plan(node.copy), node.epoch, LimitServerSettings.DEFAULT, (_, _, _) -> {}, 0);
        division.offer(UP, LIMIT);
        node.division = division;
      }
      for (SteeringExchange.Report report : answer.reports()) {
        node.inputs.add(report.replica() + report.text());
        division.reported(report.replica(), streams(report.text()), 0);
      }
      node.next = division.round(0);
    }

    private void apply(int e) {
      SharePlan.Part part = plan(nodes[home[e]].copy).part("e" + e, token(e));
      if (part != null && part.granted().containsKey(UP)) {
        int before = applied[e];
        applied[e] = Objects.requireNonNull(part.granted().get(UP));
        at[e] = Objects.requireNonNull(nodes[home[e]].copy).version();
        if (visits >= 0 && applied[e] > before) {
          reached.add("a released share is applied by another Envoy");
        }
      }
    }

    private static List<StreamState> streams(String report) {
      List<StreamState> streams = new ArrayList<>();
      for (String stream : report.substring(1).strip().split(" ", -1)) {
        if (!stream.isEmpty()) {
          int e = stream.charAt(0) - '0';
          long number = Long.parseLong(stream.substring(2));
          streams.add(new StreamState("e" + e, token(e), number, number, Map.of()));
        }
      }
      return streams;
    }

    private static String token(int e) {
      return "000000000000000" + e;
    }

    private static SharePlan plan(@Nullable Record record) {
      return record == null ? SharePlan.EMPTY : SharePlan.parse(record.text(), record.version());
    }

    /** Returns the published record, by a visit that takes no part. */
    private @Nullable Record published() {
      return exchange
          .visit(new Visit("observer", 1, "", 0, 0, null, true))
          .toCompletableFuture()
          .join()
          .record();
    }

    @Override
    public @Nullable String broken() {
      SharePlan plan = plan(published());
      for (int e = 0; e < 2; e++) {
        SharePlan.Part part = plan.part("e" + e, token(e));
        LimiterState state = part == null ? null : part.shares().get(UP);
        int reserved = state == null ? 0 : state.reserved();
        if (applied[e] > reserved) {
          return "Covered";
        }
        if (state != null && state.granted() < reserved) {
          reached.add("held back");
        }
      }
      return applied[0] + applied[1] > LIMIT ? "WithinLimit" : null;
    }

    @Override
    public Object snapshot() {
      Map<String, Object> all = new TreeMap<>();
      all.put("counts", List.of(visits, moves, demands, takeovers, clock.millis));
      all.put(
          "envoys",
          Arrays.toString(home)
              + Arrays.toString(isFresh)
              + Arrays.toString(applied)
              + Arrays.toString(at));
      all.put("record", String.valueOf(published()));
      for (int r = 0; r < 2; r++) {
        Node node = nodes[r];
        all.put(
            "r" + r,
            node.copy
                + "|"
                + (node.next == null ? "" : node.next.number() + node.next.text())
                + node.answer
                + node.marked
                + node.inputs
                + node.epoch);
      }
      return new HashMap<>(all);
    }
  }
}

package io.throttlekit.service.concurrency.envoy.replicas;

import io.throttlekit.envoy.xds.ClusterLimit;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.envoy.xds.StreamState;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport.Left;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport.Load;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport.Outcome;
import io.throttlekit.service.concurrency.sensors.Kind;
import io.throttlekit.steering.SteeringExchange;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The text of a {@link ReplicaReport}: lines of decimal numbers, after a table of the names to
 * which they refer, each of which is sent once.
 *
 * <pre>
 * 1 incarnation sequence dropped names streams loads left outcomes
 * NAME                                             for each name
 * node token sent acknowledged (cluster priority share)*
 *                                                    for each stream; "-" streams for no list
 * node stream cluster inProgress succeeded age       for each load
 * node stream                                        for each that left
 * node cluster kind rtt began age route client       for each outcome
 * </pre>
 */
final class ReportText {
  /** The most outcomes of a report; the ticks of limit algorithms need no more. */
  static final int MAX_OUTCOMES = 4_000;

  /** The most loads of a report. */
  static final int MAX_LOADS = 4_000;

  /** The most ended streams of load reports in a report. */
  static final int MAX_LEFT = 1_000;

  /** The most discovery streams of a replica: two of each Envoy that it may have. */
  static final int MAX_STREAMS = 20_000;

  /** The most characters of the numbers of an outcome, a load, or one share of a stream. */
  static final int ITEM_CHARS = 80;

  private static final String FORMAT = "1";
  private static final int MAX_NAMES = 4 * (MAX_OUTCOMES + MAX_LOADS + MAX_STREAMS);
  private static final int MAX_NAME = 1_024;

  /** The most digits of a number: those of 2^53, above every count and number of a plan. */
  private static final int MAX_DIGITS = 16;

  private static final long MAX_MICROS = TimeUnit.DAYS.toMicros(1);
  private static final int MAX_SHARE = 1 << 30;
  private static final char REPLACEMENT = '\uFFFD';

  private ReportText() {}

  /** Returns the text of a report. */
  static String of(ReplicaReport report) {
    Map<String, Integer> names = new LinkedHashMap<>();
    StringBuilder body = new StringBuilder();
    List<StreamState> streams = report.streams();
    for (StreamState stream : streams == null ? List.<StreamState>of() : streams) {
      add(
          body,
          index(names, stream.node()),
          index(names, stream.token()),
          stream.sent(),
          stream.acknowledged());
      stream
          .mayApply()
          .forEach((limit, share) -> {
            body.append(' ');
            add(body, index(names, limit.cluster()), index(names, limit.priority().name()), share);
          });
      body.append('\n');
    }
    for (Load load : report.loads()) {
      add(
          body,
          index(names, load.node()),
          load.stream(),
          index(names, load.cluster()),
          load.inProgress(),
          load.succeeded(),
          load.ageMicros());
      body.append('\n');
    }
    for (Left left : report.left()) {
      add(body, index(names, left.node()), left.stream());
      body.append('\n');
    }
    for (Outcome outcome : report.outcomes()) {
      add(
          body,
          index(names, outcome.node()),
          index(names, outcome.cluster()),
          index(names, outcome.kind().name()),
          outcome.rttMicros(),
          outcome.beganMicros(),
          outcome.ageMicros(),
          index(names, outcome.route()),
          index(names, outcome.client()));
      body.append('\n');
    }
    StringBuilder text = new StringBuilder(body.length() + 32 * names.size() + 100);
    text.append(FORMAT).append(' ').append(Long.toHexString(report.incarnation())).append(' ');
    add(text, report.sequence(), report.dropped(), names.size());
    text.append(' ').append(streams == null ? "-" : Integer.toString(streams.size())).append(' ');
    add(text, report.loads().size(), report.left().size(), report.outcomes().size());
    text.append('\n');
    names.keySet().forEach(name -> text.append(name).append('\n'));
    return text.append(body).toString();
  }

  /**
   * Returns the report of a text.
   *
   * @throws IllegalArgumentException when it is not the text of a report, or a number is out of
   *     range
   */
  static ReplicaReport parse(String text) {
    if (text.length() > SteeringExchange.MAX_REPORT) {
      throw invalid("longer than " + SteeringExchange.MAX_REPORT);
    }
    return new Reader(text).report();
  }

  private static void add(StringBuilder text, long... numbers) {
    for (int i = 0; i < numbers.length; i++) {
      if (i > 0) {
        text.append(' ');
      }
      text.append(numbers[i]);
    }
  }

  private static int index(Map<String, Integer> names, String name) {
    Integer known = names.get(name);
    if (known != null) {
      return known;
    }
    String written = printable(name);
    return names.computeIfAbsent(written, _ -> names.size());
  }

  /** Replaces what no line, or no store, can contain: names of routes are chosen by clients. */
  private static String printable(String name) {
    boolean clean =
        name.chars().noneMatch(c -> Character.isISOControl(c) || Character.isSurrogate((char) c));
    if (clean && name.length() <= MAX_NAME) {
      return name;
    }
    StringBuilder shown = new StringBuilder(name.length());
    name.codePoints()
        .limit(MAX_NAME / 2)
        .forEach(c -> {
          boolean single = c < Character.MIN_SUPPLEMENTARY_CODE_POINT;
          boolean bad = single && (Character.isISOControl(c) || Character.isSurrogate((char) c));
          shown.appendCodePoint(bad ? REPLACEMENT : c);
        });
    return shown.toString();
  }

  private static IllegalArgumentException invalid(String why) {
    return new IllegalArgumentException("the report is invalid: " + why);
  }

  /** Reads one text from its beginning to its end. */
  private static final class Reader {
    private final String text;
    private int at;
    private String[] names = {};

    Reader(String text) {
      this.text = text;
    }

    ReplicaReport report() {
      expect(FORMAT);
      expect(" ");
      long incarnation = incarnation();
      long sequence = next(Long.MAX_VALUE);
      long dropped = next(Long.MAX_VALUE);
      int count = (int) next(MAX_NAMES);
      int streams = streamCount();
      int loads = (int) next(MAX_LOADS);
      int left = (int) next(MAX_LEFT);
      int outcomes = (int) next(MAX_OUTCOMES);
      expect("\n");
      names = new String[count];
      for (int i = 0; i < count; i++) {
        names[i] = line();
      }
      ReplicaReport report =
          new ReplicaReport(
              incarnation,
              sequence,
              dropped,
              streams < 0 ? null : streams(streams),
              loads(loads),
              left(left),
              outcomes(outcomes));
      if (at != text.length()) {
        throw invalid("more lines than it names");
      }
      return report;
    }

    private List<StreamState> streams(int count) {
      List<StreamState> streams = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String node = named();
        expect(" ");
        String token = named();
        long sent = next(Long.MAX_VALUE);
        long acknowledged = next(Long.MAX_VALUE);
        Map<ClusterLimit, Integer> mayApply = new LinkedHashMap<>();
        while (peek() == ' ') {
          expect(" ");
          String cluster = named();
          expect(" ");
          Priority priority = Priority.valueOf(named());
          mayApply.put(new ClusterLimit(cluster, priority), (int) next(MAX_SHARE));
        }
        expect("\n");
        streams.add(new StreamState(node, token, sent, acknowledged, mayApply));
      }
      return streams;
    }

    private List<Load> loads(int count) {
      List<Load> loads = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String node = named();
        long stream = next(Long.MAX_VALUE);
        expect(" ");
        String cluster = named();
        long inProgress = next(Long.MAX_VALUE);
        long succeeded = next(Long.MAX_VALUE);
        loads.add(new Load(node, stream, cluster, inProgress, succeeded, next(MAX_MICROS)));
        expect("\n");
      }
      return loads;
    }

    private List<Left> left(int count) {
      List<Left> left = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String node = named();
        left.add(new Left(node, next(Long.MAX_VALUE)));
        expect("\n");
      }
      return left;
    }

    private List<Outcome> outcomes(int count) {
      List<Outcome> outcomes = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String node = named();
        expect(" ");
        String cluster = named();
        expect(" ");
        Kind kind = Kind.valueOf(named());
        long rtt = next(MAX_MICROS);
        long began = next(MAX_MICROS);
        long age = next(MAX_MICROS);
        expect(" ");
        String route = named();
        expect(" ");
        outcomes.add(new Outcome(node, cluster, kind, rtt, began, age, route, named()));
        expect("\n");
        if (!kind.ends() || (rtt == 0 ? kind.isSample() : !kind.mayBeMeasured())) {
          throw invalid("an outcome that is none");
        }
      }
      return outcomes;
    }

    private String named() {
      return names[(int) number(names.length - 1)];
    }

    private long next(long max) {
      expect(" ");
      return number(max);
    }

    private long number(long max) {
      int begin = at;
      long number = 0;
      while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
        number = 10 * number + text.charAt(at) - '0';
        at++;
        if (at - begin > MAX_DIGITS) {
          throw invalid("a number with too many digits");
        }
      }
      if (at == begin || number > max) {
        throw invalid("a number is missing or above " + max);
      }
      return number;
    }

    private long incarnation() {
      int end = text.indexOf(' ', at);
      if (end < 0 || end - at > 2 * Long.BYTES) {
        throw invalid("no incarnation");
      }
      long incarnation = Long.parseUnsignedLong(text, at, end, 16);
      at = end;
      return incarnation;
    }

    private int streamCount() {
      if (text.startsWith(" -", at)) {
        at += 2;
        return -1;
      }
      return (int) next(MAX_STREAMS);
    }

    private String line() {
      int end = text.indexOf('\n', at);
      if (end < 0 || end - at > MAX_NAME) {
        throw invalid("a name is missing or too long");
      }
      String line = text.substring(at, end);
      at = end + 1;
      return line;
    }

    private int peek() {
      return at < text.length() ? text.charAt(at) : -1;
    }

    private void expect(String wanted) {
      if (!text.startsWith(wanted, at)) {
        throw invalid("no \"" + wanted.strip() + "\" where one is due");
      }
      at += wanted.length();
    }
  }
}

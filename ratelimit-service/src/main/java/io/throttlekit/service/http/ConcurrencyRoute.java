package io.throttlekit.service.http;

import io.throttlekit.TimeSource;
import io.throttlekit.service.concurrency.ConcurrencyLimits;
import io.throttlekit.service.concurrency.FleetLimit;
import io.throttlekit.share.FleetFigures;
import java.util.ArrayList;
import java.util.List;

/**
 * Serves the concurrency limits that replicas share, one line for each, as this process sees them.
 */
final class ConcurrencyRoute implements Route {
  private final ConcurrencyLimits limits;
  private final SharedPage page;

  ConcurrencyRoute(ConcurrencyLimits limits, TimeSource time) {
    this.limits = limits;
    this.page = new SharedPage(() -> Reply.text(200, text()), time);
  }

  @Override
  public Reply answer(HttpQuery query) throws InterruptedException {
    return page.get();
  }

  private String text() {
    List<String> lines = new ArrayList<>();
    limits.forEachShared(limit -> lines.add(line(limit)));
    lines.sort(null);
    String node = limits.node();
    return "# node: "
        + (node == null ? "none, as the limits are of this process alone" : printable(node))
        + "\n"
        + String.join("", lines);
  }

  private static String line(FleetLimit limit) {
    FleetFigures figures = limit.figures();
    String state = figures.nodes() == 0 ? "idle" : "member";
    return "%s: share=%d limit=%d in_flight=%d nodes=%d steering=%s%s%s %s%n"
        .formatted(
            printable(limit.key()),
            figures.share(),
            figures.limit(),
            limit.inFlight(),
            figures.nodes(),
            figures.steering().isEmpty() ? "-" : printable(figures.steering()),
            figures.epoch() > 0 ? " (this node)" : "",
            figures.sameId() ? " same_node_id" : "",
            figures.fenced() ? "fenced" : state);
  }

  /** Replaces control characters: keys contain values of requests. */
  private static String printable(String text) {
    StringBuilder shown = new StringBuilder(text.length());
    text.codePoints().forEach(c -> shown.appendCodePoint(Character.isISOControl(c) ? '\uFFFD' : c));
    return shown.toString();
  }
}

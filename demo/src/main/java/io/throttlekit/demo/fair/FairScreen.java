package io.throttlekit.demo.fair;

import io.throttlekit.demo.fair.FairPlan.Tenant;
import io.throttlekit.demo.fair.FairTally.Figures;
import java.io.PrintStream;
import java.util.List;

/**
 * Shows each second: a table that is redrawn on a terminal; elsewhere a line, and another one where
 * what the tenants do changes.
 */
final class FairScreen {
  private static final String CLEAR_LINE = "\033[K";
  private static final int PER_MARK = 4; // requests, so that a row fits into 80 columns

  private final PrintStream out;
  private final boolean terminal;
  private final FairPolicy policy;
  private boolean drawn;
  private String story = "";

  FairScreen(PrintStream out, boolean terminal, FairPolicy policy) {
    this.out = out;
    this.terminal = terminal;
    this.policy = policy;
  }

  /**
   * Shows a second.
   *
   * @param second since the start, from 0
   * @param tenants in the order of the plan
   */
  void show(int second, List<Figures> tenants) {
    if (terminal) {
      table(second, tenants);
    } else {
      line(second, tenants);
    }
    out.flush();
  }

  private void table(int second, List<Figures> tenants) {
    if (drawn) {
      out.printf("\033[%dA", tenants.size() + 2);
    }
    drawn = true;
    out.printf("  after %d s: %s%s%n", second + 1, FairPlan.words(second), CLEAR_LINE);
    row("per second", "sent", "admitted", "guarantee", "extra", "refused", "");
    for (int i = 0; i < tenants.size(); i++) {
      Figures now = tenants.get(i);
      Tenant tenant = FairPlan.TENANTS.get(i);
      row(
          tenant.org() + ", " + tenant.plan(),
          Long.toString(now.sent()),
          Long.toString(now.admitted()),
          guarantee(now),
          Long.toString(now.beyond(policy.part(i))),
          Long.toString(now.refused()),
          "#".repeat((int) now.admitted() / PER_MARK));
    }
  }

  private void row(
      String tenant,
      String sent,
      String admitted,
      String guarantee,
      String extra,
      String refused,
      String note) {
    out.printf(
        "  %-16s %6s %9s %10s %9s %8s  %s%s%n",
        tenant, sent, admitted, guarantee, extra, refused, note, CLEAR_LINE);
  }

  private void line(int second, List<Figures> tenants) {
    String words = FairPlan.words(second);
    if (story.isEmpty()) {
      out.println("  admitted/sent (guarantee) of each tenant in each second");
    }
    if (!story.equals(words)) {
      out.printf("  after %d s: %s%n", second + 1, words);
      story = words;
    }
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < tenants.size(); i++) {
      Figures now = tenants.get(i);
      String figures = "%d/%d (%s)".formatted(now.admitted(), now.sent(), guarantee(now));
      line.append("  %-8s %-13s".formatted(FairPlan.TENANTS.get(i).org(), figures));
    }
    out.printf("%4d s%s%n", second + 1, line.toString().stripTrailing());
  }

  private static String guarantee(Figures now) {
    return now.guarantee() == FairTally.UNKNOWN ? "-" : Long.toString(now.guarantee());
  }
}

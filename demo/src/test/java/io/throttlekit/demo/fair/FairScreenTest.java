package io.throttlekit.demo.fair;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.demo.fair.FairTally.Figures;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class FairScreenTest {
  private static final FairPolicy POLICY = new FairPolicy(70, List.of(4_000L, 2_000L, 1_000L));
  private static final int LENT = 7; // a second in which acme is absent

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
  private final FairTally tally = new FairTally();

  @Test
  void drawsATableOfEachTenantOverTheOneBefore() {
    FairScreen screen = new FairScreen(out, true, POLICY);
    count();
    screen.show(LENT - 1, tally.figures(LENT - 1));
    assertThat(text()).doesNotContain("\033[5A");
    screen.show(LENT, tally.figures(LENT));
    String drawn = text().substring(text().lastIndexOf("\033[5A"));
    assertThat(drawn.lines())
        .hasSize(5)
        .allMatch(line -> line.replaceAll("\033\\[\\w+", "").length() <= 80);
    assertThat(drawn)
        .contains("after 8 s: initech floods, acme is absent: its part is lent")
        .containsPattern("acme, gold +0 +0 +- +0 +0 ")
        .containsPattern("globex, silver +60 +46 +46 +26 +14  #{11}\033")
        .containsPattern("initech, bronze +150 +24 +23 +14 +126  #{6}\033");
  }

  @Test
  void printsShortLinesWithoutEscapeSequencesElsewhere() {
    FairScreen screen = new FairScreen(out, false, POLICY);
    count();
    screen.show(LENT, tally.figures(LENT));
    screen.show(LENT + 1, tally.figures(LENT + 1));
    assertThat(text())
        .isEqualTo(
            """
              admitted/sent (guarantee) of each tenant in each second
              after 8 s: initech floods, acme is absent: its part is lent
               8 s  acme     0/0 (-)        globex   46/60 (46)     initech  24/150 (23)
               9 s  acme     0/0 (-)        globex   0/0 (-)        initech  0/0 (-)
            """);
    assertThat(text().lines()).allMatch(line -> line.length() <= 80);
  }

  @Test
  void summarizesWhatEachTenantHadAndLackedInASecond() {
    count();
    FairSummary summary = FairSummary.of(POLICY).plus(tally.figures(LENT));
    List<Figures> starved =
        List.of(
            new Figures(45, 31, 14, 0, 40, 45, 31), // 9 below its guarantee
            new Figures(60, 20, 40, 0, 20, 60, 20),
            new Figures(5, 4, 0, 1, 10, 4, 4));
    summary = summary.plus(starved);
    assertThat(summary.json())
        .isEqualTo(
            "{\"through\":\"envoy\",\"seconds\":2,\"limit\":70,\"most\":70,\"tenants\":["
                + "{\"tenant\":\"acme\",\"plan\":\"gold\",\"part\":40,\"sent\":45,\"admitted\":31,"
                + "\"extra\":0,\"refused\":14,\"failed\":0,\"missing\":9},"
                + "{\"tenant\":\"globex\",\"plan\":\"silver\",\"part\":20,\"sent\":120,\"admitted\":66,"
                + "\"extra\":26,\"refused\":54,\"failed\":0,\"missing\":0},"
                + "{\"tenant\":\"initech\",\"plan\":\"bronze\",\"part\":10,\"sent\":155,\"admitted\":28,"
                + "\"extra\":14,\"refused\":126,\"failed\":1,\"missing\":0}]}");
    assertThat(summary.words())
        .contains(
            "acme was admitted 31 of 45, 0 of them extra, and lacked at most 9 of its"
                + " guarantee");
  }

  /** Counts a second in which silver and bronze have gold's part, too. */
  private void count() {
    count(1, 60, 46, 46);
    count(2, 150, 24, 23);
  }

  private void count(int tenant, int sent, int admitted, long guarantee) {
    for (int i = 0; i < sent; i++) {
      tally.sent(LENT, tenant);
      tally.answered(LENT, LENT, tenant, i < admitted ? 200 : 429);
    }
    tally.limit(LENT, tenant, guarantee + 1); // with a unit beyond it
    tally.limit(LENT, tenant, guarantee);
  }

  private String text() {
    return bytes.toString(StandardCharsets.UTF_8);
  }
}

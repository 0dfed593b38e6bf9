package io.throttlekit.bench.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.bench.chaos.fault.Fault;
import io.throttlekit.bench.chaos.fault.ServerKilled;
import io.throttlekit.bench.chaos.fault.SlowReaders;
import io.throttlekit.bench.chaos.fleet.CoordinatorKind;
import io.throttlekit.bench.chaos.traffic.Load;
import io.throttlekit.bench.chaos.traffic.RequestFigures;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RoundResultTest {

  @Test
  void emptyHealthyWindowsAndUnansweredRequestsAreProblems() {
    assertThat(result(List.of(150L, 1L), 0).problems()).isEmpty();
    assertThat(result(List.of(150L, 0L), 0).problems())
        .containsExactly("nothing was admitted in 1 windows without faults");
    assertThat(result(List.of(150L), 3).problems())
        .containsExactly("3 requests to running processes were not answered in 5 s");
  }

  @Test
  void neitherIsAProblemOnABusyMachine() {
    assertThat(result(List.of(150L, 0L), 3, .5).problems()).isEmpty();
  }

  @Test
  void aRoundInWhichNoWindowWasJudgedReportsWhy() {
    assertThat(result(List.of(150L), 0).unjudged()).isEmpty();
    assertThat(result(List.of(), 0).unjudged())
        .containsExactly(
            "no window without faults could be judged: the load generator did not run in time");
    assertThat(result(List.of(150L), 0, .5).unjudged())
        .containsExactly(
            "no window without faults could be judged: others used 50 % of the processors");
    assertThat(result(List.of(150L), 0, Double.NaN).unjudged()).hasSize(1);
    assertThat(result(List.of(0L), 3, Double.NaN).problems()).isEmpty();
  }

  @Test
  void aReportListsUnjudgedRounds() {
    CampaignReport report =
        new CampaignReport(42, Duration.ofMinutes(3), List.of(result(List.of(), 0)));
    assertThat(report.unjudged()).hasSize(1);
    assertThat(report.markdown()).contains("problem: no window without faults could be judged");
  }

  @Test
  void anExceptionThatEndsTheLoadIsAProblem() {
    List<String> problems = new ArrayList<>();
    Load.Recorded fine = new Load.Recorded(() -> {});
    fine.run();
    fine.report(problems);
    assertThat(problems).isEmpty();
    Load.Recorded failing =
        new Load.Recorded(() -> {
          throw new IllegalStateException("no channel");
        });
    assertThatThrownBy(failing::run).hasMessage("no channel");
    failing.report(problems);
    assertThat(problems)
        .containsExactly(
            "the load ended by an exception: java.lang.IllegalStateException: no channel");
  }

  @Test
  void slowReadersThatNeverConnectAreAProblem() throws Exception {
    int closed;
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      closed = server.getLocalPort();
    }
    List<String> problems = new ArrayList<>();
    Fault.Running running = new SlowReaders(3, 2).begin(() -> closed, problems, Duration.ZERO);
    running.end();
    assertThat(running.extent()).isEqualTo("0 connected");
    assertThat(problems).containsExactly("no slow reader could connect to process 3");
  }

  @Test
  void unitsLostInAFaultAreCountedApartFromOthers() {
    RoundResult result = result(List.of(), 0);
    assertThat(result.lostByFault()).isEqualTo(Map.of("store killed", 7L));
    assertThat(result.lostWithoutFault()).isEqualTo(2);
  }

  @Test
  void aReportEndsWithTheCommandThatRepeatsIt() {
    CampaignReport report =
        new CampaignReport(42, Duration.ofMinutes(3), List.of(result(List.of(), 0)));
    assertThat(report.markdown()).endsWith("repeat: bin/bench chaos --minutes 3 --seed 42");
  }

  private static RoundResult result(List<Long> quietWindows, long unanswered) {
    return result(quietWindows, unanswered, .1);
  }

  private static RoundResult result(List<Long> quietWindows, long unanswered, double others) {
    FaultResult killed = new FaultResult(new ServerKilled(0), 0, 500, 1, 20, 7, "");
    return new RoundResult(
        CoordinatorKind.REDIS,
        List.of(killed),
        Map.of(),
        List.of(),
        1,
        quietWindows,
        new RequestFigures(10, Map.of("UNAVAILABLE", 1L), 0, 0, 0, unanswered),
        9,
        0,
        others);
  }
}

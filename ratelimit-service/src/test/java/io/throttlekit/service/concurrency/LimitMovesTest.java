package io.throttlekit.service.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.server.Book;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LimitMovesTest {
  private final Rule rule =
      Book.of("domain: d\ndescriptors: [{key: k, concurrency: {}}]\n").rules().getFirst();
  private final List<String> events = new ArrayList<>();
  private boolean reports = true;

  private final LimitMoves moves =
      new LimitMoves(
          new ConcurrencyListener() {
            @Override
            public void limitChanged(Rule of, int before, int now) {
              events.add(before + ">" + now);
            }

            @Override
            public boolean limitMoved(Rule of, int from, int now) {
              assertThat(Thread.holdsLock(LimitMovesTest.this.moves)).isFalse();
              events.add("moved " + from + ">" + now);
              return reports;
            }
          },
          100);

  @Test
  void reportsEachChangeAndThoseThatAddUpToMoreThanAFifth() {
    moves.update(rule, 100, 110);
    moves.update(rule, 110, 120);
    moves.update(rule, 120, 121);
    moves.update(rule, 121, 110);
    moves.update(rule, 110, 96);
    assertThat(events)
        .containsExactly(
            "100>110", "110>120", "120>121", "moved 100>121", "121>110", "110>96", "moved 121>96");
  }

  @Test
  void aMoveThatWasNotReportedIsComparedAgain() {
    reports = false;
    moves.update(rule, 100, 50);
    reports = true;
    moves.update(rule, 50, 51);
    moves.update(rule, 51, 52);
    assertThat(events).containsExactly("100>50", "moved 100>50", "50>51", "moved 100>51", "51>52");
  }
}

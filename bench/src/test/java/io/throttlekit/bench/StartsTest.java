package io.throttlekit.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.bench.command.Target;
import java.util.List;
import org.junit.jupiter.api.Test;

class StartsTest {

  @Test
  void onlyTheMedianIsComparedToTheBound() {
    Starts ready = Starts.atMost("s to ready", 10);
    List.of(4.5, 12.0, 5.0).forEach(ready::add);
    Starts first = Starts.atLeast("first second", 0.5);
    List.of(0.25, 0.5).forEach(first::add);

    assertThat(ready.target()).isEqualTo(Target.atMost("s to ready", 10, 5.0));
    assertThat(first.target()).isEqualTo(Target.atLeast("first second", 0.5, 0.375));
    assertThat(Starts.table(List.of(ready, first)))
        .endsWith(
            "| s to ready | 4.500 | 5.000 | 12.000 |\n| first second | 0.250 | 0.375 | 0.500 |\n");
    assertThat(Starts.json(List.of(first)))
        .isEqualTo(
            "[{\"what\":\"first second\",\"lowest\":0.2500,\"median\":0.3750,\"highest\":0.5000}]");
  }
}

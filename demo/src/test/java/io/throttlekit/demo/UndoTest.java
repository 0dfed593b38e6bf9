package io.throttlekit.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UndoTest {
  private final List<String> undone = new ArrayList<>();
  private final Undo undo = new Undo();

  @Test
  void undoesTheLastStepFirstAndEachOnce() throws IOException {
    undo.push(() -> undone.add("first"));
    undo.push(() -> undone.add("second"));
    undo.close();
    undo.close();
    assertThat(undone).containsExactly("second", "first");
  }

  @Test
  void undoesEveryStepDespiteFailuresAndThrowsTheFirstOne() {
    undo.push(() -> undone.add("first"));
    undo.push(() -> fail("second"));
    undo.push(() -> undone.add("third"));
    undo.push(() -> {
      throw new IllegalStateException("fourth");
    });
    assertThatThrownBy(undo::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("fourth")
        .satisfies(e ->
            assertThat(e.getSuppressed())
                .singleElement()
                .hasToString("java.io.IOException: second"));
    assertThat(undone).containsExactly("third", "first");
  }

  private static void fail(String step) throws IOException {
    throw new IOException(step);
  }
}

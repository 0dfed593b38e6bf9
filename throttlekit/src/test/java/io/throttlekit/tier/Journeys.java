package io.throttlekit.tier;

import io.throttlekit.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Calls that travel far, and answers that travel back, when the test says so. */
final class Journeys {
  private final List<Journey<?>> calls = new ArrayList<>();

  /** A call under way: there, or with what was answered on the way back. */
  static final class Journey<T> {
    private final String what;
    private final Supplier<T> decide;
    private final CompletableFuture<T> stage = new CompletableFuture<>();
    private @Nullable T answer;
    private boolean twice;

    private Journey(String what, Supplier<T> decide) {
      this.what = what;
      this.decide = decide;
    }

    String what() {
      return what;
    }

    boolean hasArrived() {
      return answer != null;
    }

    boolean isTwice() {
      return twice;
    }

    @Override
    public String toString() {
      return what + (answer == null ? "" : " -> " + answer) + (twice ? " twice" : "");
    }
  }

  List<Journey<?>> calls() {
    return calls;
  }

  <T> CompletionStage<T> travel(String what, Supplier<T> decide) {
    Journey<T> call = new Journey<>(what, decide);
    calls.add(call);
    return call.stage;
  }

  /** Lets a call arrive, or its answer. */
  void move(int index) {
    move(calls.get(index), index);
  }

  private <T> void move(Journey<T> call, int index) {
    if (call.hasArrived()) {
      calls.remove(index);
      call.stage.complete(call.answer);
    } else {
      call.answer = call.decide.get();
    }
  }

  /** Lets a call that has arrived arrive again, and nobody hears the second answer. */
  void arriveTwice(int index) {
    Journey<?> call = calls.get(index);
    var _ = call.decide.get();
    call.twice = true;
  }

  /** Loses a call, or its answer. */
  void lose(int index) {
    calls.remove(index).stage.completeExceptionally(new StoreException("lost", null));
  }
}

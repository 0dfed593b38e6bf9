package io.throttlekit.tier;

import io.throttlekit.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Calls and answers that arrive when the test decides. */
final class InFlightCalls {
  private final List<InFlightCall<?>> calls = new ArrayList<>();

  /** A call in flight, or its answer on the way back. */
  static final class InFlightCall<T> {
    private final String what;
    private final Supplier<T> decide;
    private final boolean oneWay;
    private final CompletableFuture<T> stage = new CompletableFuture<>();
    private @Nullable T answer;
    private @Nullable Throwable failure;
    private boolean twice;

    private InFlightCall(String what, Supplier<T> decide, boolean oneWay) {
      this.what = what;
      this.decide = decide;
      this.oneWay = oneWay;
    }

    String what() {
      return what;
    }

    /** Returns the first word of its description. */
    String kind() {
      int end = what.indexOf(' ');
      return end < 0 ? what : what.substring(0, end);
    }

    boolean hasArrived() {
      return answer != null || failure != null;
    }

    /** Has the store act, or fail, and keeps the answer. */
    private void arrive() {
      try {
        answer = decide.get();
      } catch (CompletionException failed) {
        failure = failed.getCause();
      }
    }

    private void comeBack() {
      if (failure != null) {
        stage.completeExceptionally(failure);
      } else {
        stage.complete(answer);
      }
    }

    boolean isTwice() {
      return twice;
    }

    /** Returns whether it can arrive once more than it moves. */
    boolean canArriveTwice() {
      return !twice && oneWay != hasArrived();
    }

    @Override
    public String toString() {
      Object back = answer != null ? answer : failure;
      return what + (back == null ? "" : " -> " + back) + (twice ? " twice" : "");
    }
  }

  List<InFlightCall<?>> calls() {
    return calls;
  }

  <T> CompletionStage<T> travel(String what, Supplier<T> decide) {
    return begin(new InFlightCall<>(what, decide, false));
  }

  /**
   * Makes a call whose answer changes nothing and is delivered at once, so that fewer orders are
   * explored.
   */
  <T> CompletionStage<T> tell(String what, Supplier<T> decide) {
    return begin(new InFlightCall<>(what, decide, true));
  }

  private <T> CompletionStage<T> begin(InFlightCall<T> call) {
    calls.add(call);
    return call.stage;
  }

  /** Delivers a call or its answer. */
  void move(int index) {
    move(calls.get(index), index);
  }

  private <T> void move(InFlightCall<T> call, int index) {
    if (!call.hasArrived()) {
      call.arrive();
      if (!call.oneWay) {
        return;
      }
    }
    calls.remove(index);
    call.comeBack();
  }

  /**
   * Delivers a call a second time and drops that answer; or delivers a call whose answer changes
   * nothing, which will arrive again.
   */
  void arriveTwice(int index) {
    InFlightCall<?> call = calls.get(index);
    var _ = call.decide.get();
    call.twice = true;
  }

  /** Loses a call or its answer. */
  void lose(int index) {
    calls.remove(index).stage.completeExceptionally(new StoreException("lost", null));
  }
}

package io.throttlekit.explore;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A model whose steps are those of a real object. Objects cannot be copied, so every state is
 * reached by a new subject that lives through the same events again: exact, and dear in long
 * histories.
 *
 * @param <E> an event of the subject
 */
public final class Replay<E> implements Model<Replay.Moment<E>> {

  /**
   * Result of a history.
   *
   * @param history all events so far
   * @param snapshot of the subject after them
   * @param enabled the events that are possible after them
   * @param broken the name of an invariant that is broken after them
   */
  public record Moment<E>(
      List<E> history, Object snapshot, List<E> enabled, @Nullable String broken) {

    /** Copies the lists. */
    public Moment {
      history = List.copyOf(history);
      enabled = List.copyOf(enabled);
    }

    @Override
    public String toString() {
      return snapshot.toString();
    }
  }

  private final Supplier<? extends Subject<E>> subjects;

  /** A model of what the subjects do, all of them new and alike. */
  public Replay(Supplier<? extends Subject<E>> subjects) {
    this.subjects = subjects;
  }

  @Override
  public List<Moment<E>> initial() {
    return List.of(after(List.of()));
  }

  @Override
  public List<Step<Moment<E>>> steps(Moment<E> moment) {
    List<Step<Moment<E>>> steps = new ArrayList<>(moment.enabled().size());
    for (E event : moment.enabled()) {
      List<E> history = new ArrayList<>(moment.history());
      history.add(event);
      steps.add(new Step<>(event.toString(), after(history)));
    }
    return steps;
  }

  @Override
  public @Nullable String broken(Moment<E> moment) {
    return moment.broken();
  }

  /** A broken moment is new even if its subject looks as it did in a moment that was not broken. */
  @Override
  public Object identity(Moment<E> moment) {
    String broken = moment.broken();
    return broken == null ? moment.snapshot() : List.of(moment.snapshot(), broken);
  }

  private Moment<E> after(List<E> history) {
    Subject<E> subject = subjects.get();
    for (E event : history) {
      subject.apply(event);
    }
    return new Moment<>(history, subject.snapshot(), subject.enabled(), subject.broken());
  }
}

package io.throttlekit.postgres;

import io.throttlekit.store.StoreListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Remembers what it hears. */
final class Heard implements StoreListener {
  final AtomicInteger answers = new AtomicInteger();
  final AtomicInteger triedAgain = new AtomicInteger();
  final AtomicInteger collected = new AtomicInteger();
  final List<Failure> failures = new CopyOnWriteArrayList<>();
  final List<String> words = new CopyOnWriteArrayList<>();
  final List<String> states = new CopyOnWriteArrayList<>();
  final List<Long> losses = new CopyOnWriteArrayList<>();

  @Override
  public void roundTrip(int requests, long nanos) {
    answers.incrementAndGet();
  }

  @Override
  public void failed(int requests, Failure why, String inWords) {
    failures.add(why);
    words.add(inWords);
  }

  @Override
  public void triedAgain() {
    triedAgain.incrementAndGet();
  }

  @Override
  public void up() {
    states.add("up");
  }

  @Override
  public void down() {
    states.add("down");
  }

  @Override
  public void dataLost(long lossMillis) {
    losses.add(lossMillis);
  }

  @Override
  public void collected(int rows) {
    collected.addAndGet(rows);
  }
}

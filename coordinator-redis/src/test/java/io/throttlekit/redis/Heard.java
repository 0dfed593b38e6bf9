package io.throttlekit.redis;

import io.throttlekit.store.Persistence;
import io.throttlekit.store.StoreListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Remembers what a listener was told. */
final class Heard implements StoreListener {
  final AtomicInteger roundTrips = new AtomicInteger();
  final AtomicInteger requests = new AtomicInteger();
  final List<Failure> failures = new CopyOnWriteArrayList<>();
  final List<String> states = new CopyOnWriteArrayList<>();
  final List<String> reasons = new CopyOnWriteArrayList<>();
  final List<Long> losses = new CopyOnWriteArrayList<>();
  final List<Persistence> persistence = new CopyOnWriteArrayList<>();

  @Override
  public void roundTrip(int requests, long nanos) {
    roundTrips.incrementAndGet();
    this.requests.addAndGet(requests);
  }

  @Override
  public void failed(int requests, Failure why, String inWords) {
    failures.add(why);
    reasons.add(inWords);
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
  public void persistence(Persistence found) {
    persistence.add(found);
  }

  @Override
  public void dataLost(long lossMillis) {
    losses.add(lossMillis);
  }
}

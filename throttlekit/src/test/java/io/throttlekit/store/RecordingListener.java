package io.throttlekit.store;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Records what a store notifies its listener of. Thread-safe. */
public final class RecordingListener implements StoreListener {
  public final AtomicInteger roundTrips = new AtomicInteger();
  public final AtomicInteger requests = new AtomicInteger();
  public final AtomicInteger triedAgain = new AtomicInteger();
  public final AtomicInteger collected = new AtomicInteger();
  public final List<Failure> failures = new CopyOnWriteArrayList<>();
  public final List<String> reasons = new CopyOnWriteArrayList<>();
  public final List<String> reasonsNotToConnect = new CopyOnWriteArrayList<>();
  public final List<String> states = new CopyOnWriteArrayList<>();
  public final List<Long> losses = new CopyOnWriteArrayList<>();
  public final List<Persistence> persistence = new CopyOnWriteArrayList<>();

  /** Returns whether the store answers, as it has reported; true before any report. */
  public boolean isUp() {
    return states.isEmpty() || states.getLast().equals("up");
  }

  @Override
  public void roundTrip(int requests, long nanos) {
    roundTrips.incrementAndGet();
    this.requests.addAndGet(requests);
  }

  @Override
  public void triedAgain() {
    triedAgain.incrementAndGet();
  }

  @Override
  public void failed(int requests, Failure why, String inWords) {
    failures.add(why);
    reasons.add(inWords);
  }

  @Override
  public void notConnected(String failureReason) {
    reasonsNotToConnect.add(failureReason);
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

  @Override
  public void collected(int rows) {
    collected.addAndGet(rows);
  }
}

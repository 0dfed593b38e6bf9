package io.throttlekit.service.concurrency.release;

import io.throttlekit.share.ReleaseExchange.Release;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Releases that wait to be forwarded, in a queue for each connection that sent them. The queues
 * take turns. If too many releases wait, the newest of the longest queue is dropped: so one
 * connection cannot keep out the others. Not thread-safe.
 */
public final class ReleaseQueue {
  /** The most releases of a batch whose ids may be invented. */
  private static final int MAX_UNVERIFIED = 100;

  /** The most of these releases that are verified for a batch, under the lock of the queue. */
  private static final int MAX_VERIFICATIONS = 4 * MAX_UNVERIFIED;

  private final int capacity;
  private final Map<Object, ConnectionReleases> senders = new HashMap<>();

  /** Senders with releases; the first one has its turn. */
  private final Deque<ConnectionReleases> turns = new ArrayDeque<>();

  /** Releases of all connections whose ids may be invented. */
  private final ConnectionReleases unverified = new ConnectionReleases("unverified");

  /** Releases of a batch that failed; they go first. */
  private final Deque<Release> returned = new ArrayDeque<>();

  private int size;

  private static final class ConnectionReleases {
    final Object connection;
    final Deque<Release> releases = new ArrayDeque<>();

    ConnectionReleases(Object connection) {
      this.connection = connection;
    }

    int size() {
      return releases.size();
    }
  }

  /** Creates a queue of at most {@code capacity} releases, from 1. */
  public ReleaseQueue(int capacity) {
    this.capacity = capacity;
  }

  /** Returns the number of releases. */
  public int size() {
    return size;
  }

  /** Returns the number of releases without those that the next batch cannot contain. */
  public int due() {
    return size - Math.max(0, unverified.size() - MAX_UNVERIFIED);
  }

  /**
   * Adds a release whose id was given.
   *
   * @param connection from which it came
   * @return the release that was dropped, this one or another; null if there was room
   */
  public @Nullable Release add(Object connection, Release release) {
    ConnectionReleases known = senders.get(connection);
    return add(known == null ? new ConnectionReleases(connection) : known, release);
  }

  /**
   * Adds a release whose id may be invented; all of these together count as one connection.
   *
   * @return the release that was dropped, this one or another; null if there was room
   */
  public @Nullable Release addUnverified(Release release) {
    return add(unverified, release);
  }

  private @Nullable Release add(ConnectionReleases sender, Release release) {
    Release dropped = null;
    if (size >= capacity) {
      dropped = makeRoomFor(sender);
      if (dropped == null) {
        return release;
      }
    }
    if (sender.size() == 0) {
      senders.put(sender.connection, sender);
      turns.addLast(sender);
    }
    sender.releases.addLast(release);
    size++;
    return dropped;
  }

  /** Removes the newest release of a longer queue; returns null if there is none. */
  private @Nullable Release makeRoomFor(ConnectionReleases sender) {
    if (sender.size() * turns.size() > capacity) { // more than the average: the usual case
      return null;
    }
    ConnectionReleases longest =
        turns.stream().max(Comparator.comparingInt(ConnectionReleases::size)).orElse(null);
    if (longest == null || longest.size() <= sender.size()) {
      return null;
    }
    Release dropped = longest.releases.removeLast();
    size--;
    if (longest.size() == 0) {
      turns.remove(longest);
      senders.remove(longest.connection);
    }
    return dropped;
  }

  /**
   * Removes the next releases.
   *
   * @param most of them
   * @param possible returns whether the id of a release may have been given that was not verified;
   *     others are dropped
   */
  public List<Release> take(int most, Predicate<Release> possible) {
    List<Release> batch = new ArrayList<>();
    while (batch.size() < most && !returned.isEmpty()) {
      batch.add(returned.removeFirst());
      size--;
    }
    int mayBeInvented = 0;
    int verifications = 0;
    boolean isSkipped = false;
    while (batch.size() < most && !turns.isEmpty()) {
      ConnectionReleases sender = turns.removeFirst();
      if (sender == unverified
          && (mayBeInvented == MAX_UNVERIFIED || verifications == MAX_VERIFICATIONS)) {
        isSkipped = true;
        continue;
      }
      Release release = sender.releases.removeFirst();
      size--;
      if (sender != unverified) {
        batch.add(release);
      } else {
        verifications++;
        if (possible.test(release)) {
          batch.add(release);
          mayBeInvented++;
        }
      }
      if (sender.size() == 0) {
        senders.remove(sender.connection);
      } else {
        turns.addLast(sender);
      }
    }
    if (isSkipped) {
      turns.addLast(unverified);
    }
    return batch;
  }

  /**
   * Puts back a batch whose call failed, ahead of the others, as far as there is room; without its
   * oldest releases, which may have expired.
   *
   * @return those that were dropped
   */
  public List<Release> putBack(List<Release> batch) {
    int dropped = Math.max(0, batch.size() - (capacity - size));
    for (int i = batch.size() - 1; i >= dropped; i--) {
      returned.addFirst(batch.get(i));
    }
    size += batch.size() - dropped;
    return batch.subList(0, dropped);
  }

  /** Removes all, and returns how many there were. */
  public int clear() {
    int removed = size;
    turns.forEach(each -> each.releases.clear());
    turns.clear();
    senders.clear();
    returned.clear();
    size = 0;
    return removed;
  }
}

package io.throttlekit.share;

import java.util.ArrayList;
import java.util.List;

/**
 * A state of a {@link FleetModel}.
 *
 * @param fleet what the coordinator stores
 * @param beats heartbeats in transit
 * @param now time of all clocks, in ticks
 * @param left faults that may still happen
 */
record FleetMoment(
    FleetState fleet,
    List<NodeProcess> processes,
    List<Beat> beats,
    List<Answer> answers,
    List<Leaving> departures,
    List<Orphans> orphans,
    int now,
    Budget left) {

  FleetMoment with(int index, NodeProcess process) {
    List<NodeProcess> all = new ArrayList<>(processes);
    all.set(index, process);
    return new FleetMoment(fleet, List.copyOf(all), beats, answers, departures, orphans, now, left);
  }

  FleetMoment with(FleetState next) {
    return new FleetMoment(next, processes, beats, answers, departures, orphans, now, left);
  }

  FleetMoment withBeats(List<Beat> next) {
    return new FleetMoment(fleet, processes, next, answers, departures, orphans, now, left);
  }

  FleetMoment withAnswers(List<Answer> next) {
    return new FleetMoment(fleet, processes, beats, next, departures, orphans, now, left);
  }

  FleetMoment withDepartures(List<Leaving> next) {
    return new FleetMoment(fleet, processes, beats, answers, next, orphans, now, left);
  }

  FleetMoment withOrphans(List<Orphans> next) {
    return new FleetMoment(fleet, processes, beats, answers, departures, next, now, left);
  }

  FleetMoment at(int time) {
    return new FleetMoment(fleet, processes, beats, answers, departures, orphans, time, left);
  }

  FleetMoment with(Budget next) {
    return new FleetMoment(fleet, processes, beats, answers, departures, orphans, now, next);
  }

  /**
   * A process.
   *
   * @param sequence of its last heartbeat; 0 before the first one
   * @param generation of the share that it applies; 0 if none
   * @param sampled requests in flight at an earlier instant; only for a flaw
   * @param leaseUntil end of its lease by its own clock; 0 if it has none
   * @param left whether it has left and admits nothing more
   */
  record NodeProcess(
      long incarnation,
      long sequence,
      long generation,
      int share,
      int inFlight,
      int sampled,
      int leaseUntil,
      boolean left) {
    static NodeProcess fresh(long incarnation, int inFlight) {
      return new NodeProcess(incarnation, 0, 0, 0, inFlight, inFlight, 0, false);
    }

    NodeProcess with(int requests) {
      return new NodeProcess(
          incarnation, sequence, generation, share, requests, sampled, leaseUntil, left);
    }

    NodeProcess sampling() {
      return new NodeProcess(
          incarnation, sequence, generation, share, inFlight, inFlight, leaseUntil, left);
    }

    NodeProcess beating() {
      return new NodeProcess(
          incarnation, sequence + 1, generation, share, inFlight, sampled, leaseUntil, left);
    }

    NodeProcess leaving() {
      return new NodeProcess(
          incarnation, sequence, generation, 0, inFlight, sampled, leaseUntil, true);
    }
  }

  /** A heartbeat in transit; {@code repeated} if it has arrived before. */
  record Beat(int process, Heartbeat heartbeat, int sentAt, boolean repeated) {
    Beat again() {
      return new Beat(process, heartbeat, sentAt, true);
    }
  }

  /** An answer in transit; {@code sentAt} is when its heartbeat was sent. */
  record Answer(int process, long incarnation, ShareGrant grant, int sentAt) {}

  /** A departure in transit. */
  record Leaving(int process, Departure departure) {}

  /**
   * Requests of a process that has crashed.
   *
   * @param inFlight those that go on
   * @param released those that ended, and were not reported to the coordinator
   * @param until when the others end by their time to live
   */
  record Orphans(long incarnation, int process, int inFlight, int released, int until) {}

  /** Faults that may still happen. */
  record Budget(int duplicates, int restarts, int departures, int crashes) {
    Budget withoutDuplicate() {
      return new Budget(duplicates - 1, restarts, departures, crashes);
    }

    Budget withoutRestart() {
      return new Budget(duplicates, restarts - 1, departures, crashes);
    }

    Budget withoutDeparture() {
      return new Budget(duplicates, restarts, departures - 1, crashes);
    }

    Budget withoutCrash() {
      return new Budget(duplicates, restarts, departures, crashes - 1);
    }
  }
}

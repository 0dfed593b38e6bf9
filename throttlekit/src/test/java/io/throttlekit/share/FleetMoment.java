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
    List<Process> processes,
    List<Beat> beats,
    List<Answer> answers,
    List<Leaving> departures,
    int now,
    Budget left) {

  FleetMoment with(int index, Process process) {
    List<Process> all = new ArrayList<>(processes);
    all.set(index, process);
    return new FleetMoment(fleet, List.copyOf(all), beats, answers, departures, now, left);
  }

  FleetMoment with(FleetState next) {
    return new FleetMoment(next, processes, beats, answers, departures, now, left);
  }

  FleetMoment withBeats(List<Beat> next) {
    return new FleetMoment(fleet, processes, next, answers, departures, now, left);
  }

  FleetMoment withAnswers(List<Answer> next) {
    return new FleetMoment(fleet, processes, beats, next, departures, now, left);
  }

  FleetMoment withDepartures(List<Leaving> next) {
    return new FleetMoment(fleet, processes, beats, answers, next, now, left);
  }

  FleetMoment at(int time) {
    return new FleetMoment(fleet, processes, beats, answers, departures, time, left);
  }

  FleetMoment with(Budget next) {
    return new FleetMoment(fleet, processes, beats, answers, departures, now, next);
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
  record Process(
      long incarnation,
      long sequence,
      long generation,
      int share,
      int inFlight,
      int sampled,
      int leaseUntil,
      boolean left) {
    static Process fresh(long incarnation, int inFlight) {
      return new Process(incarnation, 0, 0, 0, inFlight, inFlight, 0, false);
    }

    Process with(int requests) {
      return new Process(
          incarnation, sequence, generation, share, requests, sampled, leaseUntil, left);
    }

    Process sampling() {
      return new Process(
          incarnation, sequence, generation, share, inFlight, inFlight, leaseUntil, left);
    }

    Process beating() {
      return new Process(
          incarnation, sequence + 1, generation, share, inFlight, sampled, leaseUntil, left);
    }

    Process leaving() {
      return new Process(incarnation, sequence, generation, 0, inFlight, sampled, leaseUntil, true);
    }
  }

  /** A heartbeat in transit. */
  record Beat(int process, Heartbeat heartbeat, int sentAt) {}

  /** An answer in transit; {@code sentAt} is when its heartbeat was sent. */
  record Answer(int process, long incarnation, ShareGrant grant, int sentAt) {}

  /** A departure in transit. */
  record Leaving(int process, Departure departure) {}

  /** Faults that may still happen. */
  record Budget(int duplicates, int restarts, int departures) {}
}

package io.throttlekit.demo.fleet;

import io.throttlekit.demo.load.Course;
import io.throttlekit.demo.load.Course.Figures;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The stages of a run: what happened, and how many requests were served meanwhile. */
final class FleetStory {
  private final FleetLoad load;
  private final Course course;
  private final PrintStream out;
  private final List<Stage> stages = new ArrayList<>();

  FleetStory(FleetLoad load, Course course, PrintStream out) {
    this.load = load;
    this.course = course;
    this.out = out;
  }

  /**
   * A stage.
   *
   * @param what happened in it
   * @param from first second of the course
   * @param to second after it
   * @param max highest number of requests at the upstream
   * @param figures outcomes of the requests that were scheduled in it and have ended
   */
  record Stage(String what, int from, int to, int max, Figures figures) {
    long good() {
      return figures.good();
    }

    @Override
    public String toString() {
      return "%3d to %3d s, %s: at most %d in flight; %d good, %d late, %d refused, %d failed"
          .formatted(
              from,
              to,
              what,
              max,
              figures.good(),
              figures.late(),
              figures.refused(),
              figures.failed());
    }
  }

  /**
   * Ends a stage, which began with the end of the last one: after a number of seconds, and once a
   * request that was scheduled in it was served.
   */
  void stage(String what, int seconds) throws InterruptedException {
    int from = stages.isEmpty() ? 0 : last().to();
    int to = load.second() + seconds;
    boolean running = load.await(to);
    while (running && course.figures(from, to).good() == 0) {
      running = load.await(++to);
    }
    Stage stage = new Stage(what, from, to, load.inFlight().takeMax(), course.figures(from, to));
    stages.add(stage);
    out.println(stage);
    out.flush();
  }

  /**
   * Runs through a fault: a stage of a number of seconds with it, and one of 3 s after it. Requests
   * are served in both, however long that takes.
   */
  void through(Fault fault, Replica replica, int seconds) throws IOException, InterruptedException {
    String name = "%s %s".formatted(fault.word(), replica.name());
    fault.begin(replica);
    stage(name, seconds);
    fault.end(replica);
    stage("after " + name, 3);
  }

  Stage last() {
    return stages.getLast();
  }

  List<Stage> stages() {
    return List.copyOf(stages);
  }

  @Override
  public String toString() {
    return stages.stream().map(Stage::toString).collect(Collectors.joining("\n", "\n", "\n"));
  }
}

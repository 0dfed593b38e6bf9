package io.throttlekit.demo.fleet;

import java.io.IOException;
import java.util.Locale;

/** A fault of a replica. */
public enum Fault {
  /** SIGKILL, and a start on the same ports at the end. */
  KILL("killed") {
    @Override
    void begin(Replica replica) throws IOException {
      replica.kill();
    }

    @Override
    void end(Replica replica) throws IOException {
      replica.startAgain();
      replica.awaitReady();
    }
  },

  /** SIGSTOP, and SIGCONT at the end. */
  SUSPEND("suspended") {
    @Override
    void begin(Replica replica) throws IOException {
      replica.suspend();
    }

    @Override
    void end(Replica replica) throws IOException {
      replica.resume();
    }
  },

  /** No connection to the store. */
  CUT("cut") {
    @Override
    void begin(Replica replica) {
      replica.cut();
    }

    @Override
    void end(Replica replica) {
      replica.connect();
    }
  };

  private final String past;

  /**
   * @param past its name for readers, once it has begun
   */
  Fault(String past) {
    this.past = past;
  }

  abstract void begin(Replica replica) throws IOException;

  /** Ends the fault; the replica serves again when this returns, or soon after. */
  abstract void end(Replica replica) throws IOException;

  /** Returns its name in {@code --fault}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns its name for readers, once it has begun. */
  String past() {
    return past;
  }
}

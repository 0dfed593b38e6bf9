package io.throttlekit.bench.failover;

import io.throttlekit.testkit.envoy.ChildProcess;
import java.io.IOException;

/** A fault of one replica. */
enum ReplicaFault {
  /** SIGKILL: its connections are reset, and new ones are refused. */
  KILLED("killed (SIGKILL)") {
    @Override
    void begin(ChildProcess replica) throws IOException {
      replica.kill();
    }
  },

  /** SIGSTOP: its connections stay open, and nothing is answered. */
  HUNG("hangs (SIGSTOP)") {
    @Override
    void begin(ChildProcess replica) throws IOException {
      replica.suspend();
    }
  },

  /** SIGTERM: it drains, and ends. */
  STOPPED("stopped (SIGTERM)") {
    @Override
    void begin(ChildProcess replica) {
      Thread.startVirtualThread(replica::close);
    }
  };

  private final String words;

  ReplicaFault(String words) {
    this.words = words;
  }

  abstract void begin(ChildProcess replica) throws IOException;

  /** Returns its name in the table. */
  String words() {
    return words;
  }
}

package io.throttlekit.service.fleet;

import io.throttlekit.testkit.net.TcpProxy;

/** A network fault of a region. */
enum Cut {
  REFUSED,
  SWALLOWED;

  /** Starts the fault, until {@link TcpProxy#goOn}. */
  void begin(TcpProxy way) {
    switch (this) {
      case REFUSED -> way.refuse();
      case SWALLOWED -> way.hang();
    }
  }
}

package io.throttlekit.service.fleet;

import io.throttlekit.testkit.net.TcpProxy;

/** What a network does to a region. */
enum Cut {
  REFUSED,
  SWALLOWED;

  /** Lets it happen, until {@link TcpProxy#goOn}. */
  void begin(TcpProxy way) {
    switch (this) {
      case REFUSED -> way.refuse();
      case SWALLOWED -> way.hang();
    }
  }
}

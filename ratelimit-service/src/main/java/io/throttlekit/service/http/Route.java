package io.throttlekit.service.http;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;

/** What answers the requests for one path. Thread-safe. */
@FunctionalInterface
interface Route {

  /** Reads the request as far as it must; the listener sends what is returned. */
  Reply answer(HttpExchange request) throws IOException;
}

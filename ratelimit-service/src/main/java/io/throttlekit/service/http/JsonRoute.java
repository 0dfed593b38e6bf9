package io.throttlekit.service.http;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import com.sun.net.httpserver.HttpExchange;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.throttlekit.service.admission.NoPoliciesException;
import io.throttlekit.service.rls.InvalidRequestException;
import java.io.IOException;
import java.util.function.Function;

/**
 * Decides requests that come as JSON: 200 when admitted, 429 when not, the answer in the body.
 *
 * <p>Any method will do. What cannot be a request is a 400, too much of it a 413; when it is we who
 * cannot decide, 503, or 400 where envoyproxy/ratelimit is to be matched.
 */
final class JsonRoute implements Route {
  private static final JsonFormat.Printer PRINTER =
      JsonFormat.printer().omittingInsignificantWhitespace();

  private final Function<RateLimitRequest, RateLimitResponse> decide;
  private final int maxBodyBytes;
  private final boolean outageIsBadRequest;

  JsonRoute(
      Function<RateLimitRequest, RateLimitResponse> decide,
      int maxBodyBytes,
      boolean outageIsBadRequest) {
    this.decide = decide;
    this.maxBodyBytes = maxBodyBytes;
    this.outageIsBadRequest = outageIsBadRequest;
  }

  @Override
  public Reply answer(HttpExchange request) throws IOException {
    byte[] body = request.getRequestBody().readNBytes(maxBodyBytes + 1);
    if (body.length > maxBodyBytes) {
      return Reply.text(413, "Request Entity Too Large\n");
    }
    try {
      return reply(decide.apply(RequestJson.parse(body)));
    } catch (MalformedBodyException | InvalidRequestException bad) {
      return Reply.text(400, "Bad Request\n");
    } catch (NoPoliciesException outage) {
      return outageIsBadRequest
          ? Reply.text(400, "Bad Request\n")
          : Reply.text(503, "Service Unavailable\n");
    }
  }

  private static Reply reply(RateLimitResponse response) throws InvalidProtocolBufferException {
    int status = response.getOverallCode() == Code.OK ? 200 : 429;
    return Reply.json(status, PRINTER.print(response));
  }
}

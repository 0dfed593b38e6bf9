package io.throttlekit.service.http;

import io.throttlekit.service.admission.NoPoliciesException;
import io.throttlekit.service.rls.InvalidRequestException;
import io.throttlekit.service.rls.JsonAnswer;
import io.throttlekit.store.StoreException;
import java.util.regex.Pattern;

/**
 * Decides requests in JSON: 200 when admitted, 429 when refused, with the response in the body.
 *
 * <p>Any method is accepted; a reply to HEAD has no body and so cannot name a permit, which is then
 * returned. A malformed request is answered 400 with the reason, one that is too long 413, and 503
 * is answered when the service cannot decide. In compatibility with envoyproxy/ratelimit, missing
 * policies are a 400, too, and a 400 has no reason.
 *
 * @param refunds whether requests may give units back
 * @param standsIn whether a 400 has no reason, as envoyproxy/ratelimit's
 */
record JsonRoute(JsonDecider decider, boolean refunds, boolean standsIn) implements Route {
  /** Control characters and what ends a line in Unicode. */
  private static final Pattern NOT_PRINTABLE =
      Pattern.compile("[\\p{Cntrl}\\u0085\\u2028\\u2029]+");

  @Override
  public Reply answer(HttpQuery query) {
    try {
      return reply(decider.answer(() -> RequestJson.parse(query.body(), refunds)));
    } catch (RefundException refund) {
      return Reply.text(400, oneLine(refund) + "\n");
    } catch (BodyTooLongException tooLong) {
      return Reply.text(413, tooLong.getMessage() + "\n");
    } catch (MalformedBodyException | InvalidRequestException bad) {
      return badRequest(bad);
    } catch (NoPoliciesException outage) {
      return standsIn ? badRequest(outage) : Reply.text(503, "Service Unavailable\n");
    } catch (StoreException outage) {
      return Reply.text(503, "Service Unavailable\n");
    } catch (RuntimeException unexpected) {
      throw unexpected;
    } catch (Exception unexpected) {
      throw new IllegalStateException(unexpected);
    }
  }

  private Reply badRequest(Exception cause) {
    return Reply.text(400, standsIn ? "Bad Request\n" : oneLine(cause) + "\n");
  }

  /** Returns the reason in one printable line, because it may quote the request. */
  private static String oneLine(Exception cause) {
    return NOT_PRINTABLE.matcher(String.valueOf(cause.getMessage())).replaceAll(" ");
  }

  private static Reply reply(JsonAnswer answer) {
    return Reply.json(answer.admitted() ? 200 : 429, answer.json()).orElse(answer::lost);
  }
}

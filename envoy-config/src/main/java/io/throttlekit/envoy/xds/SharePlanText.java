package io.throttlekit.envoy.xds;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.throttlekit.envoy.NodeIds;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.envoy.xds.SharePlan.Part;
import io.throttlekit.steering.LimiterState;
import io.throttlekit.steering.SteeringExchange;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A plan as text: lines of fields, which are separated by tabs. After the header there is a line
 * for each limit,
 *
 * <pre>limit priority requests cluster</pre>
 *
 * <p>and then one for each part, with a field for each limit, empty where the part has no share:
 *
 * <pre>part token node granted,age,reserved,acknowledged,demand,flags …</pre>
 *
 * <p>The age is the difference between the number of the plan and that of the grant. Of the flags,
 * 1 is an acknowledged grant, and 2 an id with recent demand. Node ids have no control characters;
 * clusters may, and are URL-encoded.
 */
final class SharePlanText {
  private static final String HEADER = "shares 1";
  private static final String LIMIT = "limit";
  private static final String PART = "part";
  private static final int ACKNOWLEDGED = 1;
  private static final int ACTIVE = 2;

  private SharePlanText() {}

  static String of(SharePlan plan) {
    StringBuilder text = new StringBuilder(64 + 128 * plan.parts().size());
    text.append(HEADER).append('\n');
    plan.limits()
        .forEach((limit, requests) ->
            text.append(LIMIT)
                .append('\t')
                .append(limit.priority())
                .append('\t')
                .append(requests)
                .append('\t')
                .append(URLEncoder.encode(limit.cluster(), UTF_8))
                .append('\n'));
    for (Part part : plan.parts()) {
      text.append(PART).append('\t').append(part.token()).append('\t').append(part.node());
      for (ClusterLimit limit : plan.limits().keySet()) {
        text.append('\t');
        append(text, part.shares().get(limit), plan.number());
      }
      text.append('\n');
    }
    return text.toString();
  }

  private static void append(StringBuilder text, @Nullable LimiterState share, long number) {
    if (share == null) {
      return;
    }
    text.append(share.granted())
        .append(',')
        .append(share.granted() < 0 ? 0 : number - share.number())
        .append(',')
        .append(share.reserved())
        .append(',')
        .append(share.acknowledgedShare())
        .append(',')
        .append(share.demand())
        .append(',')
        .append((share.acknowledged() ? ACKNOWLEDGED : 0) + (share.active() ? ACTIVE : 0));
  }

  static SharePlan parse(String text, long number) {
    require(number >= 0 && text.length() <= SteeringExchange.MAX_RECORD);
    String[] lines = text.split("\n", -1);
    require(lines.length >= 2 && lines[0].equals(HEADER) && lines[lines.length - 1].isEmpty());
    Map<ClusterLimit, Integer> limits = new LinkedHashMap<>();
    Map<String, Part> parts = new LinkedHashMap<>();
    for (int i = 1; i < lines.length - 1; i++) {
      String[] fields = lines[i].split("\t", -1);
      if (fields[0].equals(LIMIT)) {
        require(parts.isEmpty()); // their shares are in the order of the limits
        addLimit(limits, fields);
      } else {
        addPart(parts, List.copyOf(limits.keySet()), fields, number);
      }
    }
    return new SharePlan(number, limits, parts);
  }

  private static void addLimit(Map<ClusterLimit, Integer> limits, String[] fields) {
    require(fields.length == 4);
    String cluster = URLDecoder.decode(fields[3], UTF_8);
    require(URLEncoder.encode(cluster, UTF_8).equals(fields[3]));
    ClusterLimit limit = new ClusterLimit(cluster, Priority.valueOf(fields[1]));
    require(limits.put(limit, (int) integer(fields[2], 0, Integer.MAX_VALUE)) == null);
  }

  private static void addPart(
      Map<String, Part> parts, List<ClusterLimit> limits, String[] fields, long number) {
    require(fields.length == 3 + limits.size() && fields[0].equals(PART));
    String token = fields[1];
    String node = fields[2];
    require(StreamState.isToken(token) && NodeIds.isUsable(node));
    Map<ClusterLimit, LimiterState> shares = new LinkedHashMap<>();
    for (int i = 0; i < limits.size(); i++) {
      if (!fields[3 + i].isEmpty()) {
        shares.put(limits.get(i), share(fields[3 + i], number));
      }
    }
    require(!shares.isEmpty());
    Part part = new Part(node, token, shares);
    require(parts.put(StreamState.name(node, token), part) == null);
  }

  private static LimiterState share(String field, long number) {
    String[] values = field.split(",", -1);
    require(values.length == 6);
    int granted = (int) integer(values[0], -1, Integer.MAX_VALUE);
    long age = integer(values[1], 0, granted < 0 ? 0 : number);
    long flags = integer(values[5], 0, ACKNOWLEDGED | ACTIVE);
    return new LimiterState(
        granted,
        granted < 0 ? 0 : number - age,
        (flags & ACKNOWLEDGED) != 0,
        (int) integer(values[3], 0, Integer.MAX_VALUE),
        (int) integer(values[2], 0, Integer.MAX_VALUE),
        integer(values[4], 0, Long.MAX_VALUE),
        (flags & ACTIVE) != 0);
  }

  private static long integer(String digits, long min, long max) {
    long value = Long.parseLong(digits);
    require(value >= min && value <= max && Long.toString(value).equals(digits));
    return value;
  }

  private static void require(boolean valid) {
    if (!valid) {
      throw new IllegalArgumentException("the text is not a plan of shares");
    }
  }
}

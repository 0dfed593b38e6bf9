package io.throttlekit.service.http;

import com.google.gson.stream.JsonWriter;
import io.throttlekit.service.policies.ControlPlaneStatus;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Writes the status of a control plane for pages. */
final class ControlPlaneText {
  private ControlPlaneText() {}

  static List<String> lines(ControlPlaneStatus status) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "control plane: %s, %s"
            .formatted(
                status.server(),
                status.connected()
                    ? "connected"
                    : "not connected"
                        + (status.disconnection().isEmpty() ? "" : ": " + status.disconnection())));
    lines.add(
        "version: %s, received: %s, last accepted: %s"
            .formatted(
                status.version().isEmpty() ? "none" : status.version(),
                time(status.receivedMillis()),
                time(status.acceptedMillis())));
    lines.add(
        "responses: %d accepted, %d rejected; %d of them changed nothing"
            .formatted(status.accepted(), status.rejected(), status.unchanged()));
    status.rejectedParts().forEach(part -> lines.add("rejected: " + part.text()));
    return lines;
  }

  static void write(JsonWriter json, ControlPlaneStatus status) throws IOException {
    json.name("control_plane").beginObject();
    json.name("server").value(status.server());
    json.name("connected").value(status.connected());
    json.name("disconnection").value(status.disconnection());
    json.name("version").value(status.version());
    json.name("received").value(time(status.receivedMillis()));
    json.name("last_accepted").value(time(status.acceptedMillis()));
    json.name("accepted_responses").value(status.accepted());
    json.name("rejected_responses").value(status.rejected());
    json.name("unchanged_responses").value(status.unchanged());
    json.name("rejected_parts").beginArray();
    for (ControlPlaneStatus.RejectedPart part : status.rejectedParts()) {
      json.value(part.text());
    }
    json.endArray().endObject();
  }

  private static String time(long millis) {
    return millis == 0 ? "never" : Instant.ofEpochMilli(millis).toString();
  }
}

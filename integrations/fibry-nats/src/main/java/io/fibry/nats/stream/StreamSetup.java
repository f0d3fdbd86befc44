package io.fibry.nats.stream;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.nats.NatsNetwork.Role;
import io.fibry.text.Lines;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.support.JsonParser;
import io.nats.client.support.JsonValue;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Creates streams. Checks the settings of a stream that exists, and never changes them. */
public final class StreamSetup {
  public static final Duration DEDUPLICATION_WINDOW = Duration.ofMinutes(2);
  private static final int NOT_FOUND = 10059; // error code of the server: no such stream
  private static final int NAME_IN_USE = 10058; // error code: a stream of this name exists, with other settings

  private static final Set<String> HARMLESS_FIELDS =
      Set.of("name", "description", "metadata", "placement", "compression");
  private static final Set<String> LIMIT_FIELDS = Set.of("discard", "max_bytes", "max_msgs");
  private static final Set<String> DEFAULT_VALUES =
      Set.of("", "0", "-1", "false", "null", "{}", "[]", "\"\"", "\"none\"");

  private StreamSetup() {}

  /**
   * Checks a stream that exists. If it does not exist, creates it for a keeper, and throws for the
   * other roles.
   */
  public static void create(JetStreamManagement management, Role role, StreamConfiguration wanted) throws IOException {
    try {
      if (checkIfExists(management, role, wanted)) return;
      if (role != Role.KEEPER) throw new IllegalStateException("stream " + wanted.getName()
          + " is missing, and a program with the role " + role + " does not create it; start a program with the "
          + "role KEEPER, which creates the stream when it first uses it");
      management.addStream(wanted);
    } catch (JetStreamApiException refusal) {
      if (refusal.getApiErrorCode() != NAME_IN_USE) throw toException(wanted, refusal);
      compareAgain(management, role, wanted);
    }
  }

  private static void compareAgain(JetStreamManagement management, Role role, StreamConfiguration wanted)
      throws IOException {
    try {
      checkIfExists(management, role, wanted);
    } catch (JetStreamApiException refusal) {
      throw toException(wanted, refusal);
    }
  }

  private static RuntimeException toException(StreamConfiguration wanted, JetStreamApiException refusal) {
    String text = "stream " + wanted.getName() + " cannot be made: " + Lines.message(refusal);
    return refusal.getErrorCode() == 503 ? new TransportException(Failure.DISCONNECTED, text)
        : new IllegalStateException(text);
  }

  /** Returns whether the stream exists. Throws if its settings differ from the wanted settings. */
  private static boolean checkIfExists(JetStreamManagement management, Role role, StreamConfiguration wanted)
      throws IOException, JetStreamApiException {
    try {
      compare(wanted, role, management.getStreamInfo(wanted.getName()).getJv().map.get("config").map);
      return true;
    } catch (JetStreamApiException failure) {
      if (failure.getApiErrorCode() == NOT_FOUND) return false;
      throw failure;
    }
  }

  /**
   * Refuses a stream whose settings differ from the wanted settings, also in settings that this
   * client does not know. The reason is that some settings make the server drop messages that it
   * has acknowledged. Harmless settings may differ. Limits may differ if a full stream refuses new
   * messages. A stream that an earlier version of Fibry made allows roll-ups, by which each program
   * that publishes to it can delete all of it. So only keepers use such a stream.
   */
  private static void compare(StreamConfiguration wanted, Role role, Map<String, JsonValue> existing) {
    var expected = JsonParser.parseUnchecked(wanted.toJson()).map;
    var fields = new TreeSet<>(existing.keySet());
    fields.addAll(expected.keySet());
    fields.removeAll(HARMLESS_FIELDS);
    if (role == Role.KEEPER && !wanted.getAllowRollup()) fields.remove("allow_rollup_hdrs");
    if (value(existing, "discard").equals("\"new\"")) fields.removeAll(LIMIT_FIELDS); // a full stream refuses messages
    var differences = fields.stream().filter(field -> !value(expected, field).equals(value(existing, field)))
        .map(field -> Lines.escaped(field + " is " + value(existing, field) + " instead of " + value(expected, field)))
        .toList();
    if (!differences.isEmpty()) throw new IllegalStateException("stream " + wanted.getName()
        + " differs from the stream that this program would create: " + String.join("; ", differences)
        + "; change the stream by the tools of NATS, or give the options of the nodes that made it");
  }

  /** {@return the value as JSON, or "unset" if it is absent or a default of the server} */
  private static String value(Map<String, JsonValue> configuration, String field) {
    var value = configuration.get(field);
    String text = value == null ? "" : value.toJson();
    return DEFAULT_VALUES.contains(text) ? "unset" : text;
  }
}

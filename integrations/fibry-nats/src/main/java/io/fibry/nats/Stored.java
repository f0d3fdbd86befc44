package io.fibry.nats;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.nats.client.Message;
import io.nats.client.support.JsonParseException;
import io.nats.client.support.JsonParser;
import io.nats.client.support.JsonValue;
import io.nats.client.support.JsonValueUtils;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** The outcome of storing a message in a stream. */
sealed interface Stored {
  /**
   * The message is stored.
   *
   * @param seq its number
   */
  record Here(long seq) implements Stored {}

  /**
   * Another message was there before.
   *
   * @param maybeOwn that of an attempt before, of which nothing was heard
   */
  record Outdated(boolean maybeOwn) implements Stored {}

  /**
   * It may be tried again.
   *
   * @param unknown it may be there
   */
  record Again(String why, boolean unknown) implements Stored {}

  /**
   * The message is not stored.
   *
   * @param full there is no room
   */
  record Refused(String why, boolean full) implements Stored {}

  /** The server's numbers of errors. */
  int WRONG_NUMBER = 10071;
  /** Another message to the subject is being stored. */
  int BUSY = 10164;
  /** A message with the same id is being stored. */
  int UNDER_WAY = 10158;
  /** A batch that lost a part, since its leader did. */
  int INCOMPLETE = 10176;
  /** Codes for lack of memory, of disk space, and for the stream's own limits. */
  Set<Integer> NO_ROOM = Set.of(10023, 10028, 10047);
  /** The stream could not store it: its limits are among the reasons. */
  int FAILED = 10077;

  /** Reads the server's answer. */
  static Stored of(@Nullable Message answer, @Nullable Throwable failure) {
    if (failure != null) return of(failure instanceof CompletionException ? failure.getCause() : failure);
    try {
      var json = JsonParser.parse(answer.getData());
      var error = JsonValueUtils.readValue(json, "error");
      return error == null ? new Here(JsonValueUtils.readLong(json, "seq", 0)) : of(error);
    } catch (JsonParseException | IllegalArgumentException unreadable) {
      return new Again("the server's answer cannot be read", true);
    }
  }

  private static Stored of(JsonValue error) {
    int code = JsonValueUtils.readInteger(error, "err_code", 0);
    int status = JsonValueUtils.readInteger(error, "code", 0);
    String text = JsonValueUtils.readString(error, "description", "no reason") + " [" + code + "]";
    if (code == WRONG_NUMBER) return new Outdated(false);
    if (NO_ROOM.contains(code) || code == FAILED && text.contains("maximum")) return new Refused(text, true);
    if (code == UNDER_WAY || code == FAILED) return new Again(text, true);
    if (code == BUSY || code == INCOMPLETE || status == 429 || status == 503) return new Again(text, false);
    return new Refused(text, false);
  }

  private static Stored of(Throwable failure) {
    String text = Troubles.text(failure);
    if (!(failure instanceof TransportException lost)) return new Again(text, true);
    return lost.failure() == Failure.DENIED ? new Refused(text, false)
        : new Again(text, lost.failure() == Failure.TIMED_OUT || lost.failure() == Failure.UNKNOWN);
  }
}

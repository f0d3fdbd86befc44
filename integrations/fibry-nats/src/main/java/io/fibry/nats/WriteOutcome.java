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
sealed interface WriteOutcome {
  /**
   * The message is stored.
   *
   * @param seq its number
   */
  record WriteSuccess(long seq) implements WriteOutcome {}

  /**
   * Another message was there before.
   *
   * @param mayBeOwn that of an attempt before, of which nothing was heard
   */
  record WriteConflict(boolean mayBeOwn) implements WriteOutcome {}

  /**
   * It may be tried again.
   *
   * @param isUnknown it may be there
   */
  record RetryableFailure(String reason, boolean isUnknown) implements WriteOutcome {}

  /**
   * The message is not stored.
   *
   * @param isFull there is no room
   */
  record WriteRejection(String reason, boolean isFull) implements WriteOutcome {}

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
  static WriteOutcome of(@Nullable Message answer, @Nullable Throwable failure) {
    if (failure != null) return of(failure instanceof CompletionException ? failure.getCause() : failure);
    try {
      var json = JsonParser.parse(answer.getData());
      var error = JsonValueUtils.readValue(json, "error");
      return error == null ? new WriteSuccess(JsonValueUtils.readLong(json, "seq", 0)) : of(error);
    } catch (JsonParseException | IllegalArgumentException unreadable) {
      return new RetryableFailure("the server's answer cannot be read", true);
    }
  }

  private static WriteOutcome of(JsonValue error) {
    int code = JsonValueUtils.readInteger(error, "err_code", 0);
    int status = JsonValueUtils.readInteger(error, "code", 0);
    String text = JsonValueUtils.readString(error, "description", "no reason") + " [" + code + "]";
    if (code == WRONG_NUMBER) return new WriteConflict(false);
    if (NO_ROOM.contains(code) || code == FAILED && text.contains("maximum")) return new WriteRejection(text, true);
    if (code == UNDER_WAY || code == FAILED) return new RetryableFailure(text, true);
    if (code == BUSY || code == INCOMPLETE || status == 429 || status == 503) return new RetryableFailure(text, false);
    return new WriteRejection(text, false);
  }

  private static WriteOutcome of(Throwable failure) {
    String text = ConnectionErrors.text(failure);
    if (!(failure instanceof TransportException lost)) return new RetryableFailure(text, true);
    return lost.failure() == Failure.DENIED ? new WriteRejection(text, false)
        : new RetryableFailure(text, lost.failure() == Failure.TIMED_OUT || lost.failure() == Failure.UNKNOWN);
  }
}

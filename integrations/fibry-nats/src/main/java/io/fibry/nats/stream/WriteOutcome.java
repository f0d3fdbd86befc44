package io.fibry.nats.stream;

import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.nats.connection.ConnectionErrors;
import io.nats.client.JetStreamApiException;
import io.nats.client.Message;
import io.nats.client.support.JsonParseException;
import io.nats.client.support.JsonParser;
import io.nats.client.support.JsonValue;
import io.nats.client.support.JsonValueUtils;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** The outcome of a write to a stream: of storing, purging or acknowledging messages. */
public sealed interface WriteOutcome {
  /**
   * The write succeeded.
   *
   * @param seq the number of the stored message in the stream; 0 for other writes
   */
  record WriteSuccess(long seq) implements WriteOutcome {}

  /**
   * The message was not stored: the last message of its subject does not have the expected number.
   *
   * @param mayBeOwn whether an earlier attempt without an answer may have stored the message
   */
  record WriteConflict(boolean mayBeOwn) implements WriteOutcome {}

  /**
   * The write failed, and may be tried again.
   *
   * @param mayBeStored whether the message may be stored nevertheless
   */
  record RetryableFailure(String reason, boolean mayBeStored) implements WriteOutcome {}

  /**
   * The server refused the write. Callers do not repeat it.
   *
   * @param isFull whether the server or the stream has no space for the message
   */
  record WriteRejection(String reason, boolean isFull) implements WriteOutcome {}

  /** Error code: the last message of the subject does not have the expected number. */
  int WRONG_NUMBER = 10071;
  /** Error code: another message to the subject is being stored. */
  int BUSY = 10164;
  /** Error code: a message with the same id is being stored. */
  int DUPLICATE_PENDING = 10158;
  /** Error code: the leader has lost a part of the batch. */
  int BATCH_INCOMPLETE = 10176;
  /** Error codes: no memory, no disk space, or a limit of the stream. */
  Set<Integer> NO_SPACE = Set.of(10023, 10028, 10047);
  /** Error code: the stream could not store the message, perhaps because of its limits. */
  int STORE_FAILED = 10077;

  /** Returns the outcome from the server's answer, or from the failure if that is not null. */
  static WriteOutcome of(@Nullable Message answer, @Nullable Throwable failure) {
    if (failure != null)
      return of(failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure);
    try {
      var json = JsonParser.parse(answer.getData());
      var error = JsonValueUtils.readValue(json, "error");
      return error == null ? new WriteSuccess(JsonValueUtils.readLong(json, "seq", 0)) : of(error);
    } catch (JsonParseException | IllegalArgumentException unreadable) {
      return new RetryableFailure("the server's answer cannot be read", true);
    }
  }

  private static WriteOutcome of(JsonValue error) {
    return of(JsonValueUtils.readInteger(error, "err_code", 0), JsonValueUtils.readInteger(error, "code", 0),
        JsonValueUtils.readString(error, "description", "no reason"));
  }

  /**
   * Returns the outcome of a write by the NATS client's own API, which threw because the server
   * refused the write.
   */
  static WriteOutcome of(JetStreamApiException refusal) {
    return of(refusal.getApiErrorCode(), refusal.getErrorCode(), refusal.getErrorDescription());
  }

  private static WriteOutcome of(int code, int status, String description) {
    String text = description + " [" + code + "]";
    if (code == WRONG_NUMBER) return new WriteConflict(false);
    if (NO_SPACE.contains(code) || code == STORE_FAILED && text.contains("maximum"))
      return new WriteRejection(text, true);
    if (code == DUPLICATE_PENDING || code == STORE_FAILED) return new RetryableFailure(text, true);
    if (code == BUSY || code == BATCH_INCOMPLETE || status == 429 || status == 503)
      return new RetryableFailure(text, false);
    return new WriteRejection(text, false);
  }

  private static WriteOutcome of(Throwable failure) {
    String text = ConnectionErrors.text(failure);
    if (!(failure instanceof TransportException known)) return new RetryableFailure(text, true);
    return known.failure() == Failure.DENIED ? new WriteRejection(text, false)
        : new RetryableFailure(text, known.failure() == Failure.TIMED_OUT || known.failure() == Failure.UNKNOWN);
  }
}

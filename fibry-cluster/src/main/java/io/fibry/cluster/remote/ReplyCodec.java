package io.fibry.cluster.remote;

import io.fibry.ActorStoppedException;
import io.fibry.AskCycleException;
import io.fibry.AskTimeoutException;
import io.fibry.ExitReason;
import io.fibry.MailboxFullException;
import io.fibry.NoReplyException;
import io.fibry.RequestException;
import io.fibry.RequestOutcome;
import io.fibry.cluster.RemoteFailureException;
import io.fibry.cluster.UnavailableException;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Protocol;
import io.fibry.text.Lines;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Encodes and decodes the answer or the failure of a request, as it is sent to the asker. */
public final class ReplyCodec {
  private static final String STATUS = "Fb-S"; // the name of a Status
  private static final String TEXT = "Fb-Why"; // the text of the failure
  private static final String TYPE = "Fb-Type"; // the class of the exception, or of the exit reason
  private static final String CYCLE_ACTORS = "Fb-Ring"; // the actors of a cycle of waits
  private static final String OUTCOME = "Fb-Outcome"; // the outcome of the request; missing if it is not known
  private static final String NUMBER = "Fb-Number"; // the capacity of a mailbox, or a limit in milliseconds
  private static final int MAX_TEXT = 1_000; // characters
  private static final byte[] EMPTY_BODY = {};

  private enum Status {
    OK, FAILED, FULL, STOPPED, LATE, NO_REPLY, CYCLE, GONE
  }

  private static final Map<String, RequestOutcome> OUTCOMES =
      Stream.of(RequestOutcome.values())
          .collect(Collectors.toUnmodifiableMap(RequestOutcome::name, outcome -> outcome));

  private static final Map<String, Status> STATUSES =
      Stream.of(Status.values()).collect(Collectors.toUnmodifiableMap(Status::name, status -> status));

  private ReplyCodec() {}

  // ---- on the node of the actor

  static WireMessage ofAnswer(String replyTo, Object request, Object answer) {
    return WireMessage.oneWay(replyTo, Map.of(STATUS, Status.OK.name()), Protocol.encodeAnswer(request, answer));
  }

  static WireMessage ofReceipt(String replyTo, TellBundle.Receipt receipt) {
    return WireMessage.oneWay(replyTo, Map.of(STATUS, Status.OK.name()), TellBundle.bytes(receipt));
  }

  /** Tells the sender that the message is stored, or that this node offers the actor. */
  static WireMessage ofConfirmation(String replyTo) {
    return WireMessage.oneWay(replyTo, Map.of(STATUS, Status.OK.name()), EMPTY_BODY);
  }

  static WireMessage ofFull(String replyTo, String text, int capacity) {
    return wire(replyTo, Status.FULL, text,
        Map.of(NUMBER, Integer.toString(capacity), OUTCOME, RequestOutcome.NOT_DONE.name()));
  }

  /** Tells the sender that the message was not handled, and may be sent again. */
  static WireMessage ofWithdrawn(String replyTo, String text) {
    return wire(replyTo, Status.GONE, text, Map.of());
  }

  /**
   * Tells the asker that the request has failed. The outcome is left out if the failure belongs to
   * another request, such as a request that the handler sent itself.
   */
  static WireMessage ofFailure(String replyTo, Object request, Throwable exception) {
    var failure =
        exception instanceof CompletionException && exception.getCause() != null ? exception.getCause() : exception;
    var details = new HashMap<String, String>();
    if (failure instanceof RequestException requestFailure && requestFailure.request() == request)
      details.put(OUTCOME, requestFailure.outcome().name());
    var status = switch (failure) {
      case MailboxFullException mailboxFull -> addHeader(details, NUMBER, Integer.toString(mailboxFull.capacity()),
          Status.FULL);
      case ActorStoppedException ended -> addHeader(details, TYPE, typeOf(ended.reason()), Status.STOPPED);
      case AskTimeoutException timeout -> addHeader(details, NUMBER, Long.toString(timeout.limit().toMillis()),
          Status.LATE);
      case NoReplyException noReply -> Status.NO_REPLY;
      case AskCycleException cycle -> addHeader(details, CYCLE_ACTORS, String.join("\t", cycle.cycle()), Status.CYCLE);
      default -> addHeader(details, TYPE, failure.getClass().getName(), Status.FAILED);
    };
    return wire(replyTo, status, summarize(Lines.message(failure)), details);
  }

  /** Adds a header, and returns the status. */
  private static Status addHeader(Map<String, String> headers, String name, String value, Status status) {
    headers.put(name, value);
    return status;
  }

  /** Describes an exception in one line. */
  public static String summarize(Throwable exception) {
    return summarize(Lines.thrown(exception));
  }

  private static String summarize(String line) {
    return line.length() <= MAX_TEXT ? line : line.substring(0, MAX_TEXT) + " ..";
  }

  private static String typeOf(ExitReason reason) {
    return reason == null ? "" : reason.getClass().getSimpleName();
  }

  private static WireMessage wire(String replyTo, Status status, String text, Map<String, String> details) {
    var headers = new HashMap<>(details);
    headers.put(STATUS, status.name());
    headers.put(TEXT, text);
    return WireMessage.oneWay(replyTo, headers, EMPTY_BODY);
  }

  // ---- on the node of the asker

  /** Returns whether the message was not handled, and may reach the actor on another node. */
  static boolean isWithdrawn(WireMessage wire) {
    return statusOf(wire).filter(Status.GONE::equals).isPresent();
  }

  /** Completes the future of the asker with the answer or the failure. */
  static <R> void completeAsker(CompletableFuture<R> asker, OutboundRequest<R> outbound, WireMessage wire,
      NodeContext nodeContext) {
    var status = statusOf(wire);
    if (status.filter(Status.OK::equals).isPresent()) asker.complete(outbound.decodeAnswer(wire.body()));
    else asker.completeExceptionally(
        failure(status, outbound, wire, nodeContext.describeRequest(outbound.describedMessage())));
  }

  /**
   * Returns the exception for an asker on the node of the actor. An asker on another node gets an
   * exception of the same type and with the same text.
   *
   * @param message the message that the actor got in place of the asker's request
   */
  static RuntimeException localFailure(OutboundRequest<?> outbound, Object message, Throwable exception,
      NodeContext nodeContext) {
    var wire = ofFailure("", message, exception);
    return failure(statusOf(wire), outbound, wire, nodeContext.describeRequest(outbound.describedMessage()));
  }

  /** Returns the exception for an asker that cannot decode the answer. */
  static UnavailableException unreadableAnswer(OutboundRequest<?> outbound, Throwable decodeFailure,
      NodeContext nodeContext) {
    String actor = outbound.address().actor();
    return new UnavailableException(
        "the answer of actor '" + actor + "' to " + nodeContext.describeRequest(outbound.describedMessage())
            + " cannot be read",
        actor, outbound.request(), decodeFailure, RequestOutcome.UNKNOWN);
  }

  private static Optional<Status> statusOf(WireMessage wire) {
    return wire.header(STATUS).map(STATUSES::get);
  }

  private static RuntimeException failure(Optional<Status> status, OutboundRequest<?> outbound, WireMessage wire,
      String requestText) {
    var request = outbound.request();
    String actor = outbound.address().actor();
    String text = wire.header(TEXT).map(Lines::escaped).orElse("it gave no reason");
    var outcome = wire.header(OUTCOME).map(OUTCOMES::get).orElse(RequestOutcome.UNKNOWN);
    if (status.isEmpty()) return new UnavailableException(
        "the answer of actor '" + actor + "' to " + requestText + " has no known status: " + wire, actor, request, null,
        RequestOutcome.UNKNOWN);
    return switch (status.get()) {
      // If the outcome is unknown, another request hit a full mailbox, or the other node is older.
      case FULL -> outcome == RequestOutcome.NOT_DONE
          ? new MailboxFullException(text, actor, request, (int) number(wire))
          : new UnavailableException(text, actor, request, null, outcome);
      case STOPPED -> new ActorStoppedException(text, actor, request, reason(wire, text), outcome);
      case LATE -> new AskTimeoutException(text, actor, request, Duration.ofMillis(number(wire)), null, outcome);
      case NO_REPLY -> new NoReplyException(text, actor, request);
      case GONE -> new UnavailableException(requestText + " did not reach actor '" + actor + "': " + text, actor,
          request, null, RequestOutcome.NOT_DONE);
      case CYCLE -> new AskCycleException(text, actor, request,
          List.of(wire.header(CYCLE_ACTORS).orElse(actor).split("\t")));
      default -> {
        var failure = new RemoteFailureException(text, wire.header(TYPE).orElse("an unknown class"));
        yield wire.header(OUTCOME).isEmpty() ? failure
            : new UnavailableException(text, actor, request, failure, outcome);
      }
    };
  }

  private static long number(WireMessage wire) {
    try {
      return Long.parseLong(wire.header(NUMBER).orElse("0"));
    } catch (NumberFormatException failure) {
      return 0;
    }
  }

  private static ExitReason reason(WireMessage wire, String text) {
    return reason(wire.header(TYPE).orElse(""), text);
  }

  /** Reads an exit reason from its text, which another node has written. */
  static ExitReason reason(String text) {
    return reason(text.replaceAll(":.*", ""), text);
  }

  private static ExitReason reason(String type, String text) {
    return switch (type) {
      case "Finished" -> new ExitReason.Finished();
      case "Killed" -> new ExitReason.Killed();
      case "Failed" -> new ExitReason.Failed(new RemoteFailureException(text, "unknown"));
      default -> new ExitReason.Stopped();
    };
  }

  /** Describes an exit reason in one line. */
  static String summarize(ExitReason reason) {
    return summarize(reason.toString());
  }
}

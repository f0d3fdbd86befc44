package io.fibry.cluster;

import io.fibry.ActorStoppedException;
import io.fibry.AskCycleException;
import io.fibry.AskTimeoutException;
import io.fibry.ExitReason;
import io.fibry.MailboxFullException;
import io.fibry.NoReplyException;
import io.fibry.Outcome;
import io.fibry.RequestException;
import io.fibry.cluster.spi.WireMessage;
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

/** The end of a request, as it is sent to its asker. */
final class ReplyCodec {
  private static final String STATUS = "Fb-S";
  private static final String TEXT = "Fb-Why";
  private static final String TYPE = "Fb-Type"; // of what the handler threw, or of the reason of an end
  private static final String RING = "Fb-Ring";
  private static final String OUTCOME = "Fb-Outcome"; // the outcome of the request; missing if it is not known
  private static final String NUMBER = "Fb-Number"; // the capacity of a mailbox, or milliseconds
  private static final int MAX_TEXT = 1_000; // letters of a text
  private static final byte[] NOTHING = {};

  private enum Status {
    OK, FAILED, FULL, STOPPED, LATE, NO_REPLY, CYCLE, GONE
  }

  private static final Map<String, Outcome> OUTCOMES =
      Stream.of(Outcome.values()).collect(Collectors.toUnmodifiableMap(Outcome::name, one -> one));

  private static final Map<String, Status> STATUSES =
      Stream.of(Status.values()).collect(Collectors.toUnmodifiableMap(Status::name, one -> one));

  private ReplyCodec() {}

  // ---- where it was handled

  static WireMessage ofAnswer(String to, Object request, Object answer) {
    return WireMessage.to(to, Map.of(STATUS, Status.OK.name()), Protocol.encodeAnswer(request, answer));
  }

  static WireMessage ofReceipt(String to, TellBundle.Receipt receipt) {
    return WireMessage.to(to, Map.of(STATUS, Status.OK.name()), TellBundle.bytes(receipt));
  }

  /** It is stored. */
  static WireMessage ofStored(String to) {
    return WireMessage.to(to, Map.of(STATUS, Status.OK.name()), NOTHING);
  }

  static WireMessage ofFull(String to, String actor, int capacity) {
    return wire(to, Status.FULL, "actor '" + actor + "' has " + capacity + " messages of other nodes waiting already",
        Map.of(NUMBER, Integer.toString(capacity), OUTCOME, Outcome.NOT_DONE.name()));
  }

  /** It was not handled. */
  static WireMessage ofGone(String to, String actor) {
    return wire(to, Status.GONE, "a node has just taken back its offer of actor '" + actor + "'", Map.of());
  }

  /**
   * The outcome of another request, such as a request that the handler sent itself, is left out.
   */
  static WireMessage ofFailure(String to, Object request, Throwable thrown) {
    var failure = thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown;
    var more = new HashMap<String, String>();
    if (failure instanceof RequestException none && none.request() == request)
      more.put(OUTCOME, none.outcome().name());
    var status = switch (failure) {
      case MailboxFullException full -> with(more, NUMBER, Integer.toString(full.capacity()), Status.FULL);
      case ActorStoppedException stopped -> with(more, TYPE, typeOf(stopped.reason()), Status.STOPPED);
      case AskTimeoutException late -> with(more, NUMBER, Long.toString(late.waited().toMillis()), Status.LATE);
      case NoReplyException none -> Status.NO_REPLY;
      case AskCycleException cycle -> with(more, RING, String.join("\t", cycle.cycle()), Status.CYCLE);
      default -> with(more, TYPE, failure.getClass().getName(), Status.FAILED);
    };
    return wire(to, status, summarize(Lines.message(failure)), more);
  }

  private static Status with(Map<String, String> headers, String name, String value, Status status) {
    headers.put(name, value);
    return status;
  }

  /** Returns an exception in one line. */
  static String summarize(Throwable thrown) {
    return summarize(Lines.thrown(thrown));
  }

  private static String summarize(String line) {
    return line.length() <= MAX_TEXT ? line : line.substring(0, MAX_TEXT) + " ..";
  }

  private static String typeOf(ExitReason reason) {
    return reason == null ? "" : reason.getClass().getSimpleName();
  }

  private static WireMessage wire(String to, Status status, String text, Map<String, String> more) {
    var headers = new HashMap<>(more);
    headers.put(STATUS, status.name());
    headers.put(TEXT, text);
    return WireMessage.to(to, headers, NOTHING);
  }

  // ---- where it was asked

  /** It did not reach its actor, and may find it elsewhere. */
  static boolean isGone(WireMessage wire) {
    return statusOf(wire).filter(Status.GONE::equals).isPresent();
  }

  /** Tells the asker. */
  static <R> void completeAsker(CompletableFuture<R> asker, RemoteSender.OutboundRequest<R> sent, WireMessage wire,
      NodeContext nodeContext) {
    var status = statusOf(wire);
    if (status.filter(Status.OK::equals).isPresent()) asker.complete(sent.decodeAnswer(wire.body()));
    else asker.completeExceptionally(failure(status, sent, wire, nodeContext.describeRequest(sent.describedMessage())));
  }

  private static Optional<Status> statusOf(WireMessage wire) {
    return wire.header(STATUS).map(STATUSES::get);
  }

  private static Throwable failure(Optional<Status> status, RemoteSender.OutboundRequest<?> sent, WireMessage wire,
      String asked) {
    var request = sent.request();
    String actor = sent.to().actor();
    String text = wire.header(TEXT).map(Lines::escaped).orElse("no reason was told");
    var outcome = wire.header(OUTCOME).map(OUTCOMES::get).orElse(Outcome.UNKNOWN);
    if (status.isEmpty()) return new UnreachableException(
        "the answer of actor '" + actor + "' to " + asked + " is none: " + wire, actor, request, null, Outcome.UNKNOWN);
    return switch (status.get()) {
      case FULL -> outcome == Outcome.NOT_DONE ? new MailboxFullException(text, actor, request, (int) number(wire))
          : new UnreachableException(text, actor, request, null, outcome); // of another request, or of an old node
      case STOPPED -> new ActorStoppedException(text, actor, request, reason(wire, text), outcome);
      case LATE -> new AskTimeoutException(text, actor, request, Duration.ofMillis(number(wire)), null, outcome);
      case NO_REPLY -> new NoReplyException(text, actor, request);
      case GONE -> new UnreachableException(asked + " did not reach actor '" + actor + "': " + text, actor, request,
          null, Outcome.NOT_DONE);
      case CYCLE -> new AskCycleException(text, actor, request, List.of(wire.header(RING).orElse(actor).split("\t")));
      default -> {
        var failure = new RemoteFailureException(text, wire.header(TYPE).orElse("an unknown class"));
        yield wire.header(OUTCOME).isEmpty() ? failure
            : new UnreachableException(text, actor, request, failure, outcome);
      }
    };
  }

  private static long number(WireMessage wire) {
    try {
      return Long.parseLong(wire.header(NUMBER).orElse("0"));
    } catch (NumberFormatException foreign) {
      return 0;
    }
  }

  private static ExitReason reason(WireMessage wire, String text) {
    return reason(wire.header(TYPE).orElse(""), text);
  }

  /** Reads a reason from the text that another node made of it. */
  static ExitReason reason(String told) {
    return reason(told.replaceAll(":.*", ""), told);
  }

  private static ExitReason reason(String type, String text) {
    return switch (type) {
      case "Finished" -> new ExitReason.Finished();
      case "Killed" -> new ExitReason.Killed();
      case "Failed" -> new ExitReason.Failed(new RemoteFailureException(text, "unknown"));
      default -> new ExitReason.Stopped();
    };
  }

  /** Returns the reason of an end in one line. */
  static String summarize(ExitReason reason) {
    return summarize(reason.toString());
  }
}

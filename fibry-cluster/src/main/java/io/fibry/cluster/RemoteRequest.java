package io.fibry.cluster;

import io.fibry.AskTimeoutException;
import io.fibry.Outcome;
import io.fibry.Request;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.text.Durations;
import io.fibry.text.Lines;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.slf4j.LoggerFactory;

/**
 * A request to another node. If no node receives it, it was certainly not handled. Therefore it is
 * sent again while a partition moves between nodes.
 */
final class RemoteRequest<R> {
  private static final Duration INITIAL_BACKOFF = Duration.ofMillis(2); // twice as long after each further attempt
  private static final Duration MAX_BACKOFF = Duration.ofMillis(100);

  private final NodeContext nodeContext;
  private final Route route;
  private final RemoteSender.OutboundRequest<R> sent;
  private final Duration limit;
  private final long deadline; // in nanoseconds of the clock
  private final Map<String, String> headers;
  private final CompletableFuture<R> answer = new CompletableFuture<>();
  private final Object jfrEvent = ClusterEvents.beginRequest(); // null: it is not recorded
  private Duration pause = INITIAL_BACKOFF; // before the next sending
  private int attempts; // how often it was sent; also used by the actor's thread
  private volatile long lastClaimAt; // or when it was last sent; in nanoseconds of the clock
  private volatile Optional<String> holder = Optional.empty(); // the node that last claimed it

  RemoteRequest(NodeContext nodeContext, Route route, RemoteSender.OutboundRequest<R> sent, Duration limit) {
    this.nodeContext = nodeContext;
    this.route = route;
    this.sent = sent;
    this.limit = limit;
    this.deadline = nodeContext.clock().nanoTime() + Math.min(Long.MAX_VALUE / 2, limit.toNanos());
    this.headers = sent.headers(route);
    if (jfrEvent != null) answer.whenComplete(
        (value, failure) -> ClusterEvents.endRequest(jfrEvent, sent.address().actor(), sent.request(), attempts,
            failure));
  }

  CompletableFuture<R> answer() {
    return answer;
  }

  void addAskers(List<String> askers) {
    if (!askers.isEmpty()) headers.put(Route.ASKERS, AskChainEntry.header(askers));
  }

  void send() {
    var remaining = Duration.ofNanos(Math.max(1, deadline - nodeContext.clock().nanoTime()));
    attempts++;
    holder = Optional.empty();
    onSent();
    if (attempts == 1) nodeContext.pendingRequests().addSent(headers.get(Route.ID), this);
    headers.put(Route.TIME_LEFT, Long.toString(Math.max(1, remaining.toMillis())));
    if (route.epoch().get() > 0) headers.put(Route.EPOCH, Long.toString(route.epoch().get()));
    try {
      nodeContext.transport()
          .request(WireMessage.to(route.subject(), headers, sent.body()), remaining.minus(marginBefore(remaining)))
          .whenComplete(this::onEnd);
    } catch (RuntimeException failure) {
      answer.completeExceptionally(failure);
    }
  }

  /**
   * Returns how much earlier than its asker a request times out, so that it can report the reason.
   * The handler times out earlier by twice this time: see {@link RemoteSender#limit}.
   */
  private static Duration marginBefore(Duration remaining) {
    return Duration.ofMillis(Math.min(remaining.toMillis() / 2, Math.clamp(remaining.toMillis() / 40, 5, 50)));
  }

  /**
   * Cancels the request, because its asker has stopped waiting. A node that has not begun to handle
   * it does not begin.
   */
  void cancel() {
    if (answer.cancel(false)) sendCancel();
  }

  private void sendCancel() {
    try {
      nodeContext.transport()
          .publish(WireMessage.to(route.cancelSubject(), Map.of(Route.ID, headers.get(Route.ID)), new byte[0]));
    } catch (TransportException failure) {
      LoggerFactory.getLogger(Cluster.class).debug("the cancellation of a request to actor '{}' was not sent",
          sent.address().actor(), failure);
    }
  }

  // ---- while it waits; RequestClaims explains why this is safe

  void onSent() {
    lastClaimAt = nodeContext.clock().nanoTime();
  }

  void onClaimed(String node) {
    holder = Optional.of(node);
    onSent();
  }

  /** Fails the request if no node has claimed it for longer than {@code maxSilence}. */
  void failIfSilent(long now, Duration maxSilence) {
    long silentNanos = now - lastClaimAt;
    if (silentNanos <= maxSilence.toNanos()) return;
    if (answer.completeExceptionally(silenceException(silentNanos))) sendCancel();
  }

  private UnreachableException silenceException(long silentNanos) {
    String actor = sent.address().actor();
    String silence = Durations.textOfNanos(silentNanos);
    String holderText = holder.map(node -> "node '" + node + "', which had it, has not been heard of for " + silence)
        .orElse("no node has said for " + silence + " that it has it");
    return new UnreachableException(describeRequest() + " to actor '" + actor + "' has no answer, and " + holderText
        + ": its node ended, or a connection broke. " + (sent.address().storesMessages()
            ? "If it was stored, it will be handled; ask again with the same id for the answer"
            : "It may have been handled"),
        actor, sent.request(), null, Outcome.UNKNOWN);
  }

  // ---- the end

  private void onEnd(WireMessage wire, Throwable failure) {
    if (failure == null) route.onAnswer(wire);
    try {
      boolean hasNoReceiver = failure == null ? ReplyCodec.isWithdrawn(wire) : kindOf(failure) == Failure.NO_RECEIVER;
      if (hasNoReceiver && !answer.isDone() && route.absenceReason().get().isEmpty()
          && nodeContext.clock().nanoTime() + pause.toNanos() - deadline < 0)
        sendLater();
      else if (failure == null) ReplyCodec.completeAsker(answer, sent, wire, nodeContext);
      else answer.completeExceptionally(toLossException(failure));
    } catch (Throwable decodeFailure) { // the codec failed, or memory ran out
      answer.completeExceptionally(new UnreachableException("the answer of actor '" + sent.address().actor()
          + "' to " + describeRequest() + " cannot be read", sent.address().actor(), sent.request(), decodeFailure,
          Outcome.UNKNOWN));
    }
  }

  private void sendLater() {
    nodeContext.clock().schedule(pause, this::sendAgain);
    var nextPause = pause.multipliedBy(2);
    pause = nextPause.compareTo(MAX_BACKOFF) < 0 ? nextPause : MAX_BACKOFF;
  }

  /** Sends the request again, unless its asker has stopped waiting. */
  private void sendAgain() {
    if (!answer.isDone()) send();
  }

  private static Failure kindOf(Throwable failure) {
    return failure instanceof TransportException loss ? loss.failure() : Failure.UNKNOWN;
  }

  private Throwable toLossException(Throwable failure) {
    String actor = sent.address().actor();
    Request<?, R> request = sent.request();
    if (kindOf(failure) == Failure.TIMED_OUT)
      return new AskTimeoutException("actor '" + actor + "' did not answer " + describeRequest()
          + " within " + Durations.text(limit) + ": " + holder.map(node -> "node '" + node + "' had it "
              + Durations.textOfNanos(nodeContext.clock().nanoTime() - lastClaimAt) + " ago")
              .orElse("it was sent, and no node has said so far that it has it")
          + "; it may be handled all the same", actor, request, limit, null);
    String reason = kindOf(failure) == Failure.NO_RECEIVER
        ? route.absenceReason().get().orElse("at the moment no node has its key") : Lines.message(failure);
    return new UnreachableException(describeRequest() + " did not reach actor '" + actor + "': " + reason, actor,
        request, failure,
        kindOf(failure) == Failure.UNKNOWN ? Outcome.UNKNOWN : Outcome.NOT_DONE);
  }

  /** {@return the text by which exceptions name the request} */
  private String describeRequest() {
    return nodeContext.describeRequest(sent.describedMessage());
  }
}

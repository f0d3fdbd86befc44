package io.fibry.cluster.remote;

import io.fibry.AskTimeoutException;
import io.fibry.Request;
import io.fibry.RequestOutcome;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.UnavailableException;
import io.fibry.cluster.membership.ClusterEvents;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.AskChainEntry;
import io.fibry.cluster.wire.Destination;
import io.fibry.text.Durations;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A request to another node. A request that no node receives was certainly not handled, so it is
 * sent again, for example while its partition moves between nodes.
 */
final class SentRequest<R> implements RequestRegistry.OpenRequest {
  private static final Duration INITIAL_BACKOFF = Duration.ofMillis(2); // twice as long after each further attempt
  private static final Duration MAX_BACKOFF = Duration.ofMillis(100);

  private final NodeContext nodeContext;
  private final Destination destination;
  private final OutboundRequest<R> outbound;
  private final Duration limit;
  private final long deadline; // in nanoseconds of the clock
  private final Map<String, String> headers; // used by one sending thread after the other
  private final String messageId;
  private final CompletableFuture<R> answer = new CompletableFuture<>();
  private final Object jfrEvent = ClusterEvents.beginRequest(); // null if JFR does not record the request
  private Duration pause = INITIAL_BACKOFF; // before the next sending
  // how often the request was sent; written by one sending thread after the other, read by the
  // completing thread
  private volatile int attempts;
  private volatile long lastKeepAliveAt; // when it was last named in a keep-alive, or sent; in nanoseconds
  private volatile Optional<String> holder = Optional.empty(); // the node that last named it in a keep-alive

  SentRequest(NodeContext nodeContext, Destination destination, OutboundRequest<R> outbound,
      Duration limit) {
    this.nodeContext = nodeContext;
    this.destination = destination;
    this.outbound = outbound;
    this.limit = limit;
    this.deadline = nodeContext.clock().nanoTime() + Durations.nanos(limit);
    this.headers = outbound.headers(destination);
    this.messageId = headers.get(Destination.MESSAGE_ID);
    if (jfrEvent != null) answer.whenComplete(
        (value, failure) -> ClusterEvents.endRequest(jfrEvent, outbound.address().actor(), outbound.request(), attempts,
            failure));
  }

  @Override
  public CompletableFuture<R> answer() {
    return answer;
  }

  void addAskers(List<String> askers) {
    if (!askers.isEmpty()) headers.put(Destination.ASKERS, AskChainEntry.toHeader(askers));
  }

  void send() {
    var remaining = Duration.ofNanos(Math.max(1, deadline - nodeContext.clock().nanoTime()));
    attempts++;
    holder = Optional.empty();
    restartSilence();
    if (attempts == 1) nodeContext.requests().addSent(messageId, this);
    headers.put(Destination.TIME_LEFT, Long.toString(Math.max(1, remaining.toMillis())));
    if (destination.epoch().get() > 0) headers.put(Destination.EPOCH, Long.toString(destination.epoch().get()));
    try {
      nodeContext.transport()
          .request(WireMessage.oneWay(destination.subject(), headers, outbound.body()),
              remaining.minus(timeoutMargin(remaining)))
          .whenComplete(this::onEnd);
    } catch (RuntimeException failure) {
      answer.completeExceptionally(failure);
    }
  }

  /**
   * Returns the difference between the asker's limit and the shorter limit on the network. Because
   * of it, a time-out on the network can report its reason before the asker stops waiting. The
   * limit of the handler is shorter by twice this time: see {@link Destination#handlerLimit}.
   */
  private static Duration timeoutMargin(Duration remaining) {
    return Duration.ofMillis(Math.min(remaining.toMillis() / 2, Math.clamp(remaining.toMillis() / 40, 5, 50)));
  }

  /**
   * Cancels the request, because its asker has stopped waiting. A node that has not begun to handle
   * the request does not begin.
   */
  void cancel() {
    if (answer.cancel(false)) sendCancel();
  }

  private void sendCancel() {
    try {
      nodeContext.transport()
          .publish(WireMessage.oneWay(destination.cancelSubject(),
              Map.of(Destination.MESSAGE_ID, messageId), new byte[0]));
    } catch (TransportException failure) {
      SafeLogger.of(Cluster.class).debug("the cancellation of a request to actor '{}' was not sent",
          outbound.address().actor(), failure);
    }
  }

  // ---- keep-alives, and their absence; see RequestKeepAlive

  @Override
  public void restartSilence() {
    lastKeepAliveAt = nodeContext.clock().nanoTime();
  }

  @Override
  public void onKeepAlive(String node) {
    holder = Optional.of(node);
    restartSilence();
  }

  @Override
  public void failIfSilent(long now, Duration maxSilence) {
    long silentNanos = now - lastKeepAliveAt;
    if (silentNanos <= maxSilence.toNanos()) return;
    if (answer.completeExceptionally(silenceException(silentNanos))) sendCancel();
  }

  private UnavailableException silenceException(long silentNanos) {
    String actor = outbound.address().actor();
    String silence = Durations.textOfNanos(silentNanos);
    String holderText = holder.map(node -> "node '" + node + "', which had it, has not confirmed that for " + silence)
        .orElse("no node has confirmed for " + silence + " that it has the request");
    return new UnavailableException(describeRequest() + " to actor '" + actor + "' has no answer, and " + holderText
        + ": a node ended, a connection broke, or a message was lost. " + (outbound.address().storesMessages()
            ? "If it was stored, it will be handled; ask again with the same id for the answer"
            : "It may have been handled"),
        actor, outbound.request(), null, RequestOutcome.UNKNOWN);
  }

  // ---- the end

  private void onEnd(WireMessage wire, Throwable failure) {
    try {
      if (failure == null) destination.onAnswer(wire);
      boolean hasNoReceiver = failure == null ? ReplyCodec.isWithdrawn(wire) : kindOf(failure) == Failure.NO_RECEIVER;
      if (hasNoReceiver && !answer.isDone() && destination.absenceReason().get().isEmpty()
          && nodeContext.clock().nanoTime() + pause.toNanos() - deadline < 0)
        sendLater();
      else if (failure == null) ReplyCodec.completeAsker(answer, outbound, wire, nodeContext);
      else answer.completeExceptionally(toAskerException(failure));
    } catch (Throwable decodeFailure) { // the codec failed, or memory ran out
      answer.completeExceptionally(ReplyCodec.unreadableAnswer(outbound, decodeFailure, nodeContext));
    }
  }

  private void sendLater() {
    try {
      nodeContext.clock().schedule(pause, this::sendAgain);
    } catch (RuntimeException refusal) { // the clock may be user code
      String actor = outbound.address().actor();
      answer.completeExceptionally(new UnavailableException(describeRequest() + " did not reach actor '" + actor
          + "', and no timer could be set to send it again: " + Lines.message(refusal), actor, outbound.request(),
          refusal, RequestOutcome.NOT_DONE));
    }
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

  private Throwable toAskerException(Throwable failure) {
    String actor = outbound.address().actor();
    Request<?, R> request = outbound.request();
    if (kindOf(failure) == Failure.TIMED_OUT)
      return new AskTimeoutException("actor '" + actor + "' did not answer " + describeRequest()
          + " within " + Durations.text(limit) + ": " + holder.map(node -> "node '" + node + "' had it "
              + Durations.textOfNanos(nodeContext.clock().nanoTime() - lastKeepAliveAt) + " ago")
              .orElse("the request was sent, and no node has confirmed that it has the request")
          + "; the request may still be handled", actor, request, limit, null);
    String reason = kindOf(failure) == Failure.NO_RECEIVER
        ? destination.absenceReason().get().orElse("at the moment no node owns its partition") : Lines.message(failure);
    return new UnavailableException(describeRequest() + " did not reach actor '" + actor + "': " + reason, actor,
        request, failure,
        kindOf(failure) == Failure.UNKNOWN ? RequestOutcome.UNKNOWN : RequestOutcome.NOT_DONE);
  }

  /** {@return the text by which exceptions name the request} */
  private String describeRequest() {
    return nodeContext.describeRequest(outbound.describedMessage());
  }
}

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
 * A request that was sent to another node. Where nobody gets it, it was certainly not handled:
 * while a part of the keys moves from node to node, it is sent again.
 */
final class RemoteRequest<R> {
  private static final Duration INITIAL_BACKOFF = Duration.ofMillis(2); // then twice as long
  private static final Duration MAX_BACKOFF = Duration.ofMillis(100);

  private final NodeContext nodeContext;
  private final Route route;
  private final RemoteSender.OutboundRequest<R> sent;
  private final Duration limit;
  private final long deadline;
  private final Map<String, String> headers;
  private final CompletableFuture<R> answer = new CompletableFuture<>();
  private final Object jfrEvent = ClusterEvents.beginRequest(); // null: it is not
  private Duration pause = INITIAL_BACKOFF; // of one sending after the other
  private int attempts; // how often it was sent; used by the actor's thread, too
  private volatile long lastHeard; // when it was sent, or last claimed
  private volatile Optional<String> holder = Optional.empty(); // the node that last claimed it

  RemoteRequest(NodeContext nodeContext, Route route, RemoteSender.OutboundRequest<R> sent, Duration limit) {
    this.nodeContext = nodeContext;
    this.route = route;
    this.sent = sent;
    this.limit = limit;
    this.deadline = nodeContext.clock().nanoTime() + Math.min(Long.MAX_VALUE / 2, limit.toNanos());
    this.headers = sent.headers(route);
    if (jfrEvent != null) answer.whenComplete(
        (value, failure) -> ClusterEvents.endRequest(jfrEvent, sent.to().actor(), sent.request(), attempts, failure));
  }

  CompletableFuture<R> answer() {
    return answer;
  }

  void addAskers(List<String> askers) {
    if (!askers.isEmpty()) headers.put(Route.ASKERS, AskChainEntry.header(askers));
  }

  void send() {
    var left = Duration.ofNanos(Math.max(1, deadline - nodeContext.clock().nanoTime()));
    attempts++;
    holder = Optional.empty();
    onSent();
    if (attempts == 1) nodeContext.pendingRequests().addSent(headers.get(Route.ID), this);
    headers.put(Route.TIME_LEFT, Long.toString(Math.max(1, left.toMillis())));
    if (route.epoch().get() > 0) headers.put(Route.EPOCH, Long.toString(route.epoch().get()));
    try {
      nodeContext.engine()
          .request(WireMessage.to(route.subject(), headers, sent.body()), left.minus(marginBefore(left)))
          .whenComplete(this::onEnd);
    } catch (RuntimeException unsendable) {
      answer.completeExceptionally(unsendable);
    }
  }

  /**
   * How much earlier than its asker a request stops waiting, so that it can say why. The handler
   * stops twice as early: see {@link RemoteSender#limit}.
   */
  private static Duration marginBefore(Duration left) {
    return Duration.ofMillis(Math.min(left.toMillis() / 2, Math.clamp(left.toMillis() / 40, 5, 50)));
  }

  /**
   * Says that the answer is not awaited any more. A node that has not begun to handle it need not.
   */
  void giveUp() {
    if (answer.cancel(false)) sendCancel();
  }

  private void sendCancel() {
    try {
      nodeContext.engine()
          .publish(WireMessage.to(route.cancelSubject(), Map.of(Route.ID, headers.get(Route.ID)), new byte[0]));
    } catch (TransportException cut) {
      LoggerFactory.getLogger(Cluster.class).debug("a request to actor '{}' is not taken back", sent.to().actor(), cut);
    }
  }

  // ---- while it waits; the class comment of Claims says why this is safe

  void onSent() {
    lastHeard = nodeContext.clock().nanoTime();
  }

  void onClaimed(String by) {
    holder = Optional.of(by);
    onSent();
  }

  /** If no node has claimed it for so long, it fails. */
  void failIfSilent(long now, Duration silence) {
    long silent = now - lastHeard;
    if (silent <= silence.toNanos()) return;
    if (answer.completeExceptionally(silenceException(silent))) sendCancel();
  }

  private UnreachableException silenceException(long silent) {
    String actor = sent.to().actor();
    String time = Durations.textOfNanos(silent);
    String who = holder.map(node -> "node '" + node + "', which had it, has not been heard of for " + time)
        .orElse("no node has said for " + time + " that it has it");
    return new UnreachableException(describeRequest() + " to actor '" + actor + "' has no answer, and " + who
        + ": its node ended, or a connection broke. " + (sent.to().storesMessages()
            ? "If it was stored, it will be handled; ask again with the same id for the answer"
            : "It may have been handled"),
        actor, sent.request(), null, Outcome.UNKNOWN);
  }

  // ---- its end

  private void onEnd(WireMessage wire, Throwable failure) {
    if (failure == null) route.onAnswer(wire);
    try {
      boolean nobody = failure == null ? ReplyCodec.isGone(wire) : loss(failure) == Failure.NO_RECEIVER;
      if (nobody && !answer.isDone() && route.absenceReason().get().isEmpty()
          && nodeContext.clock().nanoTime() + pause.toNanos() - deadline < 0)
        sendLater();
      else if (failure == null) ReplyCodec.completeAsker(answer, sent, wire, nodeContext);
      else answer.completeExceptionally(toLossException(failure));
    } catch (Throwable unreadable) { // of a codec, or of memory
      answer.completeExceptionally(new UnreachableException("the answer of actor '" + sent.to().actor()
          + "' to " + describeRequest() + " cannot be read", sent.to().actor(), sent.request(), unreadable,
          Outcome.UNKNOWN));
    }
  }

  private void sendLater() {
    nodeContext.clock().schedule(pause, this::sendAgain);
    var next = pause.multipliedBy(2);
    pause = next.compareTo(MAX_BACKOFF) < 0 ? next : MAX_BACKOFF;
  }

  /** Its asker may have given up meanwhile. */
  private void sendAgain() {
    if (!answer.isDone()) send();
  }

  private static Failure loss(Throwable failure) {
    return failure instanceof TransportException lost ? lost.failure() : Failure.UNKNOWN;
  }

  private Throwable toLossException(Throwable failure) {
    String actor = sent.to().actor();
    Request<?, R> request = sent.request();
    if (loss(failure) == Failure.TIMED_OUT)
      return new AskTimeoutException("actor '" + actor + "' did not answer " + describeRequest()
          + " within " + Durations.text(limit) + ": " + holder.map(node -> "node '" + node + "' had it "
              + Durations.textOfNanos(nodeContext.clock().nanoTime() - lastHeard) + " ago")
              .orElse("it was sent, and no node has said so far that it has it")
          + "; it may be handled all the same", actor, request, limit, null);
    String why = loss(failure) == Failure.NO_RECEIVER
        ? route.absenceReason().get().orElse("at the moment no node has its key") : Lines.message(failure);
    return new UnreachableException(describeRequest() + " did not reach actor '" + actor + "': " + why, actor, request,
        failure,
        loss(failure) == Failure.UNKNOWN ? Outcome.UNKNOWN : Outcome.NOT_DONE);
  }

  /** How an exception names the request. */
  private String describeRequest() {
    return nodeContext.describeRequest(sent.describedMessage());
  }
}

package io.fibry.cluster;

import io.fibry.AskTimeoutException;
import io.fibry.Request;
import io.fibry.cluster.LostException.Loss;
import io.fibry.text.Lines;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.slf4j.LoggerFactory;

/**
 * A request on its way. Where nobody gets it, it was certainly not handled: while a part of the
 * keys moves from node to node, it is sent again.
 */
final class FarRequest<R> {
  private static final Duration FIRST_PAUSE = Duration.ofMillis(2); // then twice as long
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(100);

  private final Surroundings around;
  private final Route route;
  private final Relay.Sent<R> sent;
  private final Duration limit;
  private final long end;
  private final Map<String, String> headers;
  private final CompletableFuture<R> answer = new CompletableFuture<>();
  private final Object recorded = Recorder.beginRequest(); // null: it is not
  private Duration pause = FIRST_PAUSE; // of one sending after the other
  private int times; // it was sent; likewise

  FarRequest(Surroundings around, Route route, Relay.Sent<R> sent, Duration limit) {
    this.around = around;
    this.route = route;
    this.sent = sent;
    this.limit = limit;
    this.end = around.clock().nanoTime() + Math.min(Long.MAX_VALUE / 2, limit.toNanos());
    this.headers = sent.headers(route);
    if (recorded != null) answer.whenComplete(
        (value, failure) -> Recorder.endRequest(recorded, sent.to().actor(), sent.request(), times, failure));
  }

  CompletableFuture<R> answer() {
    return answer;
  }

  void askedBy(List<String> askers) {
    if (!askers.isEmpty()) headers.put(Route.ASKERS, Asker.header(askers));
  }

  void send() {
    var left = Duration.ofNanos(Math.max(1, end - around.clock().nanoTime()));
    times++;
    headers.put(Route.TIME_LEFT, Long.toString(Math.max(1, left.toMillis())));
    try {
      around.engine().request(Wire.to(route.subject(), headers, sent.body()), left).whenComplete(this::ended);
    } catch (RuntimeException unsendable) {
      answer.completeExceptionally(unsendable);
    }
  }

  /** Nobody waits for its answer. Who has not begun with it need not. */
  void giveUp() {
    var id = headers.get(Route.ID);
    if (id == null || answer.isDone()) return;
    answer.cancel(false);
    try {
      around.engine().publish(Wire.to(route.takingBack(), Map.of(Route.ID, id), new byte[0]));
    } catch (LostException cut) {
      LoggerFactory.getLogger(Cluster.class).debug("a request to actor '{}' is not taken back", sent.to().actor(), cut);
    }
  }

  private void ended(Wire wire, Throwable failure) {
    try {
      boolean nobody = failure == null ? Outcome.isGone(wire) : loss(failure) == Loss.NOBODY;
      if (nobody && !answer.isDone() && route.absent().get().isEmpty()
          && around.clock().nanoTime() + pause.toNanos() - end < 0)
        sendLater();
      else if (failure == null) Outcome.tell(answer, sent, wire, around);
      else answer.completeExceptionally(lost(failure));
    } catch (Throwable unreadable) { // of a codec, or of memory
      answer.completeExceptionally(new UnreachableException("the answer of actor '" + sent.to().actor()
          + "' to " + asked() + " cannot be read", sent.to().actor(), sent.request(), unreadable, true));
    }
  }

  private void sendLater() {
    around.clock().after(pause, this::send);
    var next = pause.multipliedBy(2);
    pause = next.compareTo(LONGEST_PAUSE) < 0 ? next : LONGEST_PAUSE;
  }

  private static Loss loss(Throwable failure) {
    return failure instanceof LostException lost ? lost.loss() : Loss.UNKNOWN;
  }

  private Throwable lost(Throwable failure) {
    String actor = sent.to().actor();
    Request<?, R> request = sent.request();
    if (loss(failure) == Loss.LATE) return new AskTimeoutException("actor '" + actor
        + "' on another node has not answered " + asked() + " in time; it may handle it all the same", actor, request,
        limit, null);
    String why = loss(failure) == Loss.NOBODY
        ? route.absent().get().orElse("at the moment no node has its key") : Lines.message(failure);
    return new UnreachableException(asked() + " did not reach actor '" + actor + "': " + why, actor, request, failure,
        loss(failure) == Loss.UNKNOWN);
  }

  /** How an exception names the request. */
  private String asked() {
    return around.asked(sent.named());
  }
}

package io.fibry.flow;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.block.Throwables;
import io.fibry.mailbox.Mailbox;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.Lines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;

/**
 * One request to many actors. The caller asks a helper actor, which runs on the caller's thread,
 * sends the requests and promises their outcome. So the limit, an interrupt and exceptions have the
 * same effect as in any {@code ask}, and the requests carry the caller's context. The scope of the
 * first actor supplies the clock, and its options decide whether texts may show messages.
 */
final class MultiAskRun<M, R> {
  // limits the suppressed failures of an exception: an actor may throw the same exception object
  // for each request, and each request adds failures to it
  private static final int MAX_SUPPRESSED = 10;
  private static final int MAX_NAMES = 10; // actors that a text names

  private final List<ActorWithReturn<M, R>> actors = new ArrayList<>();
  private final M message;
  private final Duration limit;
  private final List<CompletableFuture<R>> requests = Collections.synchronizedList(new ArrayList<>());
  private final List<Throwable> failures = new ArrayList<>(); // guarded by this

  MultiAskRun(Collection<? extends ActorWithReturn<M, R>> actors, M message, Duration limit) {
    for (var actor : Objects.requireNonNull(actors, "actors"))
      this.actors.add(Objects.requireNonNull(actor, "an actor"));
    this.message = Objects.requireNonNull(message, "message");
    this.limit = Objects.requireNonNull(limit, "limit");
  }

  List<R> askAll() {
    if (actors.isEmpty()) return List.of();
    var answers = new AtomicReferenceArray<R>(actors.size());
    var unansweredCount = new AtomicInteger(actors.size());
    var outcome = new CompletableFuture<List<R>>();
    return ask(outcome, (index, answer, failure) -> {
      if (failure != null) fail(outcome, failure);
      else {
        answers.set(index, answer);
        if (unansweredCount.decrementAndGet() == 0)
          outcome.complete(IntStream.range(0, answers.length()).mapToObj(answers::get).toList());
      }
    });
  }

  R askFirst() {
    if (actors.isEmpty()) throw new IllegalArgumentException("no actors, so none can answer first; give at least one");
    var outcome = new CompletableFuture<R>();
    return ask(outcome, (index, answer, failure) -> {
      if (failure == null) outcome.complete(answer);
      else if (addFailure(failure) == actors.size()) fail(outcome, addFailuresTo(failures.getFirst()));
    });
  }

  /** Fails the outcome. The failure is wrapped once, because {@code replyWhen} unwraps it once. */
  private static void fail(CompletableFuture<?> outcome, Throwable failure) {
    outcome.completeExceptionally(new CompletionException(failure));
  }

  private synchronized int addFailure(Throwable failure) {
    failures.add(failure);
    return failures.size();
  }

  private synchronized <E extends Throwable> E addFailuresTo(E thrown) {
    for (var failure : failures)
      if (failure != thrown && thrown.getSuppressed().length < MAX_SUPPRESSED) thrown.addSuppressed(failure);
    return thrown;
  }

  private interface AnswerHandler<R> {
    void handle(int index, R answer, Throwable failure);
  }

  private <A> A ask(CompletableFuture<A> outcome, AnswerHandler<R> handler) {
    var helperBuilder = BlockBuilder.of(ActorSystem.beside(actors.getFirst())).inOuterScope().strategy(Strategy.CALLER)
        .mailbox(Mailbox.unbounded()).onFailure(FailurePolicy.resume().withoutLog());
    var helper = helperBuilder.newActor((MultiAskRequest<A> question, ActorContext<MultiAskRequest<A>> context) -> {
      for (var actor : actors) {
        int index = requests.size();
        var request = actor.sendMessageReturn(message);
        requests.add(request);
        request.whenComplete((answer, failure) -> handler.handle(index, answer, Throwables.unwrap(failure)));
      }
      context.replyWhen(question, outcome);
    });
    try {
      return helper.ask(new MultiAskRequest<A>(this), limit);
    } catch (AskTimeoutException timeout) {
      timeout.getMessage(); // makes the text now, because requests that are cancelled below would count as answered
      throw addFailuresTo(timeout);
    } finally {
      for (var request : requests) request.cancel(true);
    }
  }

  private record MultiAskRequest<A>(MultiAskRun<?, ?> multiAsk) implements Request<MultiAskRequest<A>, A> {
    @Override
    public String toString() {
      return Lines.text(multiAsk.message) + " (sent to " + Lines.count(multiAsk.actors.size(), "actor")
          + "; no answer from "
          + multiAsk.unansweredNames() + ")";
    }
  }

  /**
   * Returns the names of the actors that have not answered, for a text. Threads that describe a
   * waiting caller call this method, too.
   */
  private String unansweredNames() {
    var names = IntStream.range(0, actors.size()).filter(i -> i >= requests.size() || !requests.get(i).isDone())
        .mapToObj(i -> actors.get(i).name()).toList();
    return String.join(", ", names.subList(0, Math.min(names.size(), MAX_NAMES)))
        + (names.size() > MAX_NAMES ? " and " + (names.size() - MAX_NAMES) + " more" : "");
  }
}

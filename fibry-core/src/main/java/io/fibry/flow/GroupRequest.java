package io.fibry.flow;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;

/**
 * One question to many actors. Who asks waits for one request of his own, to an actor that sends
 * theirs, on his thread, and promises what comes of them: so a limit, an interrupt and an exception
 * mean what they mean to every {@code ask}, and requests take along what they take along from his
 * thread.
 */
final class GroupRequest<M, R> {
  // suppressed, or one object thrown for ever would grow for ever; and names in a text
  private static final int MOST = 10;

  private final List<ActorWithReturn<M, R>> actors = new ArrayList<>();
  private final M message;
  private final Duration limit;
  private final List<CompletableFuture<R>> requests = new ArrayList<>(); // sent so far; who asks
  // in the order they came; guarded by itself
  private final List<Throwable> failures = new ArrayList<>();

  GroupRequest(Collection<? extends ActorWithReturn<M, R>> actors, M message, Duration limit) {
    for (var actor : Objects.requireNonNull(actors, "actors"))
      this.actors.add(Objects.requireNonNull(actor, "an actor"));
    this.message = Objects.requireNonNull(message, "message");
    this.limit = Objects.requireNonNull(limit, "limit");
  }

  List<R> all() {
    if (actors.isEmpty()) return List.of();
    var answers = new AtomicReferenceArray<R>(actors.size());
    var missing = new AtomicInteger(actors.size());
    var outcome = new CompletableFuture<List<R>>();
    return ask(outcome, (number, answer, failure) -> {
      if (failure != null) fail(outcome, failure);
      else {
        answers.set(number, answer);
        if (missing.decrementAndGet() == 0)
          outcome.complete(IntStream.range(0, answers.length()).mapToObj(answers::get).toList());
      }
    });
  }

  R first() {
    if (actors.isEmpty()) throw new IllegalArgumentException("of no actors none can answer first; give at least one");
    var outcome = new CompletableFuture<R>();
    return ask(outcome, (number, answer, failure) -> {
      if (failure == null) outcome.complete(answer);
      else if (failed(failure) == actors.size()) fail(outcome, withFailures(failures.getFirst()));
    });
  }

  /** Wrapped, as the JDK does it: a promise that fails is unwrapped, whatever is inside. */
  private static void fail(CompletableFuture<?> outcome, Throwable failure) {
    outcome.completeExceptionally(new CompletionException(failure));
  }

  private int failed(Throwable failure) {
    synchronized (failures) {
      failures.add(failure);
      return failures.size();
    }
  }

  private <E extends Throwable> E withFailures(E thrown) {
    synchronized (failures) {
      for (var failure : failures)
        if (failure != thrown && thrown.getSuppressed().length < MOST) thrown.addSuppressed(failure);
    }
    return thrown;
  }

  /** Is told what became of a request. */
  private interface Told<R> {
    void of(int number, R answer, Throwable failure);
  }

  private <A> A ask(CompletableFuture<A> outcome, Told<R> told) {
    var silent = ActorSystem.anonymous().strategy(Strategy.CALLER).mailbox(Mailbox.unbounded())
        .onFailure(FailurePolicy.goOn().withoutLog());
    var asker = silent.newActor((Question<A> question, ActorContext<Question<A>> context) -> {
      for (var actor : actors) {
        int number = requests.size();
        var request = actor.sendMessageReturn(message);
        requests.add(request);
        // wrapped is what the JDK would take for its own
        request.whenComplete((answer, failure) -> told.of(number, answer,
            failure instanceof CompletionException wrapped ? wrapped.getCause() : failure));
      }
      context.replyWhen(question, outcome);
    });
    try {
      return asker.ask(new Question<A>(this), limit);
    } catch (AskTimeoutException late) {
      throw withFailures(late); // which did not count, as long as somebody might have answered
    } finally {
      for (var request : requests) request.cancel(true);
    }
  }

  /** Stands for all the requests: its text says whose answers are missing. */
  private record Question<A>(GroupRequest<?, ?> gather) implements Request<Question<A>, A> {
    @Override
    public String toString() {
      return gather.message + " (of " + gather.actors.size() + " actors; not answered by " + gather.missing() + ")";
    }
  }

  private List<String> missing() {
    return IntStream.range(0, actors.size()).filter(i -> i >= requests.size() || !requests.get(i).isDone())
        .mapToObj(i -> actors.get(i).name()).limit(MOST).toList();
  }
}

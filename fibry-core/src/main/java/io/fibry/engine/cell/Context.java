package io.fibry.engine.cell;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.NoReplyException;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.actor.GuardedCell;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The message being handled, and what its handler may do beside its work. All fields are the
 * handler's thread's, where not said otherwise.
 */
public abstract class Context implements ActorContext<Object> {
  /** A request that this handler was given, by its message. */
  public record Given(Object message, RequestFuture<?> asked) {}

  public final ActorCell cell;
  // whose this is; written before the cell points here, or, by a resident one, before it looks what
  // it was handed; read by who wants to interrupt or wake it
  public Thread thread;
  public Object message; // being handled; null: none
  public RequestFuture<?> asked; // being handled, where it is a request; read by a killer
  public Baggage along; // what the message takes along
  public boolean aside; // the message was put aside
  public volatile List<Given> received; // requests that the handler took by `receive`; read by a killer
  // inline only: when the answer must be there, as far as anybody asks; null: nobody does
  public Deadline limit;
  public int handled; // messages not yet in the accounts
  public Activation outer; // on whose thread, inside of whose handler, this runs; null: none
  // which message it was found at, and when; written by who looks from outside
  public volatile Snapshot.Since since;
  public volatile Snapshot look; // the last; likewise
  // what its thread waits for, the innermost handler's; written by its thread, read by who looks
  // for a ring
  public volatile Wait waits;

  public Context(ActorCell cell) {
    this.cell = cell;
  }

  public final boolean asked() {
    return asked != null;
  }

  /**
   * When the answer to what is being handled must be there; null: nobody said, or it was given and
   * nobody waits any more.
   */
  public final Deadline due() {
    var request = asked;
    // the asker of an inline one waits for its handler
    if (limit != null || request == null) return limit;
    return request.answered() && request.isDone() ? null : request.limit;
  }

  /** The handler returned, or threw; then those who wait for it are told what. */
  public final void failUnanswered(Throwable failure) {
    for (var one : received)
      if (one.asked.open()) one.asked.fail(failure != null ? failure : new NoReplyException(cell.name(), one.message));
    received = null;
  }

  private void check() {
    if (message == null || Thread.currentThread() != thread) throw new IllegalStateException("the context of actor '"
        + cell.name() + "' is valid on its handler's thread, until the handler returns; for later, keep self()");
    if (cell.phase == ActorCell.ENDED)
      throw new IllegalStateException("actor '" + cell.name() + "' was killed and cut off while this handler ran");
  }

  @Override
  public Actor<Object> self() {
    check();
    return cell.front();
  }

  /** The request with this message that waits for an answer, which is now given. */
  private RequestFuture<?> take(Object request) {
    check();
    if (asked != null && message == request && !aside && asked.answer()) return asked;
    if (received != null) for (var one : received) if (one.message == request && one.asked.answer()) return one.asked;
    throw new IllegalArgumentException("actor '" + cell.name() + "' has no request " + RequestException.shown(request)
        + " to answer: its handler was not given this very object as a request, or has answered it");
  }

  @Override
  public <R> void reply(Request<?, R> request, R value) {
    Objects.requireNonNull(value, "the answer is null; let it be an Optional");
    var taken = take(request);
    try {
      taken.finish(value);
    } catch (Throwable edge) {
      // of the stack: this came to nothing, and the handler's failure will be the answer
      taken.answered = false; // without a call: it cannot fail
      throw edge;
    }
  }

  @Override
  public void replyFailure(Request<?, ?> request, Throwable failure) {
    Objects.requireNonNull(failure, "failure");
    var taken = take(request);
    try {
      taken.fail(failure);
    } catch (Throwable edge) { // as in reply
      taken.answered = false;
      throw edge;
    }
  }

  @Override
  public <R> void replyWhen(Request<?, R> request, CompletionStage<? extends R> value) {
    Objects.requireNonNull(value, "value");
    var promised = take(request);
    var extras = cell.front().rich(); // a worker may go before the answer comes
    if (!extras.promise(promised, request)) promised.fail(cell.front().stopped(request));
    value.whenComplete((answer, failure) -> {
      if (failure != null) promised.fail(
          failure instanceof CompletionException wrapped && wrapped.getCause() != null ? wrapped.getCause() : failure);
      else if (answer == null) promised.fail(new NullPointerException(
          "the promised answer of actor '" + promised.cell.name() + "' was null; let it be an Optional"));
      else promised.finish(answer);
      extras.forget(promised);
    });
  }

  @Override
  public boolean cancelled() {
    check();
    return asked != null && (asked.isDone() || limit != null && limit.getAsBoolean());
  }

  @Override
  public <T extends Object> Optional<T> receive(Class<T> type, Duration limit) {
    return receive(type, any -> true, limit);
  }

  @Override
  public <T extends Object> Optional<T> receive(Class<T> type, Predicate<? super T> which, Duration limit) {
    var guarded = selective("receive");
    var until = limit.isZero() ? Deadline.NO_WAIT : Deadline.of(cell.scope().options().scheduler, limit);
    Predicate<Object> fits = waiting -> type.isInstance(waiting) && which.test(type.cast(waiting));
    for (Object got = guarded.receive(fits, until); got != null; got = guarded.receive(fits, until)) {
      Object given = open(got);
      if (given != null) return Optional.of(type.cast(given));
    }
    if (Thread.currentThread().isInterrupted()) throw new CancellationException(
        "actor '" + cell.name() + "' was interrupted while its handler waited for a message");
    return Optional.empty();
  }

  /** Takes the message out of a node that the handler chose; null if it was cancelled. */
  private Object open(Object got) {
    Object given;
    if (got instanceof Envelope envelope) {
      given = envelope.message;
      envelope.message = null;
    } else {
      var request = (RequestFuture<?>) got;
      given = request.begin();
      if (given == null) return null;
      if (received == null) received = new CopyOnWriteArrayList<>();
      received.add(new Given(given, request));
      if (cell.phase == ActorCell.ENDED) request.cutOff(given); // the killer may have looked before
    }
    handled++;
    return given;
  }

  @Override
  public void stash() {
    selective("stash");
    if (aside || asked != null && asked.answered())
      throw new IllegalStateException("actor '" + cell.name() + "' has answered this message or put it aside already");
    aside = true;
    since = null; // it may come again
    if (asked == null) cell.rich().aside.add(new Envelope(message, along));
    else if (putAside()) {
      cell.rich().aside.add(asked);
      if (cell.phase == ActorCell.ENDED) asked.cutOff(message); // the killer may have looked before
    } else cell.scope().countUnhandled(Reason.CANCELLED);
  }

  private boolean putAside() {
    asked.along = along;
    return asked.putAside(message);
  }

  @Override
  public void unstash() {
    selective("unstash");
    takeBack();
  }

  /** What was put aside comes back to the head of the mailbox. */
  public final void takeBack() {
    if (!(cell instanceof GuardedCell guarded)) return;
    var put = cell.rich().aside;
    guarded.putBack(new ArrayList<>(put));
    put.clear();
  }

  @Override
  public void watch(Exitable other, Function<ExitReason, ? extends Object> message) {
    check();
    Objects.requireNonNull(message, "message");
    if (other == cell.front()) throw new IllegalArgumentException("actor '" + cell.name()
        + "' cannot watch its own end: it would be told when it takes no message any more; use closeOnExit or onStop");
    cell.front().rich().watches().watch(Objects.requireNonNull(other, "other"), message);
  }

  @Override
  public void unwatch(Exitable other) {
    check();
    cell.front().rich().watches().unwatch(Objects.requireNonNull(other, "other"));
  }

  private GuardedCell selective(String verb) {
    check();
    if (cell instanceof GuardedCell guarded && guarded.selective()) return guarded;
    throw new IllegalStateException("actor '" + cell.name() + "' cannot " + verb
        + ": its mailbox does not let the handler choose; make it with .mailbox(Mailbox.unbounded().selective())");
  }
}

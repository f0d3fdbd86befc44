package io.fibry.engine.message;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.jvm.Log;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.jvm.Threads;
import io.fibry.engine.queue.Entry;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * A request: envelope and future in one object of 48 bytes.
 *
 * <p>A compare-and-set on {@code state} decides each of two races. Setting BEGUN or SETTLED first
 * decides whether the message is handled or was cancelled. Setting CHAINED or SETTLED first decides
 * where callbacks run: a drain that settles a request with callbacks completes it on another thread.
 * A thread that chains a callback after SETTLED first waits until the drain has finished with the
 * request, a few instructions later, so the callback runs on its own thread. The result alone is not
 * enough to wait for, because the drain looks for callbacks after setting it. So no callback runs on
 * the actor's thread in its turn.
 */
public final class RequestFuture<R> extends CompletableFuture<R> implements Deadline.Pending<R>, Wait.Awaited {
  // 0 -> BEGUN -> BEGUN|SETTLED, or 0 -> SETTLED; BEGUN -> 0 when stashed. CHAINED is added at any
  // time before SETTLED. TOLD comes with SETTLED, or, if the drain completes it in place, after it
  private static final byte BEGUN = 1;
  private static final byte SETTLED = 2;
  private static final byte CHAINED = 4;
  private static final byte TOLD = 8; // the settling thread looks for callbacks no more, or may run them
  private static final VarHandle STATE = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "state",
      VarHandle.class, RequestFuture.class, byte.class);

  /** The actor that a request was sent to. */
  public interface Recipient extends Wait.Party {
    /** A waiting request was taken back: its place is free. */
    void withdrawn(RequestFuture<?> request, Reason reason);

    /** The answer was promised, and is not needed any more. */
    void forget(RequestFuture<?> request);

    /** Says why the answer is late. The request is still where it was. */
    Diagnosis diagnose(RequestFuture<?> request);

    /** Notes what it does now, so that a later diagnosis can say for how long. */
    void note(RequestFuture<?> request);
  }

  public final Recipient recipient;
  public Object next; // as in Envelope
  public Entry<Object> entry; // where it stands in a guarded queue; written by the asker before the offer
  public Deadline deadline; // of its `ask`; null: none, or settled before it was begun. Written as `message`
  // null once begun or settled; written by the asker before the offer, then by the winner of `state`.
  // While a drain completes the request in place: the drain's thread
  private Object message;
  public Baggage baggage; // null: none, or begun or settled; written as `message`
  private volatile byte state;
  public boolean answered; // or promised, by the handler; drain only

  public RequestFuture(Recipient recipient, Object message, Baggage baggage) {
    this.recipient = recipient;
    this.message = message;
    this.baggage = baggage;
  }

  /** Null once it was begun or settled. */
  public Object message() {
    return message;
  }

  // ---- the drain's side

  /** Claims it for handling. Null: it was cancelled, or begun before. */
  public Object begin() {
    if (!STATE.compareAndSet(this, (byte) 0, BEGUN) && !STATE.compareAndSet(this, CHAINED, (byte) (CHAINED | BEGUN)))
      return (state & (BEGUN | SETTLED)) == 0 ? begin() : null; // or `chain` came between the two steps
    Object given = message;
    message = null;
    if (baggage != null) baggage = null;
    return given;
  }

  /** The same, for a request that no other thread has seen. */
  public Object beginUnseen() {
    STATE.set(this, BEGUN);
    Object given = message;
    message = null;
    return given;
  }

  /** Whether its handler began and no answer was given or promised. */
  public boolean isOpen() {
    return (state & (BEGUN | SETTLED)) == BEGUN && !answered;
  }

  public boolean isBegun() {
    return (state & BEGUN) != 0;
  }

  /** Notes that the handler answers it, now or by a promise. False: it has before. */
  public boolean answer() {
    if (answered) return false;
    return answered = true;
  }

  /** Makes it wait again. False: it was settled meanwhile. */
  public boolean stash(Object given, Baggage with) {
    baggage = with;
    message = given;
    for (byte s = state; (s & SETTLED) == 0; s = state)
      if (STATE.compareAndSet(this, s, (byte) (s & ~BEGUN))) return true;
    message = null;
    baggage = null;
    return false;
  }

  public void finish(Object value) {
    settle(value, null);
  }

  public void fail(Throwable failure) {
    settle(null, failure);
  }

  @SuppressWarnings("unchecked") // the request's type fixes that of the answer in `ask` and `reply`
  private void settle(Object value, Throwable failure) {
    byte before = trySettle(SETTLED);
    if ((before & SETTLED) != 0) return;
    try {
      message = null;
      if ((before & CHAINED) != 0 && startedFiber(() -> set((R) value, failure))) return;
      message = Thread.currentThread(); // a callback behind `allOf` runs here, and may chain again
      set((R) value, failure);
      state = (byte) (before | SETTLED | TOLD);
    } catch (Throwable edge) { // of stack or memory: undo; the caller has more of both, and fails it
      state = before;
      throw edge;
    } finally {
      message = null;
    }
  }

  private static boolean startedFiber(Runnable completion) {
    try {
      Threads.startFiber(completion);
      return true;
    } catch (Throwable noThread) {
      return false; // better on this thread than never
    }
  }

  private void set(R value, Throwable failure) {
    if (failure == null) super.complete(value);
    // the JDK would take these two for its own: a cancelled future, and a wrapper to unwrap
    else super.completeExceptionally(failure instanceof CompletionException || failure instanceof CancellationException
        ? new CompletionException(failure) : failure);
  }

  /** Sets these bits unless SETTLED is set. Answers the bits before. */
  private byte trySettle(int bits) {
    byte s = state;
    while ((s & SETTLED) == 0 && !STATE.compareAndSet(this, s, (byte) (s | bits))) s = state;
    return s;
  }

  // ---- the asker's side

  /** Waits for the answer until the deadline, and throws what the handler threw. */
  public R await(Object asked, Deadline until, Wait.Waiter by) {
    try (var wait = publish(asked, by, false)) {
      var ring = wait == null ? null : Ring.closedBy(wait);
      if (ring != null && leave(Reason.CANCELLED, null, Refusals.CANCELLED)) throw ring.exception();
      return until.get(this);
    } catch (InterruptedException | CancellationException interrupted) { // the latter while it waited for room
      cancel(true);
      Thread.currentThread().interrupt();
      throw new CancellationException(
          "interrupted while waiting for the answer of actor '" + recipient.name() + "'; the request is cancelled");
    } catch (ExecutionException failed) {
      throw failed.getCause() == Refusals.EXPIRED ? Refusals.timeout(recipient.name(), asked, until, isBegun())
          : Refusals.rethrown(failed.getCause());
    }
  }

  /** Null: this thread runs no handler, or there is nothing to wait for. */
  private Wait publish(Object asked, Wait.Waiter by, boolean deaf) {
    if (isDone()) return null;
    Wait.prepare(recipient, asked);
    return Wait.begin(recipient, asked, this, by, deaf);
  }

  @Override
  public R park() throws InterruptedException, ExecutionException {
    return super.get();
  }

  @Override
  public R park(long nanos) throws InterruptedException, ExecutionException, TimeoutException {
    return super.get(nanos, TimeUnit.NANOSECONDS);
  }

  /** The asker makes what is thrown: its text calls the message's own code. */
  @Override
  public void expire() {
    var own = deadline;
    try {
      if (own != null && !isDone()) own.diagnosis = recipient.diagnose(this);
    } catch (Throwable edge) { // of stack or memory, or of the user's clock: the asker must be told all the same
    }
    leave(Reason.EXPIRED, null, Refusals.EXPIRED);
  }

  @Override
  public void note() {
    recipient.note(this);
  }

  /** Fails it, since the actor has ended. */
  @Override
  public boolean stop(Object asked) {
    leave(Reason.UNDELIVERED, null, recipient.stopped(asked));
    return true;
  }

  /** The same, if it waits. */
  public void stopWaiting() {
    Object waiting = message;
    if (waiting != null) stop(waiting);
  }

  /** Whether it is settled or promised, so that no handler stands in its way. */
  @Override
  public boolean isOver() {
    return answered || (state & SETTLED) != 0;
  }

  @Override
  public Entry<Object> entry() {
    return entry;
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    return leave(Reason.CANCELLED, null, Refusals.CANCELLED) || isCancelled();
  }

  @Override
  public boolean complete(R value) {
    return leave(Reason.CANCELLED, value, null);
  }

  @Override
  public boolean completeExceptionally(Throwable failure) {
    return leave(Reason.CANCELLED, null, Objects.requireNonNull(failure, "failure"));
  }

  /** Takes the request out of the actor's hands. False: it was settled before. */
  private boolean leave(Reason reason, R value, Throwable failure) {
    StackProbe.probe();
    byte before = trySettle(SETTLED | TOLD);
    if ((before & SETTLED) != 0) {
      awaitResult();
      return false;
    }
    try {
      if ((before & BEGUN) == 0) {
        message = null;
        baggage = null;
        deadline = null;
        withdraw(reason);
      } else if (answered) recipient.forget(this);
      return failure == null ? super.complete(value) : super.completeExceptionally(failure);
    } catch (Throwable edge) { // of stack or memory: undo
      state = before;
      throw edge;
    }
  }

  private void withdraw(Reason reason) {
    try {
      recipient.withdrawn(this, reason);
    } catch (Throwable failure) { // of a comparator, say: the drain will skip it
      Log.LOG.error("a request that was taken back could not be taken out of the mailbox of actor '{}'",
          recipient.name(), failure);
    }
  }

  /** It is settled: the result is a few instructions away. */
  private void awaitResult() {
    Threads.pauseWhile(() -> !isDone() && (state & SETTLED) != 0, Integer.MAX_VALUE);
  }

  /**
   * The drain has set the result and looks for callbacks. Waits at most 0.1 s: a callback behind
   * {@code allOf} may hold the drain up.
   */
  private void awaitTold() {
    var waiting = Thread.currentThread();
    Threads.pauseWhile(() -> (state & (SETTLED | TOLD)) == SETTLED && message != waiting, 200);
  }

  @Override
  public CompletableFuture<R> completeAsync(Supplier<? extends R> supplier, Executor executor) {
    executor.execute(() -> {
      try {
        complete(supplier.get());
      } catch (Throwable failure) {
        completeExceptionally(failure);
      }
    });
    return this;
  }

  @Override
  public void obtrudeValue(R value) {
    throw new UnsupportedOperationException("the answer of an actor cannot be changed");
  }

  @Override
  public void obtrudeException(Throwable failure) {
    obtrudeValue(null);
  }

  // ---- chaining: the ways by which the JDK attaches a dependent

  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    chain();
    return new CompletableFuture<>();
  }

  @Override
  public CompletableFuture<R> toCompletableFuture() {
    chain();
    return this;
  }

  @Override
  public CompletionStage<R> minimalCompletionStage() {
    chain();
    return super.minimalCompletionStage();
  }

  private void chain() {
    for (byte s = state; (s & CHAINED) == 0; s = state) {
      if ((s & SETTLED) != 0) {
        awaitResult();
        awaitTold();
        return;
      }
      if (STATE.compareAndSet(this, s, (byte) (s | CHAINED))) return;
    }
  }

  // ---- waiting

  @Override
  public R get() throws InterruptedException, ExecutionException {
    try (var wait = publish(message, Wait.Waiter.current(), false)) {
      Ring.refuse(wait);
      return super.get();
    }
  }

  @Override
  public R get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
    try (var wait = publish(message, Wait.Waiter.current(), false)) {
      Ring.refuse(wait);
      return super.get(timeout, unit);
    }
  }

  @Override
  public R join() {
    try (var wait = publish(message, Wait.Waiter.current(), true)) {
      Ring.refuse(wait);
      return super.join();
    }
  }
}

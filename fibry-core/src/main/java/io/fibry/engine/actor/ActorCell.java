package io.fibry.engine.actor;

import io.fibry.Actor;
import io.fibry.ActorStoppedException;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.Handler;
import io.fibry.MailboxFullException;
import io.fibry.Request;
import io.fibry.Sink;
import io.fibry.engine.cell.Activation;
import io.fibry.engine.cell.Behaviour;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.Dispatch;
import io.fibry.engine.cell.PlainQueue;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.Events;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;

/**
 * The one object behind {@link Actor}, {@link ActorWithReturn} and {@link Sink}: 40 bytes. This
 * class is their public side; how messages wait is {@link PlainQueue}, how the right to run becomes
 * a thread is {@link Dispatch}, what a thread does with it is {@link Activation}, how it lives and
 * ends is {@link Cell}.
 */
public class ActorCell extends Cell implements ActorWithReturn<Object, Object>, Sink<Object> {
  public ActorCell(Behaviour behaviour) {
    super(behaviour);
  }

  // ---- sending

  @Override
  public boolean sendMessage(Object message) {
    return accepted(message, offer(Objects.requireNonNull(message, "message"), Baggage.of(this)));
  }

  @Override
  public boolean execAsync(Handler<Object> code) {
    return sendMessage(Objects.requireNonNull(code, "code"));
  }

  @Override
  public void execute(Runnable task) {
    if (!send(new Envelope(new Envelope.Control(Objects.requireNonNull(task, "task")), Baggage.of(this)),
        Deadline.NONE))
      throw new RejectedExecutionException(
          "actor '" + name() + "' did not take the task: " + (phase <= OPEN ? "its mailbox is full" : "it has ended"));
  }

  /** Takes in what must neither wait nor be dropped: news that the actor asked for. */
  public final void admit(Object message) {
    accepted(message, admit(new Envelope(message, Baggage.stamp())));
  }

  public final boolean send(Envelope envelope, Deadline limit) {
    Object message = envelope.message;
    var refusal = offer(envelope, message, limit);
    if (refusal != null) envelope.message = null; // it does not wait: who repeats it looks here
    return accepted(message, refusal);
  }

  private boolean accepted(Object message, Reason refusal) {
    if (refusal != null)
      scope().deadLetter(this, message, refusal == Reason.CANCELLED ? Reason.REJECTED : refusal, null);
    return refusal == null;
  }

  @Override
  public boolean sendMessages(List<?> block) {
    var messages = List.of(named(block.toArray(), "a message of the block"));
    if (messages.isEmpty()) return phase <= OPEN;
    var refusal = offerBlock(messages, Baggage.of(this));
    if (refusal != null) for (var message : messages) accepted(message, refusal);
    return refusal == null;
  }

  @Override
  @SuppressWarnings("unchecked") // the answer is of the request's type: `reply` is typed by it
  public <Q extends Object, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request) {
    return (CompletableFuture<R>) request(request, Deadline.NONE);
  }

  @Override
  public CompletableFuture<Object> sendMessageReturn(Object message) {
    return request(message, Deadline.NONE);
  }

  @Override
  @SuppressWarnings("unchecked") // the code's own type
  public <R> CompletableFuture<R> execFuture(Handler.Returning<Object, R> code) {
    return (CompletableFuture<R>) request(Objects.requireNonNull(code, "code"), Deadline.NONE);
  }

  public final RequestFuture<Object> request(Object message, Deadline limit) {
    var asked = new RequestFuture<>(this, Objects.requireNonNull(message, "message"), Baggage.of(this));
    if (limit.isBounded()) asked.limit = limit;
    var refusal = offer(asked, message, limit);
    if (refusal != null) refuse(asked, message, refusal);
    // cut off after we looked: the killer's walk may have missed it
    else if (phase == ENDED) asked.cutOff(message);
    return asked;
  }

  private void refuse(RequestFuture<?> asked, Object message, Reason refusal) {
    if (refusal == Reason.CANCELLED) asked.cancel(false);
    else if (refusal == Reason.EXPIRED) asked.expire();
    else {
      scope().countUnhandled(refusal);
      asked.fail(refusal == Reason.UNDELIVERED ? stopped(message) : full(asked, message));
    }
  }

  private static <T> T[] named(T[] several, String what) {
    for (var one : several) Objects.requireNonNull(one, what);
    return several;
  }

  // ---- asking

  @Override
  @SuppressWarnings("unchecked") // as in sendMessageReturn
  public <Q extends Object, R> R ask(Request<Q, R> request) {
    return (R) ask((Object) request);
  }

  @Override
  @SuppressWarnings("unchecked") // as in sendMessageReturn
  public <Q extends Object, R> R ask(Request<Q, R> request, Duration limit) {
    return (R) ask((Object) request, limit);
  }

  @Override
  @SuppressWarnings("unchecked") // the code's own type
  public <R> R ask(Handler.Returning<Object, R> code) {
    return (R) ask((Object) Objects.requireNonNull(code, "code"));
  }

  @Override
  @SuppressWarnings("unchecked") // the code's own type
  public <R> R ask(Handler.Returning<Object, R> code, Duration limit) {
    return (R) ask((Object) Objects.requireNonNull(code, "code"), limit);
  }

  @Override
  public Object ask(Object message) {
    if (behaviour.how.inline()) {
      Object answer = Dispatch.inline(this, Objects.requireNonNull(message, "message"));
      if (answer != null) return answer;
    }
    return ask(message, scope().options().askLimit);
  }

  @Override
  public Object ask(Object message, Duration limit) {
    var asker = Activation.CURRENT.get();
    var until = Deadline.ofAsk(this, limit, asker);
    Wait.prepare(this, message);
    if (until.isZero()) throw AskTimeoutException.before(this, message, until);
    return Events.asks() ? Events.ask(this, message, until, asker)
        : request(message, until).await(message, until, asker);
  }

  @Override
  public void execAndWait(Handler<Object> code) {
    Objects.requireNonNull(code, "code");
    Handler.Returning<Object, Object> run = object -> {
      code.handle(object);
      return Boolean.TRUE; // somebody waits: NONE would be no reply
    };
    Wait.prepare(this, code);
    request(run, Deadline.NONE).await(code, Deadline.NONE, Activation.CURRENT.get());
  }

  // ---- timers

  @Override
  public Scheduler.Timer sendMessageLater(Object message, Duration delay) {
    return TimedMessage.start(this, null, Objects.requireNonNull(message, "message"), delay, false);
  }

  @Override
  public Scheduler.Timer sendMessageLater(Object key, Object message, Duration delay) {
    return TimedMessage.start(this, Objects.requireNonNull(key, "key"), Objects.requireNonNull(message, "message"),
        delay,
        false);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(Object message, Duration period) {
    return TimedMessage.start(this, null, Objects.requireNonNull(message, "message"), period, true);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(Object key, Object message, Duration period) {
    return TimedMessage.start(this, Objects.requireNonNull(key, "key"), Objects.requireNonNull(message, "message"),
        period,
        true);
  }

  // ---- ending

  @Override
  public void askExit() {
    if (phase > OPEN) return;
    rich().because(new ExitReason.Stopped());
    shutDoor();
  }

  @Override
  public void sendPoisonPill() {
    if (phase <= OPEN) push(new Envelope(Envelope.Control.PILL));
  }

  @Override
  public void kill() {
    kill(new ExitReason.Killed());
  }

  @Override
  public void waitForExit() {
    awaitExit(null);
  }

  @Override
  public boolean waitForExit(Duration limit) {
    return awaitExit(Deadline.notNegative(limit, "limit"));
  }

  private boolean awaitExit(Duration limit) {
    var extras = rich();
    if (extras.exit().isDone()) return true;
    Wait.prepare(this, Wait.END);
    return extras.awaitExit(limit);
  }

  @Override
  public CompletableFuture<ExitReason> onExit() {
    return rich().exit();
  }

  @Override
  public ActorCell closeOnExit(AutoCloseable... resources) {
    var list = List.of(named(resources, "a resource"));
    if (!rich().closeAtEnd(list)) list.reversed().forEach(rich()::close);
    return this;
  }

  @Override
  public void close() {
    sendPoisonPill();
    if (!isCurrent()) waitForExit();
  }

  public final ActorStoppedException stopped(Object message) {
    return new ActorStoppedException(name(), message, rich().reason());
  }

  // ---- what it is

  @Override
  public String name() {
    var label = label();
    return label != null ? label : "anonymous@" + Integer.toHexString(System.identityHashCode(this));
  }

  @Override
  public String toString() {
    return "actor '" + name() + "'";
  }

  // ---- what a pool and its workers are besides

  /** Whom the user knows: a worker's pool. */
  public ActorCell front() {
    return this;
  }

  /**
   * Its workers, and this one behind them: who ends the last first leaves nobody to make workers
   * anew.
   */
  public List<ActorCell> crew() {
    return List.of(this);
  }

  public void kill(ExitReason reason) {
    if (phase != ENDED) Dispatch.kill(this, reason);
  }

  /** Whether it may end at this pill. */
  public boolean mayLeave() {
    return true;
  }

  /** Whether nothing but its hooks is left, once it is LEAVING. */
  public boolean isAtHooks() {
    return true;
  }

  /** Who is at this request, or will be. Null: nobody now. */
  public Activation workerOn(RequestFuture<?> asked) {
    return run();
  }

  /**
   * Before a back-off: with this node it is through, and it takes no other for now. Null: with
   * none.
   */
  public void resting(Object node) {}

  /** The end has come, and its thread is through. */
  public void gone() {
    scope().forget(this);
  }

  // ---- what a guarded cell does besides

  /** A request that waited was taken back: its place is free. */
  public void withdrawn(RequestFuture<?> asked, Reason reason) {
    scope().countUnhandled(reason);
  }

  public final void forget(RequestFuture<?> asked) {
    rich().forget(asked);
  }

  /** Its mailbox refused this. */
  public MailboxFullException full(RequestFuture<?> asked, Object message) {
    return new MailboxFullException(name(), message, capacity());
  }

  public int capacity() {
    return Integer.MAX_VALUE;
  }
}

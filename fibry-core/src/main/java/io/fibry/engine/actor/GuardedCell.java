package io.fibry.engine.actor;

import io.fibry.DeadLetter.Reason;
import io.fibry.MailboxFullException;
import io.fibry.engine.cell.Activation;
import io.fibry.engine.cell.Behaviour;
import io.fibry.engine.cell.Dispatch;
import io.fibry.engine.jvm.CallerRuns;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.Events;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.engine.queue.GuardedQueue;
import io.fibry.engine.queue.RankedEntry;
import io.fibry.engine.queue.MessageEntry;
import io.fibry.engine.queue.GuardedQueue.Answer;
import io.fibry.engine.queue.Entry;
import io.fibry.time.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * A cell with a guarded queue in place of the plain one: bounded, in order of priority, or chosen
 * from; or, by a {@link PoolCell}, shared.
 */
public class GuardedCell extends ActorCell {
  private final GuardedQueue<Object> queue;

  public GuardedCell(Behaviour behaviour, GuardedQueue<Object> queue) {
    super(behaviour);
    this.queue = queue;
  }

  @Override
  public Reason offer(Object message, Baggage along) {
    if (!queue.takesMessageEntries()) return super.offer(message, along);
    return phase > OPEN ? Reason.UNDELIVERED : offer(MessageEntry.<Object>of(message, along), message, Deadline.NONE);
  }

  @Override
  public Reason offer(Object node, Object message, Deadline limit) {
    if (phase > OPEN) return Reason.UNDELIVERED;
    var place = place(node, message);
    if (node instanceof RequestFuture<?> asked) asked.place = place;
    return offer(place, message, limit);
  }

  private Entry<Object> place(Object node, Object message) {
    return queue.entry(node, message, !(message instanceof Envelope.Control), this);
  }

  @Override
  public Reason offerBlock(List<?> messages, Baggage along) {
    if (queue.mailbox().ordered()) throw new UnsupportedOperationException("actor '" + name()
        + "' has a priority mailbox, which cannot keep a block together; send the messages one by one");
    if (messages.size() > queue.capacity())
      throw new IllegalArgumentException("a block of " + messages.size()
          + " messages never fits into the mailbox of actor '" + name() + "', which holds " + queue.capacity());
    if (phase > OPEN) return Reason.UNDELIVERED;
    var places = new ArrayList<Entry<Object>>(messages.size());
    for (var message : messages)
      places.add(
          queue.takesMessageEntries() ? MessageEntry.of(message, along) : place(new Envelope(message, along), message));
    return offer(Entry.block(places), messages, Deadline.NONE);
  }

  private Reason offer(Entry<Object> place, Object message, Deadline limit) {
    boolean mayWait = limit != Deadline.NO_WAIT;
    var answer = queue.enter(place, mayWait);
    if (answer == Answer.TAKEN && stranded == null) return null;
    if (answer == null) {
      StackProbe.probe();
      answer = queue.offer(place, mayWait);
    }
    try {
      heed(answer);
    } catch (Throwable edge) { // of the stack
      if (answer == Answer.RUN) stranded = Envelope.NOTHING;
    }
    for (var dropped : place.takeDropped()) drop(dropped);
    return switch (answer) {
      case TAKEN, RUN -> null;
      case BLOCKED -> {
        Object waiting = Events.beginWait();
        var refusal = awaitRoom(place, message, limit);
        Events.endWait(waiting, this, refusal);
        yield refusal;
      }
      case FULL -> {
        var refusal = queue.mailbox().drops() || limit == Deadline.NO_WAIT ? Reason.DROPPED : Reason.REJECTED;
        Events.pressure(this, refusal, place.foreseen());
        yield refusal;
      }
      case SHUT -> Reason.UNDELIVERED;
    };
  }

  private void heed(Answer answer) {
    if (answer == Answer.RUN) begin();
    if (stranded != null) Dispatch.rescue(this);
  }

  /** For who was told to run it. */
  public void begin() {
    Dispatch.begin(this, null, Envelope.NOTHING);
  }

  private Reason awaitRoom(Entry<Object> place, Object message, Deadline limit) {
    CallerRuns.beforeWait();
    var timer = (Scheduler.Timer) null;
    try (var wait = Wait.begin(this, message, place)) {
      timer = limit.waking();
      // also where somebody made room although there was a ring
      if (queue.await(place, wait == null ? limit : () -> limit.getAsBoolean() || wait.closesRing())) return null;
      if (wait != null && phase <= OPEN) wait.refuseClosed();
    } finally {
      if (timer != null) timer.cancel();
    }
    return phase > OPEN ? Reason.UNDELIVERED
        : Thread.currentThread().isInterrupted() ? Reason.CANCELLED : Reason.EXPIRED;
  }

  private void drop(Object node) {
    Events.pressure(this, Reason.DROPPED, 0);
    if (node instanceof Envelope envelope) {
      Object message = envelope.message;
      envelope.message = null;
      scope().deadLetter(this, message, Reason.DROPPED, null);
    } else {
      var asked = (RequestFuture<?>) node;
      Object message = asked.begin();
      asked.place = null;
      if (message == null) return;
      scope().countUnhandled(Reason.DROPPED);
      asked.fail(new MailboxFullException(name(), message, capacity()));
    }
  }

  @Override
  public void push(Envelope pill) {
    push(pill.message == Envelope.Control.PILL ? RankedEntry.last(pill) : RankedEntry.unranked(pill));
  }

  @Override
  public Reason admit(Envelope envelope) {
    if (phase > OPEN) return Reason.UNDELIVERED;
    push(place(envelope, envelope.message));
    return null;
  }

  private void push(Entry<Object> place) {
    StackProbe.probe();
    var answer = queue.admit(place);
    if (phase > OPEN) queue.shutDoor();
    try {
      heed(answer);
    } catch (Throwable edge) { // of the stack
      if (answer == Answer.RUN) stranded = Envelope.NOTHING;
    }
  }

  @Override
  public void leaving() {
    super.leaving();
    queue.shutDoor();
  }

  @Override
  public boolean acquire(RequestFuture<?> asked) {
    return phase == OPEN && queue.runIfIdle();
  }

  @Override
  public Object next(Activation activation, Object node) {
    while (true) {
      Object next = queue.poll();
      if (next != null) return next;
      if (activation.handled >= STREAK && queue.awaitNew()) continue;
      activation.pause();
      if (queue.release()) return null;
      activation.resume();
    }
  }

  @Override
  public void withdrawn(RequestFuture<?> asked, Reason reason) {
    super.withdrawn(asked, reason);
    var place = asked.place;
    if (place != null) {
      StackProbe.probe();
      queue.remove(place);
    }
    asked.place = null;
  }

  @Override
  public boolean isIdle() {
    return queue.isIdle();
  }

  @Override
  public int waiting(Object node, int most) {
    return queue.present() + super.waiting(node, 1); // a node that was taken out, and not begun
  }

  @Override
  public boolean waitAtMost(Object node, int most) {
    return waiting(node, most) <= most;
  }

  @Override
  public boolean first(Object node, int most, List<Object> found) {
    found.addAll(queue.waiting(most));
    return found.size() < most;
  }

  @Override
  public void failWaiting(Object node) {
    if (node instanceof RequestFuture<?> taken) cutOff(taken);
    for (var waiting : queue.waiting(Integer.MAX_VALUE)) if (waiting instanceof RequestFuture<?> asked) cutOff(asked);
  }

  @Override
  public MailboxFullException full(RequestFuture<?> asked, Object message) {
    var place = asked.place;
    long foreseen = place == null ? 0 : place.foreseen();
    return foreseen == 0 ? super.full(asked, message)
        : new MailboxFullException(name(), message, capacity(), foreseen, queue.mailbox().target());
  }

  @Override
  public int capacity() {
    return queue.capacity();
  }

  // ---- for handlers that choose

  public boolean selective() {
    return queue.mailbox().isSelective();
  }

  /** The next node whose message fits; null if none came in time. */
  public Object receive(Predicate<Object> fits, Deadline limit) {
    StackProbe.probe();
    var timer = limit == Deadline.NO_WAIT ? null : limit.waking();
    try {
      return queue.receive(node -> {
        Object message = message(node);
        return message != null && !(message instanceof Envelope.Control) && fits.test(message);
      }, limit);
    } finally {
      if (timer != null) timer.cancel();
    }
  }

  /** Puts what was put aside back before all that waits. */
  public void putBack(List<Object> nodes) {
    var places = new ArrayList<Entry<Object>>(nodes.size());
    for (var node : nodes) {
      Entry<Object> place = RankedEntry.unranked(node);
      if (node instanceof RequestFuture<?> asked) asked.place = place;
      places.add(place);
    }
    queue.putBack(places);
  }

  /**
   * What was put aside comes before all that waits, also before this node, which was taken out and
   * not begun. Answers the node to go on with.
   */
  public Object behindAside(Object node) {
    if (rich().aside.isEmpty() || !holds(node)) return node;
    putBack(List.of(node));
    return Envelope.NOTHING;
  }
}

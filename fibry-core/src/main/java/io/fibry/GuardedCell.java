package io.fibry;

import io.fibry.DeadLetter.Reason;
import io.fibry.mailbox.GuardedQueue;
import io.fibry.mailbox.GuardedQueue.Answer;
import io.fibry.mailbox.Place;
import io.fibry.time.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * A cell with a guarded queue in place of the plain one: bounded, in order of priority, or chosen
 * from; or, by a {@link PoolCell}, shared.
 */
sealed class GuardedCell extends ActorCell permits PoolCell {
  private final GuardedQueue<Object> queue;

  GuardedCell(Behaviour behaviour, GuardedQueue<Object> queue) {
    super(behaviour);
    this.queue = queue;
  }

  @Override
  Reason offer(Object message, Along along) {
    if (!queue.takesLetters()) return super.offer(message, along);
    return phase > OPEN ? Reason.UNDELIVERED : offer(Place.<Object>letter(message, along), message, Limit.NONE);
  }

  @Override
  Reason offer(Object node, Object message, Limit limit) {
    if (phase > OPEN) return Reason.UNDELIVERED;
    var place = place(node, message);
    if (node instanceof Asked<?> asked) asked.place = place;
    return offer(place, message, limit);
  }

  Place<Object> place(Object node, Object message) {
    return queue.takesLetters() ? Place.of(node)
        : message instanceof Envelope.Control ? Place.unranked(node) : Place.of(node, message);
  }

  @Override
  Reason offerBlock(List<?> messages, Along along) {
    if (queue.mailbox().ordered()) throw new UnsupportedOperationException("actor '" + name()
        + "' has a priority mailbox, which cannot keep a block together; send the messages one by one");
    if (messages.size() > queue.capacity())
      throw new IllegalArgumentException("a block of " + messages.size()
          + " messages never fits into the mailbox of actor '" + name() + "', which holds " + queue.capacity());
    if (phase > OPEN) return Reason.UNDELIVERED;
    var places = new ArrayList<Place<Object>>(messages.size());
    for (var message : messages)
      places.add(queue.takesLetters() ? Place.letter(message, along) : Place.of(new Envelope(message, along), message));
    return offer(Place.block(places), messages, Limit.NONE);
  }

  private Reason offer(Place<Object> place, Object message, Limit limit) {
    boolean mayWait = limit != Limit.NO_WAIT;
    var answer = queue.enter(place, mayWait);
    if (answer == Answer.TAKEN && stranded == null) return null;
    if (answer == null) {
      Stack.probe();
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
      case LINE -> {
        Object waiting = Events.beginWait();
        var refusal = awaitRoom(place, message, limit);
        Events.endWait(waiting, this, refusal);
        yield refusal;
      }
      case FULL -> {
        var refusal = queue.mailbox().drops() || limit == Limit.NO_WAIT ? Reason.DROPPED : Reason.REJECTED;
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
  void begin() {
    Dispatch.begin(this, null, Envelope.NOTHING);
  }

  private Reason awaitRoom(Place<Object> place, Object message, Limit limit) {
    Caller.beforeWait();
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
      var asked = (Asked<?>) node;
      Object message = asked.begin();
      asked.place = null;
      if (message == null) return;
      scope().countUnhandled(Reason.DROPPED);
      asked.fail(new MailboxFullException(name(), message, capacity()));
    }
  }

  @Override
  void push(Envelope pill) {
    push(pill.message == Envelope.Control.PILL ? Place.last(pill) : Place.unranked(pill));
  }

  @Override
  Reason admit(Envelope envelope) {
    if (phase > OPEN) return Reason.UNDELIVERED;
    push(place(envelope, envelope.message));
    return null;
  }

  private void push(Place<Object> place) {
    Stack.probe();
    var answer = queue.admit(place);
    if (phase > OPEN) queue.shutDoor();
    try {
      heed(answer);
    } catch (Throwable edge) { // of the stack
      if (answer == Answer.RUN) stranded = Envelope.NOTHING;
    }
  }

  @Override
  void leaving() {
    super.leaving();
    queue.shutDoor();
  }

  @Override
  boolean acquire(Asked<?> asked) {
    return phase == OPEN && queue.runIfIdle();
  }

  @Override
  Object next(Activation activation, Object node) {
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
  void withdrawn(Asked<?> asked, Reason reason) {
    super.withdrawn(asked, reason);
    var place = asked.place;
    if (place != null) {
      Stack.probe();
      queue.remove(place);
    }
    asked.place = null;
  }

  @Override
  boolean isIdle() {
    return queue.isIdle();
  }

  @Override
  int waiting(Object node, int most) {
    return queue.present() + super.waiting(node, 1); // a node that was taken out, and not begun
  }

  @Override
  boolean waitAtMost(Object node, int most) {
    return waiting(node, most) <= most;
  }

  @Override
  boolean first(Object node, int most, List<Object> found) {
    found.addAll(queue.waiting(most));
    return found.size() < most;
  }

  @Override
  void failWaiting(Object node) {
    if (node instanceof Asked<?> taken) cutOff(taken);
    for (var waiting : queue.waiting(Integer.MAX_VALUE)) if (waiting instanceof Asked<?> asked) cutOff(asked);
  }

  @Override
  MailboxFullException full(Asked<?> asked, Object message) {
    var place = asked.place;
    long foreseen = place == null ? 0 : place.foreseen();
    return foreseen == 0 ? super.full(asked, message)
        : new MailboxFullException(name(), message, capacity(), foreseen, queue.mailbox().target());
  }

  @Override
  int capacity() {
    return queue.capacity();
  }

  // ---- for handlers that choose

  boolean selective() {
    return queue.mailbox().isSelective();
  }

  /** The next node whose message fits; null if none came in time. */
  Object receive(Predicate<Object> fits, Limit limit) {
    Stack.probe();
    var timer = limit == Limit.NO_WAIT ? null : limit.waking();
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
  void putBack(List<Object> nodes) {
    var places = new ArrayList<Place<Object>>(nodes.size());
    for (var node : nodes) {
      Place<Object> place = Place.unranked(node);
      if (node instanceof Asked<?> asked) asked.place = place;
      places.add(place);
    }
    queue.putBack(places);
  }

  /**
   * What was put aside comes before all that waits, also before this node, which was taken out and
   * not begun. Answers the node to go on with.
   */
  Object behindAside(Object node) {
    if (rich().aside.isEmpty() || !holds(node)) return node;
    putBack(List.of(node));
    return Envelope.NOTHING;
  }
}

package io.fibry.engine.cell;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.actor.GuardedCell;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.Events;
import io.fibry.engine.message.RequestFuture;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * How messages wait for an ordinary actor: the fields of its cell that are its queue.
 * {@link GuardedCell} has another.
 *
 * The tail is both the queue and the right to run. A sender swaps its node in; who finds null
 * before it holds the right to run, everybody else links the node to the one before. Who has the
 * right, and has handled the last node, swaps the tail back to null: then nobody has it. So one
 * atomic operation a message, and no state word beside it.
 *
 * <p>Between swap and link, {@code offer} calls nothing, allocates nothing and initialises no
 * class: a StackOverflowError of the sender there would cut the queue in two, and its receiver
 * would never run again. The link is a plain write; the fence before the swap orders the message
 * before it, the fence in {@code next} orders its reading after.
 */
public abstract class PlainQueue {
  // (RENEW <->) OPEN -> ENDING -> LEAVING -> ENDED; see Life
  public static final byte RENEW = -1; // open, and to be restarted before the next message
  public static final byte OPEN = 0;
  public static final byte ENDING = 1;
  public static final byte LEAVING = 2;
  public static final byte ENDED = 3;
  public static final int STREAK = 16; // messages
  private static final int MOMENT = 64; // looks
  private static final VarHandle TAIL;
  private static final VarHandle STRANDED;

  static {
    try {
      var lookup = MethodHandles.lookup();
      TAIL = lookup.findVarHandle(PlainQueue.class, "tail", Object.class);
      STRANDED = lookup.findVarHandle(PlainQueue.class, "stranded", Object.class);
      // not between swap and link
      for (var used : List.of(Envelope.class, RequestFuture.class, Baggage.class, Events.class, Surroundings.class,
          Activation.class, Dispatch.class))
        lookup.ensureInitialized(used);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  // any thread to ENDING, who has the right to run to LEAVING, Rich.end to ENDED
  public volatile byte phase;
  // a right to run that nobody could give a thread: an Activation or a node; see Dispatch
  public volatile Object stranded;
  // null: idle; else the last node. Swapped by senders, set to null by who has the right to run
  private Object tail;

  /** Takes a message in that nobody waits for. Null: taken; else why not. */
  public Reason offer(Object message, Baggage along) {
    return offer(new Envelope(message, along), message, Deadline.NONE);
  }

  /** Takes a node in, and the message that it holds. Null: taken; else why not. */
  public Reason offer(Object node, Object message, Deadline limit) {
    if (phase > OPEN) return Reason.UNDELIVERED;
    push(node, node);
    return null;
  }

  /** Takes a block in, nothing between. */
  public Reason offerBlock(List<?> messages, Baggage along) {
    if (phase > OPEN) return Reason.UNDELIVERED;
    var first = new Envelope(messages.getFirst(), along);
    var last = first;
    for (var message : messages.subList(1, messages.size())) last.next = last = new Envelope(message, along);
    push(first, last);
    return null;
  }

  /**
   * Takes the pill in, whatever the phase; or an empty envelope, that only makes the actor look.
   */
  public void push(Envelope pill) {
    push(pill, pill);
  }

  /** Takes in what must neither wait nor be dropped. */
  public Reason admit(Envelope envelope) {
    return offer(envelope, envelope.message, Deadline.NONE);
  }

  public final void push(Object first, Object last) {
    var cell = (ActorCell) this;
    var fresh = tail == null ? Dispatch.prepare(cell, first) : null; // before the swap: see above
    VarHandle.releaseFence();
    Object previous = TAIL.getAndSet(this, last);
    if (previous instanceof Envelope envelope) envelope.next = first;
    else if (previous != null) ((RequestFuture<?>) previous).next = first;
    try {
      if (previous == null) Dispatch.begin(cell, fresh, first);
      else if (stranded != null) Dispatch.rescue(cell);
    } catch (Throwable edge) { // of the stack: it was not even entered
      if (previous == null) stranded = fresh != null ? fresh : first;
    }
  }

  /**
   * Takes the right to run for a request that does not wait, if the actor is idle and its door
   * open.
   */
  public boolean acquire(RequestFuture<?> asked) {
    return tail == null && phase == OPEN && TAIL.compareAndSet(this, null, asked);
  }

  /**
   * The node after this one. Null: there is none, and the right to run is given back. For who has
   * it.
   */
  public Object next(Activation activation, Object node) {
    Object next = linked(node);
    if (next == null && activation.handled >= STREAK) next = linger(node);
    if (next == null) {
      if (tail == node) {
        activation.pause();
        if (TAIL.compareAndSet(this, node, null)) return null;
        activation.resume();
      }
      next = awaitLink(node);
    }
    VarHandle.acquireFence();
    // or old garbage drags the new along
    if (node instanceof Envelope envelope) envelope.next = null;
    else((RequestFuture<?>) node).next = null;
    return next;
  }

  /**
   * After a streak the next one is likely to come within a moment, and a thread costs more than the
   * moment.
   */
  private static Object linger(Object node) {
    Object next = null;
    for (int tries = 0; next == null && tries < MOMENT; tries++) {
      Thread.onSpinWait();
      VarHandle.acquireFence();
      next = linked(node);
    }
    return next;
  }

  public static Object linked(Object node) {
    return node instanceof Envelope envelope ? envelope.next : ((RequestFuture<?>) node).next;
  }

  /**
   * A sender stands between its swap and its link. It may have lost its core there: 50 ms were
   * seen.
   */
  private static Object awaitLink(Object node) {
    boolean interrupted = false;
    Object next = null;
    for (int tries = 0; next == null; tries++) {
      interrupted |= backOff(tries);
      VarHandle.acquireFence();
      next = linked(node);
    }
    if (interrupted) Thread.currentThread().interrupt();
    return next;
  }

  /**
   * A moment for another thread to do its next step: longer each time, and off the carrier in the
   * end, which a yield is not. True if an interrupt was taken away, or there would have been no
   * pause.
   */
  public static boolean backOff(int tries) {
    boolean interrupted = false;
    if (tries < 64) Thread.onSpinWait();
    else if (tries < 96) Thread.yield();
    else {
      interrupted = Thread.interrupted();
      LockSupport.parkNanos(Math.min(1_000_000L, 20_000L << Math.min(6, tries - 96)));
    }
    return interrupted;
  }

  /** Takes up what lies stranded; null if nothing does, or another was first. */
  public final Object unstrand() {
    Object held = stranded;
    return held != null && STRANDED.compareAndSet(this, held, null) ? held : null;
  }

  /** Whether nobody has the right to run, so nothing waits. */
  public boolean isIdle() {
    return TAIL.getVolatile(this) == null;
  }

  /**
   * How many wait from this node on, counted up to {@code most}. What is being handled meanwhile
   * may be missed.
   */
  public int waiting(Object node, int most) {
    int count = 0;
    for (; node != null && count < most; node = linked(node)) if (holds(node)) count++;
    return count;
  }

  /**
   * Whether no more than so many wait from this node on, down to the last. False also where who
   * drains overtook who counts, and cut his way off.
   */
  public boolean waitAtMost(Object node, int most) {
    int count = 0;
    Object last = null;
    for (; node != null && count <= most; node = linked(node)) {
      if (holds(node)) count++;
      last = node;
    }
    return count <= most && last == TAIL.getVolatile(this);
  }

  /**
   * Adds the first that wait from this node on; true if there are no more. Looks at twice as many
   * at most: others may have been taken back. What is handled meanwhile ends the way.
   */
  public boolean first(Object node, int most, List<Object> found) {
    for (int looks = 0; node != null && found.size() < most && looks < 2 * most; looks++, node = linked(node))
      if (holds(node)) found.add(node);
    return node == null;
  }

  /** What a node that waits holds; null: it was begun, or taken back. */
  public static Object message(Object node) {
    return node instanceof Envelope envelope ? envelope.message : ((RequestFuture<?>) node).message();
  }

  public static boolean holds(Object node) {
    Object message = message(node);
    return message != null && message != Envelope.Control.PILL;
  }

  /** Tells those that wait from this node on, whose handler was cut off. */
  public void failWaiting(Object node) {
    for (; node != null; node = linked(node)) if (node instanceof RequestFuture<?> asked) cutOff(asked);
  }

  public static void cutOff(RequestFuture<?> asked) {
    Object message = asked.message();
    if (message != null) asked.cutOff(message);
  }
}

package io.fibry.engine.cell;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.jvm.Threads;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFuture;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;

/**
 * The mailbox of an ordinary actor: fields of its cell. Its tail is both the queue and the right to
 * run. A sender swaps its node into the tail. If the tail was null, the actor was idle, and the
 * sender now holds the right to run it; otherwise it links its node to the previous one. After the
 * last node the drain swaps the tail back to null, and the actor is idle. So a message costs one
 * atomic operation, and there is no state word.
 *
 * <p>Between swap and link a sender calls nothing, allocates nothing and initialises no class: a
 * StackOverflowError there would cut the queue in two, and the actor would never run again. The link
 * is a plain write. The fence before the swap orders the message before it; the fence in
 * {@code next} orders the reads after it.
 */
public abstract class PlainQueue {
  // OPEN <-> RENEW, OPEN -> ENDING -> LEAVING -> ENDED; see Cell
  protected static final byte RENEW = -1; // open; to be restarted before the next message
  protected static final byte OPEN = 0;
  protected static final byte ENDING = 1;
  protected static final byte LEAVING = 2;
  protected static final byte ENDED = 3;
  private static final int LOOKS = 64; // for a message that is about to come
  private static final VarHandle TAIL = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "tail",
      VarHandle.class, PlainQueue.class, Object.class);
  private static final VarHandle STRANDED = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "stranded",
      VarHandle.class, PlainQueue.class, Object.class);

  protected volatile byte phase; // any thread to ENDING, the drain to LEAVING, Termination to ENDED
  protected volatile Object stranded; // a right to run without a thread: an Activation or a node; see Dispatch
  private Object tail; // null: idle; else the last node. Senders swap it, the drain sets it to null

  // ---- what the queue needs of its actor

  /** Prepares for the right to run, which the caller is about to take. Null: nothing to prepare. */
  protected abstract Object prepare(Object first);

  /** The caller holds the right to run: gives it a thread. Throws nothing once it has been entered. */
  protected abstract void begin(Object prepared, Object first);

  /** Takes up a right to run that lies stranded, if there is one. */
  public abstract void rescue();

  // ---- senders

  /** Takes in a message that no sender waits for. Null: taken; else why not. */
  protected Reason offer(Object message, Baggage baggage) {
    return offer(new Envelope(message, baggage), message, Deadline.NONE);
  }

  /** Takes in a node. Null: taken; else why not. */
  protected Reason offer(Object node, Object message, Deadline deadline) {
    if (phase > OPEN) return Reason.UNDELIVERED;
    push(node, node);
    return null;
  }

  /** Takes in a block, with nothing between its messages. */
  protected Reason offerBlock(List<?> messages, Baggage baggage) {
    if (phase > OPEN) return Reason.UNDELIVERED;
    var first = new Envelope(messages.getFirst(), baggage);
    var last = first;
    for (var message : messages.subList(1, messages.size())) last.next = last = new Envelope(message, baggage);
    push(first, last);
    return null;
  }

  /** Takes in the pill, whatever the phase, or an empty envelope that only wakes the actor. */
  protected void push(Envelope envelope) {
    push(envelope, envelope);
  }

  /** Takes in what must neither wait nor be dropped. */
  protected Reason admit(Envelope envelope) {
    return offer(envelope, envelope.message, Deadline.NONE);
  }

  protected final void push(Object first, Object last) {
    var prepared = tail == null ? prepare(first) : null; // before the swap: see above
    VarHandle.releaseFence();
    Object previous = TAIL.getAndSet(this, last);
    if (previous instanceof Envelope envelope) envelope.next = first;
    else if (previous != null) ((RequestFuture<?>) previous).next = first;
    try {
      if (previous == null) begin(prepared, first);
      else if (stranded != null) rescue();
    } catch (Throwable edge) { // of the stack: the method was not entered
      if (previous == null) stranded = prepared != null ? prepared : first;
    }
  }

  /** Takes the right to run for a request that does not wait, if the actor is idle and open. */
  protected boolean acquire(RequestFuture<?> request) {
    return tail == null && phase == OPEN && TAIL.compareAndSet(this, null, request);
  }

  // ---- the drain

  /** The node after this one. Null: it is the last, and the drain may release the right to run. */
  protected Object next(Object node, boolean lingers) {
    Object next = linked(node);
    if (next == null && lingers) next = linger(node);
    if (next == null && tail == node) return null;
    return next == null ? awaitNext(node) : unlink(node, next);
  }

  /** Gives the right to run back at the last node. False: a sender is about to link to it. */
  protected boolean release(Object node) {
    return TAIL.compareAndSet(this, node, null);
  }

  /** The node after this one, which a sender is about to link. It may lose its core there: 50 ms were seen. */
  protected Object awaitNext(Object node) {
    boolean interrupted = false;
    Object next = linked(node);
    for (int tries = 0; next == null; tries++) {
      interrupted |= Threads.pause(tries);
      VarHandle.acquireFence();
      next = linked(node);
    }
    if (interrupted) Thread.currentThread().interrupt();
    return unlink(node, next);
  }

  /** Garbage that is old must not keep what is young. */
  private static Object unlink(Object node, Object next) {
    VarHandle.acquireFence();
    if (node instanceof Envelope envelope) envelope.next = null;
    else((RequestFuture<?>) node).next = null;
    return next;
  }

  /** After a streak the next message is likely to come soon, and a thread costs more than the wait. */
  private static Object linger(Object node) {
    Object next = null;
    for (int looks = 0; next == null && looks < LOOKS; looks++) {
      Thread.onSpinWait();
      VarHandle.acquireFence();
      next = linked(node);
    }
    return next;
  }

  protected static Object linked(Object node) {
    return node instanceof Envelope envelope ? envelope.next : ((RequestFuture<?>) node).next;
  }

  /** Takes what lies stranded. Null: nothing does, or another thread was first. */
  final Object unstrand() {
    Object held = stranded;
    return held != null && STRANDED.compareAndSet(this, held, null) ? held : null;
  }

  // ---- observers

  /** Whether no thread has the right to run, so nothing waits. */
  public boolean isIdle() {
    return TAIL.getVolatile(this) == null;
  }

  /** How many messages wait from this node on, counted up to {@code most}; may miss some in motion. */
  protected int waiting(Object node, int most) {
    int count = 0;
    for (; node != null && count < most; node = linked(node)) if (holdsMessage(node)) count++;
    return count;
  }

  /** Whether at most {@code most} wait from this node on. False also if the drain overtook the count. */
  protected boolean waitAtMost(Object node, int most) {
    int count = 0;
    Object last = null;
    for (; node != null && count <= most; node = linked(node)) {
      if (holdsMessage(node)) count++;
      last = node;
    }
    return count <= most && last == TAIL.getVolatile(this);
  }

  /**
   * Adds the first nodes that wait, from this one on. Answers whether there are no more. Looks at
   * twice {@code most} nodes at most, since some may have been taken back.
   */
  protected boolean addFirst(Object node, int most, List<Object> found) {
    for (int looks = 0; node != null && found.size() < most && looks < 2 * most; looks++, node = linked(node))
      if (holdsMessage(node)) found.add(node);
    return node == null;
  }

  /** What a waiting node holds. Null: it was begun, or taken back. */
  protected static Object message(Object node) {
    return node instanceof Envelope envelope ? envelope.message : ((RequestFuture<?>) node).message();
  }

  protected static boolean holdsMessage(Object node) {
    Object message = message(node);
    return message != null && message != Envelope.Control.PILL;
  }

  /** Fails the requests that wait from this node on: the actor was cut off. */
  protected void stopWaiting(Object node) {
    for (; node != null; node = linked(node)) if (node instanceof RequestFuture<?> request) request.stopWaiting();
  }
}

package io.fibry.engine.cell;

import io.fibry.DeadLetter.Reason;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.jvm.Rescuable;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.EngineMessage;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFuture;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;

/**
 * The unbounded queue of an ordinary actor. Its tail is also the right to run the actor.
 *
 * <p><b>States.</b> {@code tail == null}: the actor is idle, and no thread has the right to run.
 * {@code tail == n}: one drain has the right to run, or a sender that is about to start it, and
 * {@code n} is the last node. An actor is never scheduled without a node.
 *
 * <p><b>Transitions.</b>
 *
 * <pre>
 *   null -> n     sender, getAndSet(n)   the sender has the right to run and starts a drain
 *   m    -> n     sender, getAndSet(n)   the sender then sets m.next = n, and the drain finds it
 *   null -> n     closer, CAS(null, n)   {@code acquire}: a close ends an idle actor itself
 *   n    -> null  drain,  CAS(n, null)   {@code release}: after the last node
 * </pre>
 *
 * So a message costs one atomic operation, and there is at most one drain.
 *
 * <p><b>The window.</b> Between {@code getAndSet} and the link, {@code m.next} is null although
 * {@code m} is not the last node. A drain that sees this waits for the link ({@link #awaitNext}).
 * In the window a sender calls no method, allocates no memory and initializes no class: an error
 * there would cut the queue in two, and the drain would wait for ever.
 *
 * <p><b>Memory order.</b> The link is a plain write. The release fence before {@code getAndSet}
 * orders the message before the node; the acquire fence in {@code unlink} pairs with it.
 *
 * <p><b>Failure.</b> If the sender cannot start a drain, it stores the right to run in
 * {@code stranded}. It then takes its node back and throws, if no other node was added behind.
 * Otherwise the next sender, or {@link io.fibry.engine.jvm.StartRetrier}, starts the drain.
 *
 * <p><b>Refused.</b> A flag "scheduled" beside the queue: a second atomic operation per message. A
 * volatile link: 5 to 10 ns per message.
 */
abstract class PlainQueue implements Rescuable {
  // see Cell
  protected static final byte RESTARTING = -1; // open; restarts before the next message
  protected static final byte OPEN = 0;
  protected static final byte ENDING = 1;
  protected static final byte LEAVING = 2;
  protected static final byte ENDED = 3;
  private static final int SPIN_CHECKS = 64;
  private static final VarHandle TAIL = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "tail",
      VarHandle.class, PlainQueue.class, Object.class);
  private static final VarHandle STRANDED = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "stranded",
      VarHandle.class, PlainQueue.class, Object.class);

  protected volatile byte phase; // to ENDING by any thread, to LEAVING by the drain, to ENDED by Termination
  protected volatile Object stranded; // the right to run, without a thread: an Activation or a node
  private Object tail; // the last node, or null when idle. Swapped by senders, cleared by the drain

  /**
   * Called before the right to run is taken, or given back if this throws. Returns null if there is
   * nothing to prepare.
   */
  protected abstract Object prepare(Object first);

  /** The caller has the right to run, from {@code first} on. Throws nothing once entered. */
  protected abstract void begin(Object prepared, Object first);

  @Override
  public abstract void rescue();

  protected Reason offer(Object message, Baggage baggage) {
    return offer(new Envelope(message, baggage), message, Deadline.NONE);
  }

  /** Returns null if the message was taken, otherwise the reason why not. */
  protected Reason offer(Object node, Object message, Deadline deadline) {
    if (phase > OPEN) return Reason.UNDELIVERED;
    push(node, node);
    return null;
  }

  /** No other message comes between the messages of the block. */
  protected Reason offerBlock(List<?> messages, Baggage baggage) {
    if (phase > OPEN) return Reason.UNDELIVERED;
    var first = new Envelope(messages.getFirst(), baggage);
    var last = first;
    for (var message : messages.subList(1, messages.size())) last.next = last = new Envelope(message, baggage);
    push(first, last);
    return null;
  }

  /** Adds the pill, or an empty envelope that wakes the actor, in any phase. */
  protected void push(Envelope envelope) {
    push(envelope, envelope);
  }

  /** It must neither wait nor be dropped. */
  protected Reason admit(Envelope envelope) {
    return offer(envelope, envelope.message, Deadline.NONE);
  }

  /** If it throws, no node was added. */
  protected final void push(Object first, Object last) {
    boolean idle = tail == null;
    var prepared = idle ? prepare(first) : null; // not after the swap
    VarHandle.releaseFence();
    Object previous = TAIL.getAndSet(this, last);
    if (previous instanceof Envelope envelope) envelope.next = first;
    else if (previous != null) ((RequestFuture<?>) previous).next = first;
    try {
      if (previous == null) begin(idle ? prepared : prepare(first), first);
      else if (stranded != null) rescue();
    } catch (Throwable edge) { // not entered
      if (previous != null) return;
      stranded = first;
      if (takeBack(last)) throw edge;
    }
  }

  /**
   * A stranded right needs another sender. So it is given back, unless one came. Where the stack
   * has no room for this either, it stays stranded.
   */
  private boolean takeBack(Object last) {
    Object held = takeStranded();
    boolean idle = false;
    try {
      return idle = held != null && TAIL.compareAndSet(this, last, null);
    } finally {
      if (held != null && !idle) stranded = held;
    }
  }

  /** Takes the right to run, if the actor is idle and open. */
  protected boolean acquire(Object node) {
    return tail == null && phase == OPEN && TAIL.compareAndSet(this, null, node);
  }

  /** Returns null if this node is the last one; then the drain may release the right to run. */
  protected Object next(Object node, boolean spins) {
    Object next = linked(node);
    if (next == null && spins) next = spinForNext(node);
    if (next == null && tail == node) return null;
    return next == null ? awaitNext(node) : unlink(node, next);
  }

  /** Tail: last node -> null. Returns false if a sender is about to link its node to this one. */
  protected boolean release(Object node) {
    return TAIL.compareAndSet(this, node, null);
  }

  /**
   * Waits for a sender that swapped but has not linked; it may have lost its core, for 50 ms once.
   */
  protected Object awaitNext(Object node) {
    boolean interrupted = false;
    Object next = linked(node);
    for (int tries = 0; next == null; tries++) {
      interrupted |= EngineThreads.pause(tries);
      VarHandle.acquireFence();
      next = linked(node);
    }
    if (interrupted) Thread.currentThread().interrupt();
    return unlink(node, next);
  }

  /** Old garbage must not keep young objects. */
  private static Object unlink(Object node, Object next) {
    VarHandle.acquireFence();
    if (node instanceof Envelope envelope) envelope.next = null;
    else((RequestFuture<?>) node).next = null;
    return next;
  }

  /** After a streak the next is near, and a thread costs more than the wait. */
  private static Object spinForNext(Object node) {
    Object next = null;
    for (int looks = 0; next == null && looks < SPIN_CHECKS; looks++) {
      Thread.onSpinWait();
      VarHandle.acquireFence();
      next = linked(node);
    }
    return next;
  }

  protected static Object linked(Object node) {
    return node instanceof Envelope envelope ? envelope.next : ((RequestFuture<?>) node).next;
  }

  /** Returns null if no right to run is stranded, or if another thread took it. */
  final Object takeStranded() {
    Object held = stranded;
    return held != null && STRANDED.compareAndSet(this, held, null) ? held : null;
  }

  public boolean isIdle() {
    return TAIL.getVolatile(this) == null;
  }

  /** Counts up to {@code most}; may miss messages in motion. */
  protected int countQueued(Object node, int most) {
    int count = 0;
    for (; node != null && count < most; node = linked(node)) if (holdsMessage(node)) count++;
    return count;
  }

  /** False also if the drain overtook the count. */
  protected boolean hasAtMostQueued(Object node, int most) {
    int count = 0;
    Object last = null;
    for (; node != null && count <= most; node = linked(node)) {
      if (holdsMessage(node)) count++;
      last = node;
    }
    return count <= most && last == TAIL.getVolatile(this);
  }

  /**
   * Returns whether there are no more nodes. Looks at {@code 2 * most} nodes at most, since some
   * may have been withdrawn.
   */
  protected boolean addFirst(Object node, int most, List<Object> found) {
    for (int looks = 0; node != null && found.size() < most && looks < 2 * most; looks++, node = linked(node))
      if (holdsMessage(node)) found.add(node);
    return node == null;
  }

  /** Returns null if the message has begun or was withdrawn. */
  protected static Object message(Object node) {
    return node instanceof Envelope envelope ? envelope.message : ((RequestFuture<?>) node).message();
  }

  protected static boolean holdsMessage(Object node) {
    Object message = message(node);
    return message != null && message != EngineMessage.PILL;
  }

  protected void failRequests(Object node) {
    for (; node != null; node = linked(node)) if (node instanceof RequestFuture<?> request) request.failIfQueued();
  }
}

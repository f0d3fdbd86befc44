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
 * In the window a sender calls no method, allocates no memory and initializes no class. An error in
 * the window would cut the queue in two, and the drain would wait forever.
 *
 * <p><b>Memory order.</b> The link is a plain write. The release fence before {@code getAndSet}
 * orders the writes of the message before the link; the acquire fence in {@code unlink} pairs with
 * it.
 *
 * <p><b>Failure.</b> If the sender cannot start a drain, it stores the right to run in
 * {@code stranded}. If no other node was added behind the sender's node, the sender then withdraws
 * its node and throws. Otherwise {@link #rescueLater} asks another thread to start a drain.
 *
 * <p><b>Rejected designs.</b> A flag "scheduled" beside the queue would cost a second atomic
 * operation per message. A volatile link would cost 5 to 10 ns per message.
 */
abstract class PlainQueue implements Rescuable {
  // The phases, which Cell explains
  protected static final byte RESTARTING = -1; // accepts messages; the drain restarts the actor before the next message
  protected static final byte OPEN = 0;
  protected static final byte ENDING = 1;
  protected static final byte LEAVING = 2;
  protected static final byte ENDED = 3;
  private static final int SPIN_CHECKS = 64;
  private static final VarHandle TAIL = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "tail",
      VarHandle.class, PlainQueue.class, Object.class);
  private static final VarHandle STRANDED = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "stranded",
      VarHandle.class, PlainQueue.class, Object.class);

  protected volatile byte phase; // any thread sets ENDING, the drain sets LEAVING, Termination sets ENDED
  protected volatile Object stranded; // a right to run that has no thread: an Activation or a node
  private Object tail; // the last node, or null if idle. Swapped by senders, cleared by the drain

  /**
   * Prepares a drain, before the sender takes the right to run. Returns null if there is nothing to
   * prepare. If this method throws, the message is not sent.
   */
  protected abstract Object prepare(Object firstNode);

  /**
   * Starts a drain at {@code firstNode}; the caller has the right to run. If no drain can be
   * started, the right is stranded. If this method throws, no stack was left for the call.
   *
   * @param activation the result of {@link #prepare}, or null
   */
  protected abstract void begin(Object activation, Object firstNode);

  @Override
  public abstract void rescue();

  protected Reason offer(Object message, Baggage baggage) {
    return offer(new Envelope(message, baggage), message, Deadline.NONE);
  }

  /** Adds a message. Returns null if it was accepted, otherwise the reason of the refusal. */
  protected Reason offer(Object node, Object message, Deadline deadline) {
    if (phase > OPEN) return Reason.UNDELIVERED;
    push(node, node);
    return null;
  }

  /**
   * Adds messages that no other message separates. Returns null if the messages were accepted,
   * otherwise the reason of the refusal.
   */
  protected Reason offerBlock(List<?> messages, Baggage baggage) {
    if (phase > OPEN) return Reason.UNDELIVERED;
    var firstNode = new Envelope(messages.getFirst(), baggage);
    var lastNode = firstNode;
    for (var message : messages.subList(1, messages.size())) lastNode.next = lastNode = new Envelope(message, baggage);
    push(firstNode, lastNode);
    return null;
  }

  /** Adds the pill, or an empty envelope that wakes the actor, in any phase. */
  protected void push(Envelope envelope) {
    push(envelope, envelope);
  }

  /** Adds a message that is neither blocked nor dropped, even if the mailbox is full. */
  protected Reason addUnbounded(Envelope envelope) {
    return offer(envelope, envelope.message, Deadline.NONE);
  }

  /**
   * Adds linked nodes, and starts a drain if the actor was idle. If this method throws, no node was
   * added.
   */
  protected final void push(Object firstNode, Object lastNode) {
    boolean wasIdle = tail == null;
    var activation = wasIdle ? prepare(firstNode) : null; // before the swap, because it may throw
    VarHandle.releaseFence();
    Object previous = TAIL.getAndSet(this, lastNode);
    if (previous instanceof Envelope envelope) envelope.next = firstNode;
    else if (previous != null) ((RequestFuture<?>) previous).next = firstNode;
    try {
      if (previous == null) begin(wasIdle ? activation : prepare(firstNode), firstNode);
      else if (stranded != null) rescue();
    } catch (Throwable error) { // `begin` or `rescue` was not entered
      if (previous == null) {
        stranded = firstNode;
        if (withdraw(lastNode)) throw error;
      }
      rescueLater();
    }
  }

  /**
   * Asks the {@link io.fibry.engine.jvm.StartRetrier} to start a drain if the right to run is
   * stranded. If the stack is too small even for this call, the next sender starts the drain.
   */
  public final void rescueLater() {
    try {
      EngineThreads.rescue(this);
    } catch (Throwable noStack) {}
  }

  /**
   * Withdraws the last node and gives up the stranded right to run, unless another node was added.
   * If the stack is too small for that, the right stays stranded. Returns whether the node was
   * withdrawn.
   */
  private boolean withdraw(Object lastNode) {
    Object right = takeStranded();
    boolean isIdle = false;
    try {
      return isIdle = right != null && TAIL.compareAndSet(this, lastNode, null);
    } finally {
      if (right != null && !isIdle) stranded = right;
    }
  }

  /** Takes the right to run if the actor is idle and its phase is OPEN. Returns whether it did. */
  protected boolean acquire(Object node) {
    return tail == null && phase == OPEN && TAIL.compareAndSet(this, null, node);
  }

  /**
   * Returns the next node. Returns null if this node is the last one; the drain may then release
   * the right to run.
   *
   * @param maySpin whether to wait briefly for a next node
   */
  protected Object next(Object node, boolean maySpin) {
    Object next = nextLink(node);
    if (next == null && maySpin) next = spinForNext(node);
    if (next == null && tail == node) return null;
    return next == null ? awaitNext(node) : unlink(node, next);
  }

  /**
   * Releases the right to run: sets the tail from this node, the last one, to null. Returns false
   * if a sender has added a node, or is about to link it.
   */
  protected boolean release(Object node) {
    return TAIL.compareAndSet(this, node, null);
  }

  /**
   * Waits until a sender that has swapped the tail also links its node. Between the two steps the
   * sender may lose its processor, in one measurement for 50 ms.
   */
  protected Object awaitNext(Object node) {
    boolean interrupted = false;
    Object next = nextLink(node);
    for (int tries = 0; next == null; tries++) {
      interrupted |= EngineThreads.pause(tries);
      VarHandle.acquireFence();
      next = nextLink(node);
    }
    if (interrupted) Thread.currentThread().interrupt();
    return unlink(node, next);
  }

  /**
   * Clears the link of a handled node, so that a dead node in the old generation does not keep
   * younger nodes in memory.
   */
  private static Object unlink(Object node, Object next) {
    VarHandle.acquireFence();
    if (node instanceof Envelope envelope) envelope.next = null;
    else((RequestFuture<?>) node).next = null;
    return next;
  }

  /**
   * Spins briefly for the next node: after many messages in a row another usually follows soon, and
   * starting a thread costs more than the spin.
   */
  private static Object spinForNext(Object node) {
    Object next = null;
    for (int checks = 0; next == null && checks < SPIN_CHECKS; checks++) {
      Thread.onSpinWait();
      VarHandle.acquireFence();
      next = nextLink(node);
    }
    return next;
  }

  protected static Object nextLink(Object node) {
    return node instanceof Envelope envelope ? envelope.next : ((RequestFuture<?>) node).next;
  }

  /**
   * Takes the stranded right to run. Returns null if no right is stranded, or another thread took
   * it.
   */
  final Object takeStranded() {
    Object right = stranded;
    return right != null && STRANDED.compareAndSet(this, right, null) ? right : null;
  }

  public boolean isIdle() {
    return TAIL.getVolatile(this) == null;
  }

  /**
   * Counts the messages from this node on, up to {@code max}. May miss messages that senders are
   * adding.
   */
  protected int countQueued(Object node, int max) {
    int count = 0;
    for (; node != null && count < max; node = nextLink(node)) if (holdsMessage(node)) count++;
    return count;
  }

  /**
   * Returns whether at most {@code max} messages wait from this node on. Returns false also if the
   * drain removes the nodes while they are counted.
   */
  protected boolean hasAtMostQueued(Object node, int max) {
    int count = 0;
    Object lastCounted = null;
    for (; node != null && count <= max; node = nextLink(node)) {
      if (holdsMessage(node)) count++;
      lastCounted = node;
    }
    return count <= max && lastCounted == TAIL.getVolatile(this);
  }

  /**
   * Adds the first nodes with a message to {@code nodes}, up to {@code max}. Returns whether the
   * queue has no more nodes. Checks at most {@code 2 * max} nodes, because some messages may have
   * been withdrawn.
   */
  protected boolean addFirst(Object node, int max, List<Object> nodes) {
    for (int checks = 0; node != null && nodes.size() < max && checks < 2 * max; checks++, node = nextLink(node))
      if (holdsMessage(node)) nodes.add(node);
    return node == null;
  }

  /** Returns the message of a node, or null if the message has begun or was withdrawn. */
  protected static Object message(Object node) {
    return node instanceof Envelope envelope ? envelope.message : ((RequestFuture<?>) node).message();
  }

  protected static boolean holdsMessage(Object node) {
    Object message = message(node);
    return message != null && message != EngineMessage.PILL;
  }

  protected void failRequests(Object node) {
    for (; node != null; node = nextLink(node)) if (node instanceof RequestFuture<?> request) request.failIfQueued();
  }
}

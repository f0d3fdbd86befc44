package io.fibry.engine.actor;

import io.fibry.DeadLetter.Reason;
import io.fibry.MailboxFullException;
import io.fibry.engine.cell.ActorBehavior;
import io.fibry.engine.cell.DeadLetters;
import io.fibry.engine.jvm.CallerThreadRunner;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.EngineMessage;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.JfrEvents;
import io.fibry.engine.message.RequestFailures;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.engine.message.WaitCycle;
import io.fibry.engine.queue.GuardedQueue;
import io.fibry.engine.queue.GuardedQueue.EnterResult;
import io.fibry.engine.queue.MessageEntry;
import io.fibry.engine.queue.QueueEntry;
import io.fibry.engine.queue.RankedEntry;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.time.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

/**
 * An actor with a {@link GuardedQueue}: its mailbox is bounded, selective, ordered by priority, or
 * the shared queue of a pool.
 */
class GuardedCell extends ActorCell {
  // no VarHandle: its first use needs more stack, and the sender may be near the end of its stack
  private static final AtomicLongFieldUpdater<GuardedCell> REFUSED =
      AtomicLongFieldUpdater.newUpdater(GuardedCell.class, "refused");

  private static final AtomicLongFieldUpdater<GuardedCell> DROPPED =
      AtomicLongFieldUpdater.newUpdater(GuardedCell.class, "dropped");

  private final GuardedQueue<Object> queue;
  // two counts, incremented by senders. Each lost message is in one of them. So no reader subtracts
  // two counts, and neither count seems to shrink during a drop
  private volatile long refused; // messages that the mailbox did not accept
  private volatile long dropped; // messages that the mailbox accepted and dropped

  GuardedCell(ActorBehavior behavior, GuardedQueue<Object> queue) {
    super(behavior);
    this.queue = queue;
  }

  @Override
  protected Reason offer(Object message, Baggage baggage) {
    if (!queue.takesMessageEntries()) return super.offer(message, baggage);
    return isEnding() ? Reason.UNDELIVERED
        : offer(MessageEntry.<Object>of(message, baggage), 1, message, Deadline.NONE);
  }

  @Override
  protected Reason offer(Object node, Object message, Deadline deadline) {
    if (isEnding()) return Reason.UNDELIVERED;
    var entry = entry(node, message);
    if (node instanceof RequestFuture<?> request) request.entry = entry;
    return offer(entry, 1, message, deadline);
  }

  private QueueEntry<Object> entry(Object node, Object message) {
    return queue.newEntry(node, message, !(message instanceof EngineMessage), this);
  }

  @Override
  protected Reason offerBlock(List<?> messages, Baggage baggage) {
    if (queue.mailbox().isPriority()) throw new UnsupportedOperationException("actor '" + name()
        + "' has a priority mailbox, which cannot keep a batch together; send the messages one by one");
    if (messages.size() > capacity())
      throw new IllegalArgumentException("a block of " + messages.size()
          + " messages never fits into the mailbox of actor '" + name() + "', whose capacity is " + capacity()
          + "; send smaller blocks");
    if (isEnding()) return Reason.UNDELIVERED;
    var entries = new ArrayList<QueueEntry<Object>>(messages.size());
    for (var message : messages)
      entries.add(queue.takesMessageEntries() ? MessageEntry.of(message, baggage)
          : entry(new Envelope(message, baggage), message));
    return offer(QueueEntry.block(entries), entries.size(), messages, Deadline.NONE);
  }

  private Reason offer(QueueEntry<Object> entry, int size, Object message, Deadline deadline) {
    if (!settings().ownsThreads()) failIfExecutorShutDown();
    boolean mayWait = deadline != Deadline.NO_WAIT;
    var result = queue.enter(entry, mayWait);
    if (result == EnterResult.TAKEN && stranded == null) return null;
    // if probeOrWithdraw returns false, the right to run was released or stranded. With TAKEN,
    // beginOrRescue only rescues a stranded right, and starts no second drain
    if (result == EnterResult.RUN && !probeOrWithdraw(entry, size)) result = EnterResult.TAKEN;
    if (result == null) {
      // a sender that may be blocked needs more stack, for the calls that withdraw its entry
      if (mayWait && queue.mailbox().overflow() == Overflow.BLOCK) StackProbe.probeForSend();
      else probeStack();
      result = queue.offer(entry, mayWait);
    }
    beginOrRescue(result, entry);
    for (var droppedNode : entry.takeDropped()) drop(droppedNode);
    return switch (result) {
      case TAKEN, RUN -> null;
      case BLOCKED -> {
        Object event = JfrEvents.beginWait();
        var refusal = awaitSpace(entry, message, deadline);
        JfrEvents.endWait(event, this, capacity(), refusal);
        yield refusal;
      }
      case FULL -> {
        var refusal = queue.mailbox().isLossy() || deadline == Deadline.NO_WAIT ? Reason.DROPPED : Reason.REJECTED;
        JfrEvents.recordPressure(this, capacity(), refusal, entry.refusedWaitNanos());
        yield refusal;
      }
      case SHUT -> Reason.UNDELIVERED;
    };
  }

  /**
   * Called by a sender whose entry has entered the queue of an idle actor. Returns true if the
   * stack is large enough to start the actor. Otherwise withdraws the entry and throws the error of
   * the probe, or returns false if the entry can no longer be withdrawn. In both cases the right to
   * run is released, or stranded if other entries wait.
   */
  private boolean probeOrWithdraw(QueueEntry<Object> entry, int size) {
    try {
      probeStack();
      return true;
    } catch (Throwable error) {
      boolean isWithdrawn = queue.takeBack(entry, size);
      if (!queue.release()) { // other entries wait
        stranded = Envelope.NOTHING;
        rescueLater();
      }
      if (isWithdrawn) throw error;
      return false;
    }
  }

  /** Probes the stack for the calls that {@code begin} makes. */
  void probeStack() {
    StackProbe.probeForActivation();
  }

  private void beginOrRescue(EnterResult result, QueueEntry<Object> entry) {
    if (result == EnterResult.RUN) {
      queue.noteWaker();
      begin(entry);
    }
    if (stranded != null) tryRescue();
  }

  /**
   * Starts a drain after the caller has added the entry. Throws nothing once entered; the callers
   * have probed the stack.
   */
  void begin(QueueEntry<Object> entry) {
    boolean isLent = entry.itemOrNull() instanceof RequestFuture<?> request && request.hasAskerOffCarriers();
    begin(null, isLent ? Envelope.NOTHING_OF_ASKER_OFF_CARRIERS : Envelope.NOTHING);
  }

  private Reason awaitSpace(QueueEntry<Object> entry, Object message, Deadline deadline) {
    CallerThreadRunner.beforeWait();
    var timer = (Scheduler.Timer) null;
    var foundCycle = new AtomicReference<WaitCycle>();
    try (var wait = Wait.beginForSpace(this, message, entry)) {
      timer = deadline.startWakeUpTimer();
      // another thread may have made space for the entry, even after a cycle was found
      if (queue.await(entry, wait == null ? deadline : () -> deadline.getAsBoolean() || closesCycle(wait, foundCycle)))
        return null;
      if (foundCycle.get() != null && !isEnding()) throw foundCycle.get().exception();
    } finally {
      if (timer != null) timer.cancel();
    }
    return isEnding() ? Reason.UNDELIVERED
        : Thread.currentThread().isInterrupted() ? Reason.CANCELLED : Reason.EXPIRED;
  }

  private static boolean closesCycle(Wait wait, AtomicReference<WaitCycle> foundCycle) {
    foundCycle.set(WaitCycle.findFor(wait));
    return foundCycle.get() != null;
  }

  @Override
  protected void countUnhandled(Reason reason) {
    super.countUnhandled(reason);
    if (reason == Reason.REJECTED || reason == Reason.DROPPED) REFUSED.getAndIncrement(this);
  }

  @Override
  public long refused() {
    return refused;
  }

  @Override
  public final long dropped() {
    return dropped;
  }

  private void drop(Object node) {
    JfrEvents.recordPressure(this, capacity(), Reason.DROPPED, 0);
    if (node instanceof Envelope envelope) {
      DROPPED.getAndIncrement(this);
      Object message = envelope.message;
      envelope.message = null;
      DeadLetters.addDropped(this, message);
    } else {
      var request = (RequestFuture<?>) node;
      Object message = request.begin();
      request.entry = null;
      if (message == null) return;
      DROPPED.getAndIncrement(this);
      super.countUnhandled(Reason.DROPPED); // not as refused
      request.fail(RequestFailures.full(this, message, capacity()));
    }
  }

  @Override
  protected void push(Envelope envelope) {
    push(envelope.message == EngineMessage.PILL ? RankedEntry.ofPill(envelope) : RankedEntry.unranked(envelope));
  }

  @Override
  protected Reason addUnbounded(Envelope envelope) {
    if (isEnding()) return Reason.UNDELIVERED;
    push(entry(envelope, envelope.message));
    return null;
  }

  private void push(QueueEntry<Object> entry) {
    if (!settings().ownsThreads()) failIfExecutorShutDown();
    probeStack();
    var result = queue.admit(entry);
    try {
      if (isEnding()) queue.stopAccepting();
    } catch (OutOfMemoryError noMemory) {} // the drain that handles the pill calls stopAccepting again
    beginOrRescue(result, entry);
  }

  @Override
  protected void setLeaving() {
    super.setLeaving();
    queue.stopAccepting();
  }

  @Override
  protected boolean acceptsWithoutUserCode() {
    return super.acceptsWithoutUserCode() && !queue.mailbox().isPriority();
  }

  @Override
  public boolean acceptsPromptly() {
    return super.acceptsPromptly() && queue.mailbox().overflow() != Overflow.BLOCK;
  }

  @Override
  public boolean sendsWithoutUserCode() {
    return super.sendsWithoutUserCode() && queue.mailbox().overflow() != Overflow.DROP_OLDEST // see `drop`
        && (queue.mailbox().maxWait().isZero() || owner().options().scheduler() == Scheduler.system());
  }

  // ---- drain

  @Override
  protected void recordMessageTime(long nanos) {
    queue.recordMessageTime(nanos);
  }

  @Override
  protected boolean isNearSenders() {
    return queue.isNearSenders();
  }

  @Override
  protected boolean acquire(Object node) {
    return phase == OPEN && queue.takeRunIfIdle();
  }

  @Override
  protected Object next(Object node, boolean maySpin) {
    Object nextNode = queue.poll();
    return nextNode != null || !maySpin || !queue.awaitNew() ? nextNode : queue.poll();
  }

  @Override
  protected Object nextOfWokenSender() {
    return queue.awaitWokenSender() ? queue.poll() : null;
  }

  @Override
  protected boolean release(Object node) {
    return queue.release();
  }

  /** Returns an empty envelope if the message of the next node was withdrawn. */
  @Override
  protected Object awaitNext(Object node) {
    Object nextNode = queue.poll();
    return nextNode == null ? Envelope.NOTHING : nextNode;
  }

  /**
   * Returns an empty envelope in place of a handled node. If the message of that node was stashed,
   * the node may be in the mailbox again, so the drain must not continue at the node.
   */
  @Override
  protected Object beforeSuspension(Object node, boolean isHandled) {
    return isHandled ? Envelope.NOTHING : node;
  }

  @Override
  public void onWithdrawn(RequestFuture<?> request, Reason reason) {
    super.onWithdrawn(request, reason);
    var entry = request.entry;
    if (entry != null) {
      StackProbe.probe();
      queue.remove(entry);
    }
    request.entry = null;
  }

  @Override
  protected void failRequests(Object node) {
    if (node instanceof RequestFuture<?> currentRequest) currentRequest.failIfQueued();
    for (var queuedNode : queue.queued(Integer.MAX_VALUE))
      if (queuedNode instanceof RequestFuture<?> request) request.failIfQueued();
  }

  // ---- selective mailboxes

  @Override
  protected boolean isSelective() {
    return queue.mailbox().isSelective();
  }

  @Override
  protected Object receive(Predicate<Object> filter, Deadline deadline) {
    StackProbe.probe();
    var timer = deadline == Deadline.NO_WAIT ? null : deadline.startWakeUpTimer();
    try {
      return queue.receive(node -> {
        Object message = message(node);
        return message != null && !(message instanceof EngineMessage) && filter.test(message);
      }, deadline);
    } finally {
      if (timer != null) timer.cancel();
    }
  }

  @Override
  protected boolean isBlocked() {
    return queue.isBlocked();
  }

  @Override
  protected void putBack(List<Object> nodes) {
    var entries = new ArrayList<QueueEntry<Object>>(nodes.size());
    for (var node : nodes) {
      QueueEntry<Object> entry = RankedEntry.unranked(node);
      if (node instanceof RequestFuture<?> request) request.entry = entry;
      entries.add(entry);
    }
    queue.putBack(entries);
  }

  @Override
  public boolean isIdle() {
    return queue.isIdle();
  }

  @Override
  protected boolean hasEmptyQueue() {
    return false;
  }

  @Override
  protected int countQueued(Object node, int max) {
    return queue.entryCount() + super.countQueued(node, 1); // the drain has taken its node out of the queue
  }

  @Override
  protected boolean hasAtMostQueued(Object node, int max) {
    return countQueued(node, max) <= max;
  }

  @Override
  protected boolean addFirst(Object node, int max, List<Object> nodes) {
    nodes.addAll(queue.queued(max));
    return nodes.size() < max;
  }

  @Override
  protected Object newestQueued(Object node) {
    return queue.newest();
  }

  @Override
  protected Object longestLasting(Object node, Object newest) {
    return newest instanceof MessageEntry ? newest : queue.longestLasting(GuardedCell::expiresLater);
  }

  /** {@code node} is an entry that {@link #newestQueued} returned, not a node of the drain. */
  @Override
  protected boolean isQueued(Object node) {
    return ((QueueEntry<?>) node).isQueued();
  }

  @Override
  MailboxFullException mailboxFull(RequestFuture<?> request, Object message) {
    var entry = request.entry;
    long expectedWaitNanos = entry == null ? 0 : entry.refusedWaitNanos();
    return expectedWaitNanos == 0 ? super.mailboxFull(request, message)
        : RequestFailures.tooSlow(this, message, capacity(), expectedWaitNanos, queue.mailbox().maxWait());
  }

  private int capacity() {
    return mailbox().capacity();
  }

  @Override
  public Mailbox<?> mailbox() {
    return queue.mailbox();
  }
}

package io.fibry.engine.actor;

import io.fibry.DeadLetter.Reason;
import io.fibry.MailboxFullException;
import io.fibry.engine.cell.ActorBehavior;
import io.fibry.engine.cell.DeadLetters;
import io.fibry.engine.cell.Dispatch;
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
import io.fibry.engine.queue.GuardedQueue.EnterResult;
import io.fibry.engine.queue.GuardedQueue;
import io.fibry.engine.queue.MessageEntry;
import io.fibry.engine.queue.QueueEntry;
import io.fibry.engine.queue.RankedEntry;
import io.fibry.mailbox.Overflow;
import io.fibry.time.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

/** A cell with a guarded queue: bounded, by priority, selective, or, of a pool, shared. */
class GuardedCell extends ActorCell {
  private final GuardedQueue<Object> queue;

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
    return queue.entry(node, message, !(message instanceof EngineMessage), this);
  }

  @Override
  protected Reason offerBlock(List<?> messages, Baggage baggage) {
    if (queue.mailbox().isOrdered()) throw new UnsupportedOperationException("actor '" + name()
        + "' has a priority mailbox, which cannot keep a block together; send the messages one by one");
    if (messages.size() > capacity())
      throw new IllegalArgumentException("a block of " + messages.size()
          + " messages never fits into the mailbox of actor '" + name() + "', which holds " + capacity());
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
    var answer = queue.enter(entry, mayWait);
    if (answer == EnterResult.TAKEN && stranded == null) return null;
    if (answer == EnterResult.RUN) probeOrTakeBack(entry, size);
    if (answer == null) {
      if (mayWait && queue.mailbox().overflow() == Overflow.BLOCK) StackProbe.probeForSend(); // also to take it back
      else probeStack();
      answer = queue.offer(entry, mayWait);
    }
    try {
      handleResult(answer);
    } catch (Throwable edge) { // of the stack
      if (answer == EnterResult.RUN) stranded = Envelope.NOTHING;
    }
    for (var dropped : entry.takeDropped()) drop(dropped);
    return switch (answer) {
      case TAKEN, RUN -> null;
      case BLOCKED -> {
        Object event = JfrEvents.beginWait();
        var refusal = awaitRoom(entry, message, deadline);
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

  /** It entered as the actor fell asleep; see {@link Dispatch#prepare}. */
  private void probeOrTakeBack(QueueEntry<Object> entry, int size) {
    try {
      probeStack();
    } catch (Throwable edge) {
      boolean out = queue.takeBack(entry, size);
      if (!out || !queue.release()) stranded = Envelope.NOTHING; // others came behind it
      if (out) throw edge;
    }
  }

  /** For what {@code begin} calls. */
  void probeStack() {
    StackProbe.probeForActivation();
  }

  private void handleResult(EnterResult answer) {
    if (answer == EnterResult.RUN) begin();
    if (stranded != null) rescue();
  }

  void failIfExecutorShutDown() {
    Dispatch.failIfExecutorShutDown(this);
  }

  void begin() {
    begin(null, Envelope.NOTHING);
  }

  private Reason awaitRoom(QueueEntry<Object> entry, Object message, Deadline deadline) {
    CallerThreadRunner.beforeWait();
    var timer = (Scheduler.Timer) null;
    var ring = new AtomicReference<WaitCycle>();
    try (var wait = Wait.forRoom(this, message, entry)) {
      timer = deadline.startWakeUpTimer();
      // true in spite of a ring: another thread made room
      if (queue.await(entry, wait == null ? deadline : () -> deadline.getAsBoolean() || closesCycle(wait, ring)))
        return null;
      if (ring.get() != null && !isEnding()) throw ring.get().exception();
    } finally {
      if (timer != null) timer.cancel();
    }
    return isEnding() ? Reason.UNDELIVERED
        : Thread.currentThread().isInterrupted() ? Reason.CANCELLED : Reason.EXPIRED;
  }

  private static boolean closesCycle(Wait wait, AtomicReference<WaitCycle> found) {
    found.set(WaitCycle.findFor(wait));
    return found.get() != null;
  }

  private void drop(Object node) {
    JfrEvents.recordPressure(this, capacity(), Reason.DROPPED, 0);
    if (node instanceof Envelope envelope) {
      Object message = envelope.message;
      envelope.message = null;
      DeadLetters.add(this, message, Reason.DROPPED, null);
    } else {
      var request = (RequestFuture<?>) node;
      Object message = request.begin();
      request.entry = null;
      if (message == null) return;
      owner().accounts().countUnhandled(Reason.DROPPED);
      request.fail(RequestFailures.full(this, message, capacity()));
    }
  }

  @Override
  protected void push(Envelope envelope) {
    push(envelope.message == EngineMessage.PILL ? RankedEntry.last(envelope) : RankedEntry.unranked(envelope));
  }

  @Override
  protected Reason admit(Envelope envelope) {
    if (isEnding()) return Reason.UNDELIVERED;
    push(entry(envelope, envelope.message));
    return null;
  }

  private void push(QueueEntry<Object> entry) {
    if (!settings().ownsThreads()) failIfExecutorShutDown();
    StackProbe.probe();
    var answer = queue.admit(entry);
    if (isEnding()) queue.stopAccepting();
    try {
      handleResult(answer);
    } catch (Throwable edge) { // of the stack
      if (answer == EnterResult.RUN) stranded = Envelope.NOTHING;
    }
  }

  @Override
  protected void enterLeaving() {
    super.enterLeaving();
    queue.stopAccepting();
  }

  @Override
  protected boolean onlyQueues() {
    return super.onlyQueues() && !queue.mailbox().isOrdered();
  }

  // ---- drain

  @Override
  protected boolean acquire(Object node) {
    return phase == OPEN && queue.runIfIdle();
  }

  @Override
  protected Object next(Object node, boolean lingers) {
    Object next = queue.poll();
    return next != null || !lingers || !queue.awaitNew() ? next : queue.poll();
  }

  @Override
  protected boolean release(Object node) {
    return queue.release();
  }

  /** The message at the node may have been withdrawn. */
  @Override
  protected Object awaitNext(Object node) {
    Object next = queue.poll();
    return next == null ? Envelope.NOTHING : next;
  }

  /** A stashed one is in the mailbox. */
  @Override
  protected Object beforeSuspension(Object node, boolean handled) {
    return handled ? Envelope.NOTHING : node;
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
    if (node instanceof RequestFuture<?> taken) taken.failIfQueued();
    for (var waiting : queue.queued(Integer.MAX_VALUE))
      if (waiting instanceof RequestFuture<?> request) request.failIfQueued();
  }

  // ---- selective mailboxes

  @Override
  protected boolean isSelective() {
    return queue.mailbox().isSelective();
  }

  @Override
  protected Object receive(Predicate<Object> fits, Deadline deadline) {
    StackProbe.probe();
    var timer = deadline == Deadline.NO_WAIT ? null : deadline.startWakeUpTimer();
    try {
      return queue.receive(node -> {
        Object message = message(node);
        return message != null && !(message instanceof EngineMessage) && fits.test(message);
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
  protected int countQueued(Object node, int most) {
    return queue.entryCount() + super.countQueued(node, 1); // taken out
  }

  @Override
  protected boolean hasAtMostQueued(Object node, int most) {
    return countQueued(node, most) <= most;
  }

  @Override
  protected boolean addFirst(Object node, int most, List<Object> found) {
    found.addAll(queue.queued(most));
    return found.size() < most;
  }

  @Override
  MailboxFullException mailboxFull(RequestFuture<?> request, Object message) {
    var entry = request.entry;
    long foreseen = entry == null ? 0 : entry.refusedWaitNanos();
    return foreseen == 0 ? super.mailboxFull(request, message)
        : RequestFailures.tooSlow(this, message, capacity(), foreseen, queue.mailbox().maxWait());
  }

  @Override
  protected int capacity() {
    return queue.mailbox().capacity();
  }
}

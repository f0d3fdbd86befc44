package io.fibry.engine.cell;

import io.fibry.ActorStats.ActorState;
import io.fibry.engine.cell.ActivationSnapshot.FirstSeen;
import io.fibry.engine.cell.ActivationSnapshot.Observation;
import io.fibry.engine.cell.ActivationSnapshot.QueuePositions;
import io.fibry.engine.jvm.CoarseClock;
import io.fibry.engine.jvm.MessageTexts;
import io.fibry.engine.jvm.StackTraces;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Diagnosis;
import io.fibry.engine.message.Diagnosis.HandlerStack;
import io.fibry.engine.message.EngineMessage;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Timestamped;
import io.fibry.engine.world.Environment;
import io.fibry.spi.MultiStepMessage;
import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Observes actors from outside: which message they handle, for how long, and why an answer is late.
 */
public final class ActorInspector {
  private static final long MAX_AGE = 100_000_000; // ns of a shared snapshot
  private static final int MAX_COUNTED = 1_000; // how many queued messages are searched for a request
  private static final int MAX_WAIT_MILLIS = 4_000; // how long an observer waits for another observer's snapshot
  private static final Observation BUSY = new Observation(Activity.BUSY, null);
  private static final VarHandle SNAPSHOT = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "snapshot",
      VarHandle.class, HandlerContext.class, ActivationSnapshot.class);

  private ActorInspector() {}

  /** Returns the activity of the actor as dumps and statistics show it. */
  public static Activity activity(Cell cell) {
    var activation = cell.drain();
    var activity = activityWithoutHandler(cell, activation);
    return activity == null ? observation(snapshot(activation)).activity() : activity;
  }

  /**
   * Returns the activity without the message and the awaited actor. Reads no stack and no text of a
   * message, so it costs less than {@link #activity}.
   */
  public static Activity briefActivity(Cell cell) {
    if (cell.isPool()) return cell.activity(); // has only the numbers of workers
    var activation = cell.drain();
    var activity = activityWithoutHandler(cell, activation);
    if (activity != null) return activity;
    return activation.thread == null ? noThread(cell, activation) : Activity.BUSY;
  }

  /** Returns null if the actor has an activation, which may run the handler. */
  private static Activity activityWithoutHandler(Cell cell, HandlerContext activation) {
    if (cell.isCutOff()) return Activity.of(ActorState.CUT_OFF, "cut off, its handler still runs");
    if (cell.suspendedNode() != null) return Activity.of(ActorState.SUSPENDED, "is suspended after a failure");
    if (cell.hasReachedPill()) return Activity.of(ActorState.ENDING, "ends");
    if (cell.isIdle()) return Activity.of(ActorState.IDLE, "idle");
    return activation == null ? noThread(cell, null) : null;
  }

  /**
   * Returns the state of a pool. If a worker has a thread, the pool is busy. Otherwise the pool is
   * suspended if a worker is, or ready if a worker waits for a thread.
   *
   * @param busyWorkers how many workers are at work, not counting suspended workers
   */
  public static ActorState stateOfPool(Iterable<? extends Cell> workers, int busyWorkers) {
    var state = busyWorkers == 0 ? ActorState.IDLE : ActorState.BUSY;
    for (var worker : workers) {
      if (worker.suspendedNode() != null) state = ActorState.SUSPENDED;
      else if (busyWorkers > 0 && !worker.isIdle()) {
        var drain = worker.drain();
        if (drain != null && drain.thread != null) return ActorState.BUSY;
        if (state == ActorState.BUSY) state = ActorState.READY;
      }
    }
    return state;
  }

  /**
   * A message that takes longer than a limit.
   *
   * @param identity identifies the message: the same object in each report of it
   */
  public record SlowMessage(Object identity, Object message, long nanos, String activity, HandlerStack stack) {}

  /**
   * Returns the current message if the actor has been handling it for {@code limit} or longer.
   * Returns null otherwise, or if the last report was about this message.
   *
   * @param lastIdentity the {@code identity} in the last report, or null
   */
  public static SlowMessage findSlow(Cell cell, Duration limit, Object lastIdentity) {
    var activation = cell.drain();
    var firstSeen = activation == null ? null : rememberStart(activation);
    Object item = firstSeen == null ? null : messageOrStep(activation);
    if (item == null || firstSeen == lastIdentity) return null;
    long nanos = nanoTime(activation) - firstSeen.startNanos();
    if (nanos < Deadline.nanos(limit)) return null;
    var observation = observation(snapshot(activation));
    if (rememberStart(activation) != firstSeen) return null; // the actor handles another message now
    return new SlowMessage(firstSeen, item, nanos, observation.activity().text(), observation.stack());
  }

  /**
   * For how long a cell has been handling its message or step.
   *
   * @param nanos the time, at least; 0 if the cell handles no message
   * @param isExact false if the start was not recorded, and the time began when an observer first
   * saw the message or step
   */
  public record BusyTime(Cell cell, long nanos, boolean isExact) {}

  public static BusyTime busyTime(Cell cell) {
    var drain = cell.drain();
    var firstSeen = drain == null ? null : rememberStart(drain);
    return firstSeen == null ? new BusyTime(cell, 0, true)
        : new BusyTime(cell, Math.max(1, nanoTime(drain) - firstSeen.startNanos()), firstSeen.isStartRecorded());
  }

  /** Returns the actor for which the handler of a cell waits. Returns null if it waits for none. */
  public static Cell awaitedActor(Cell cell) {
    var drain = cell.drain();
    var wait = drain == null ? null : drain.currentWait();
    return wait != null && wait.target() instanceof Cell target ? target.publicCell() : null;
  }

  /** Returns how often the actor, or a worker of the pool, has been restarted. */
  public static long restarted(Cell cell) {
    var recovery = cell.recoveryOrNull();
    return recovery == null ? 0 : recovery.restartCount();
  }

  /** Returns how many requests to the actor have expired unhandled; counted if it has a name. */
  public static long expired(Cell cell) {
    var extras = cell.extrasOrNull();
    return extras == null ? 0 : extras.expired();
  }

  /**
   * Returns the stack frames of the handler that runs, the newest call first. Returns an empty list
   * if no handler runs, or its stack is not known.
   */
  public static List<StackTraceElement> stack(Cell cell) {
    var drain = cell.drain();
    var stack = drain == null ? null : observation(snapshot(drain)).stack();
    return stack == null ? List.of() : List.of(stack.getStackTrace());
  }

  public static void rememberStart(Cell cell, RequestFuture<?> request) {
    var drain = cell.drainFor(request);
    if (drain != null) rememberStart(drain);
  }

  private static FirstSeen rememberStart(HandlerContext drain) {
    Object nodeOrStep = nodeOrStep(drain);
    if (nodeOrStep == null) return null;
    var firstSeen = drain.firstSeen;
    if (firstSeen == null || !firstSeen.nodeOrStep().refersTo(nodeOrStep)) {
      long now = nanoTime(drain);
      long recorded = recordedStart(drain);
      // the latest possible start, because the coarse clock may be behind by its period
      long start = recorded == 0 ? now : Math.min(now, recorded + CoarseClock.PERIOD);
      drain.firstSeen = firstSeen = new FirstSeen(new WeakReference<>(nodeOrStep), start, recorded != 0);
    }
    return firstSeen;
  }

  /**
   * Returns when the message or step began, by the coarse clock. Returns 0 if that was not
   * recorded, or the scope has another clock.
   */
  private static long recordedStart(HandlerContext drain) {
    if (Environment.simulated != null || drain.cell.owner().options().scheduler() != Scheduler.system()) return 0;
    Object message = drain.message;
    long recorded =
        !(message instanceof MultiStepMessage) ? drain.startedAt
            : messageOrStep(drain) instanceof Timestamped step ? step.startNanos() : 0;
    return message == null || drain.message != message ? 0 : recorded;
  }

  /**
   * Returns an object that differs for each message: its node, or the current step. Returns null if
   * the actor handles no message.
   */
  private static Object nodeOrStep(HandlerContext drain) {
    Object item = messageOrStep(drain);
    return item == null || drain.message instanceof MultiStepMessage ? item : drain.currentNode();
  }

  /** Returns the message, or its current step. Returns null if there is neither. */
  private static Object messageOrStep(HandlerContext drain) {
    Object message = drain.message;
    if (!(message instanceof MultiStepMessage steps)) return EngineMessage.unwrap(message);
    try {
      return steps.currentStep();
    } catch (Throwable userError) {
      return message;
    }
  }

  private static long nanoTime(HandlerContext drain) {
    return drain.cell.owner().options().scheduler().nanoTime();
  }

  /**
   * Returns a snapshot that is at most 0.1 s old. If no such snapshot exists, the first observer
   * makes one. The other observers get this snapshot at once, and wait in {@link #observation}
   * until the first observer has completed it.
   */
  private static ActivationSnapshot snapshot(HandlerContext drain) {
    var step = drain.message instanceof MultiStepMessage ? rememberStart(drain) : null;
    while (true) {
      var last = drain.snapshot;
      if (last != null && isUsable(last, drain, step)) return last;
      var newSnapshot = new ActivationSnapshot(nanoTime(drain), step);
      if (!SNAPSHOT.compareAndSet(drain, last, newSnapshot)) continue;
      try {
        newSnapshot.observation.complete(inspect(drain, newSnapshot));
      } finally {
        newSnapshot.observation.complete(BUSY);
      }
      return newSnapshot;
    }
  }

  /**
   * Returns whether an observer may use the last snapshot. A snapshot of another step must not be
   * used, however new it is.
   */
  private static boolean isUsable(ActivationSnapshot last, HandlerContext drain, FirstSeen step) {
    if (drain.message instanceof MultiStepMessage && (step == null || last.step != step)) return false;
    return nanoTime(drain) - last.takenNanos < MAX_AGE && System.nanoTime() - last.madeNanos < MAX_AGE;
  }

  private static Observation observation(ActivationSnapshot snapshot) {
    try {
      return snapshot.observation.get(MAX_WAIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (Exception failure) {
      if (failure instanceof InterruptedException) Thread.currentThread().interrupt();
      return BUSY;
    }
  }

  private static Observation inspect(HandlerContext drain, ActivationSnapshot snapshot) {
    var cell = drain.cell;
    var thread = drain.thread;
    if (thread == null) return new Observation(noThread(cell, drain), null);
    var firstSeen = rememberStart(drain);
    Object item = messageOrStep(drain);
    if (firstSeen == null || item == null) return new Observation(withoutMessage(drain), null);
    var wait = drain.currentWait();
    var stack = handlerFrames(drain, StackTraces.of(thread));
    if (!firstSeen.nodeOrStep().refersTo(nodeOrStep(drain)))
      return new Observation(Activity.of(ActorState.BUSY, "was about to begin its next message"), null);
    long nanos = snapshot.takenNanos - firstSeen.startNanos();
    String messageText = cell.describe(item);
    String text = (nanos > 0 ? "has been handling " + messageText + " for at least " + Durations.textOfNanos(nanos)
        : "is handling " + messageText) + (wait == null ? "" : ", where it waits for " + wait.describe());
    var state = wait == null ? ActorState.BUSY : ActorState.AWAITING_ACTOR;
    var awaited = wait == null ? null : wait.targetName();
    return new Observation(Activity.of(state, text, awaited, MessageTexts.typeName(item)),
        new HandlerStack(cell.name(), stack));
  }

  private static Activity withoutMessage(HandlerContext drain) {
    Object message = drain.message;
    return message instanceof MultiStepMessage
        ? Activity.of(ActorState.AWAITING_STEP, "waits for " + drain.cell.describe(message))
        : drain.cell.isIdle() ? Activity.of(ActorState.IDLE, "is idle")
            : Activity.of(ActorState.BUSY, "is between two messages");
  }

  private static Activity noThread(Cell cell, HandlerContext drain) {
    var waker = drain instanceof Activation woken ? woken.waker : null;
    return Activity.of(ActorState.READY,
        waker == null ? "has been given no thread yet by " + MessageTexts.describe(cell.settings().strategy())
            : "was woken by '" + waker.publicCell().name() + "', and has not begun yet");
  }

  /**
   * Returns the stack frames of this handler, without the frames of handlers that enclose it and of
   * the engine.
   */
  private static StackTraceElement[] handlerFrames(HandlerContext drain, StackTraceElement[] stack) {
    int enclosing = 0;
    for (var outer = drain.outer; outer != null; outer = outer.outer) if (outer.message != null) enclosing++;
    int end = stack.length;
    for (int i = stack.length; i-- > 0 && enclosing >= 0;)
      if (StackTraces.isDelivery(stack[i]) && enclosing-- == 0) end = i;
    return Arrays.copyOf(stack, HandlerStack.countHandlerFrames(stack, end));
  }

  /**
   * Returns why the answer of the request is late. Must be called before the request is withdrawn,
   * because its position in the queue is read.
   */
  public static Diagnosis diagnose(Cell cell, RequestFuture<?> request) {
    return request.isBegun() ? diagnoseBegun(cell, request) : diagnoseWaiting(cell, request);
  }

  private static Diagnosis diagnoseBegun(Cell cell, RequestFuture<?> request) {
    if (request.isAnswered) return new Diagnosis("its handler promised the answer for later", null);
    var drain = cell.drainFor(request);
    if (drain == null) return new Diagnosis("its handler had begun", null);
    var observation = observation(snapshot(drain));
    return new Diagnosis("its handler had begun, and may still run; the actor " + observation.activity().text(),
        observation.stack());
  }

  private static Diagnosis diagnoseWaiting(Cell cell, RequestFuture<?> request) {
    var extras = cell.extrasOrNull();
    var drain = cell.drainFor(request);
    var entry = request.entry;
    String reason = "its handler had not begun, and will not begin";
    if (entry != null && entry.isOutside())
      reason += ": it waited for capacity in the mailbox, whose capacity is " + cell.mailbox().capacity();
    if (entry != null && entry.isGone() && cell.isPool()) reason += ": it had been given to a worker";
    if (extras != null && extras.stash.contains(request)) reason += ": it was stashed";
    var recovery = cell.recoveryOrNull();
    if (recovery != null && recovery.isRedelivery(request))
      reason = "its handler had failed, and it was to be handled again after a backoff";
    if (cell.suspendedNode() != null)
      return new Diagnosis(reason + "; the actor is suspended after a failure", null);
    if (drain == null) return new Diagnosis(reason + "; the actor "
        + (cell.isStranded() ? noThread(cell, null).text() : cell.isIdle() ? "is idle" : "is between two messages"),
        null);
    var snapshot = snapshot(drain);
    var observation = observation(snapshot);
    return new Diagnosis(
        reason + positionText(drain, snapshot, request) + "; the actor " + observation.activity().text(),
        observation.stack());
  }

  /**
   * Returns the position of the request in the queue, as a text that follows the reason. Returns an
   * empty text if the position is not known.
   */
  private static String positionText(HandlerContext drain, ActivationSnapshot snapshot, RequestFuture<?> request) {
    var queuePositions = snapshot.queuePositions.get();
    // counts again if the request may have come after the count
    if (queuePositions == null || queuePositions.complete() && !queuePositions.positions().containsKey(request))
      snapshot.queuePositions = new WeakReference<>(queuePositions = findPositions(drain));
    var position = queuePositions.positions().get(request);
    if (position != null) return ": it was number " + position + " in the queue";
    return queuePositions.complete() ? "" : ": at least 1,000 messages were before it"; // MAX_COUNTED
  }

  private static QueuePositions findPositions(HandlerContext drain) {
    var nodes = new ArrayList<Object>();
    boolean complete = drain.cell.publicCell().addFirst(drain.currentNode(), MAX_COUNTED, nodes);
    var positions = new IdentityHashMap<Object, Integer>();
    for (var node : nodes) positions.put(node, positions.size() + 1);
    return new QueuePositions(positions, complete);
  }
}

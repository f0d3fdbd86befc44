package io.fibry.engine.cell;

import io.fibry.engine.cell.ActivationSnapshot.FirstSeen;
import io.fibry.engine.cell.ActivationSnapshot.Observation;
import io.fibry.engine.cell.ActivationSnapshot.QueuePlaces;
import io.fibry.engine.jvm.CoarseClock;
import io.fibry.engine.jvm.MessageTexts;
import io.fibry.engine.jvm.StackTraces;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Diagnosis.HandlerStack;
import io.fibry.engine.message.Diagnosis;
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
import java.util.concurrent.TimeUnit;

/**
 * Observes actors from outside: which message they handle, for how long, and why an answer is late.
 */
public final class ActorInspector {
  private static final long FRESH = 100_000_000; // ns
  private static final int MAX_COUNTED = 1_000; // messages
  private static final int LOOK_TIME = 4_000; // ms; longer than a stack and two texts take at most
  private static final Observation BUSY = new Observation("is busy", null);
  private static final VarHandle SNAPSHOT = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "snapshot",
      VarHandle.class, HandlerContext.class, ActivationSnapshot.class);

  private ActorInspector() {}

  /** In words that follow "the actor". */
  public static String activity(Cell cell) {
    var drain = cell.worker();
    if (cell.isCutOff()) return "cut off, its handler still runs";
    var extras = cell.extrasOrNull();
    if (extras != null && extras.suspendedNode() != null) return "rests after a failure";
    if (drain == null || cell.isIdle()) return "idle";
    return cell.phase == Cell.LEAVING ? "ends" : observation(snapshot(drain)).activity();
  }

  /** @param found when the message was found: one object for each */
  public record SlowMessage(Object found, Object message, long nanos, String activity, HandlerStack stack) {}

  /**
   * Returns null if no message takes as long as {@code limit}, or if this message was reported
   * already.
   */
  public static SlowMessage findSlow(Cell cell, Duration limit, Object reported) {
    var drain = cell.worker();
    var since = drain == null ? null : rememberStart(drain);
    Object unit = since == null ? null : messageOrStep(drain);
    if (unit == null || since == reported) return null;
    long nanos = clock(drain) - since.nanos();
    if (nanos < Deadline.nanos(limit)) return null;
    var seen = observation(snapshot(drain));
    if (rememberStart(drain) != since) return null; // it has just taken another message
    return new SlowMessage(since, unit, nanos, seen.activity(), seen.stack());
  }

  /**
   * Returns for at least how many nanoseconds the actor has been handling its message, or 0 if it
   * handles none.
   */
  public static long busyNanos(Cell cell) {
    var drain = cell.worker();
    var since = drain == null ? null : rememberStart(drain);
    return since == null ? 0 : Math.max(1, clock(drain) - since.nanos());
  }

  public static void rememberStart(Cell cell, RequestFuture<?> request) {
    var drain = cell.workerOn(request);
    if (drain != null) rememberStart(drain);
  }

  private static FirstSeen rememberStart(HandlerContext drain) {
    Object node = node(drain);
    if (node == null) return null;
    var since = drain.firstSeen;
    if (since == null || !since.node().refersTo(node))
      drain.firstSeen = since = new FirstSeen(new WeakReference<>(node), startedAt(drain));
    return since;
  }

  /** {@return when the message or step began, or the present time, if that is not known} */
  private static long startedAt(HandlerContext drain) {
    long now = clock(drain);
    if (Environment.simulated != null || drain.cell.owner().options().scheduler() != Scheduler.system()) return now;
    Object message = drain.message;
    long noted =
        !(message instanceof MultiStepMessage) ? drain.startedAt
            : messageOrStep(drain) instanceof Timestamped step ? step.startNanos() : 0;
    return noted == 0 || message == null || drain.message != message ? now : Math.min(now, noted + CoarseClock.PERIOD);
  }

  /**
   * Returns an object that differs from message to message: the node, or the step. Returns null if
   * the actor handles no message.
   */
  private static Object node(HandlerContext drain) {
    Object unit = messageOrStep(drain);
    return unit == null || drain.message instanceof MultiStepMessage ? unit : drain.currentNode();
  }

  /** Returns the message, or its step, or null if there is none. */
  private static Object messageOrStep(HandlerContext drain) {
    Object message = drain.message;
    if (!(message instanceof MultiStepMessage steps)) return EngineMessage.unwrap(message);
    try {
      return steps.currentStep();
    } catch (Throwable failure) { // of the user
      return message;
    }
  }

  private static long clock(HandlerContext drain) {
    return drain.cell.owner().options().scheduler().nanoTime();
  }

  /** One observer makes it; others wait a little. */
  private static ActivationSnapshot snapshot(HandlerContext drain) {
    var step = drain.message instanceof MultiStepMessage ? rememberStart(drain) : null;
    while (true) {
      var last = drain.snapshot;
      if (last != null && isFresh(last, drain, step)) return last;
      var fresh = new ActivationSnapshot(clock(drain), step);
      if (!SNAPSHOT.compareAndSet(drain, last, fresh)) continue;
      try {
        fresh.seen.complete(inspect(drain, fresh));
      } finally {
        fresh.seen.complete(BUSY);
      }
      return fresh;
    }
  }

  /** There are few steps, and a step lasts, so each is examined every time. */
  private static boolean isFresh(ActivationSnapshot last, HandlerContext drain, FirstSeen step) {
    if (drain.message instanceof MultiStepMessage && (step == null || last.step != step)) return false;
    return clock(drain) - last.taken < FRESH && System.nanoTime() - last.made < FRESH;
  }

  private static Observation observation(ActivationSnapshot snapshot) {
    try {
      return snapshot.seen.get(LOOK_TIME, TimeUnit.MILLISECONDS);
    } catch (Exception late) {
      if (late instanceof InterruptedException) Thread.currentThread().interrupt();
      return BUSY;
    }
  }

  private static Observation inspect(HandlerContext drain, ActivationSnapshot snapshot) {
    var cell = drain.cell;
    var thread = drain.thread;
    if (thread == null) return new Observation(noThread(cell, drain), null);
    var since = rememberStart(drain);
    Object unit = messageOrStep(drain);
    if (since == null || unit == null) return new Observation(unoccupied(drain), null);
    var wait = drain.currentWait();
    var stack = handlerFrames(drain, StackTraces.of(thread));
    if (!since.node().refersTo(node(drain))) return new Observation("was going on to its next message", null);
    long nanos = snapshot.taken - since.nanos();
    String shown = cell.describe(unit);
    String doing = (nanos > 0 ? "has been handling " + shown + " for at least " + Durations.textOfNanos(nanos)
        : "is handling " + shown) + (wait == null ? "" : ", where it waits for " + wait.describe());
    return new Observation(doing, new HandlerStack(cell.name(), stack));
  }

  private static String unoccupied(HandlerContext drain) {
    Object message = drain.message;
    return message instanceof MultiStepMessage ? "waits for " + drain.cell.describe(message)
        : drain.cell.isIdle() ? "is idle" : "is between two messages";
  }

  private static String noThread(Cell cell, HandlerContext drain) {
    var waker = drain instanceof Activation woken ? woken.waker : null;
    if (waker != null) return "was woken by '" + waker.publicCell().name() + "', and has not begun yet";
    return "has been given no thread yet by " + MessageTexts.describe(cell.settings().strategy());
  }

  /**
   * Returns the stack frames of this handler, without the frames of the engine below it and of
   * nested handlers.
   */
  private static StackTraceElement[] handlerFrames(HandlerContext drain, StackTraceElement[] stack) {
    int below = 0;
    for (var outer = drain.outer; outer != null; outer = outer.outer) if (outer.message != null) below++;
    int end = stack.length;
    for (int i = stack.length; i-- > 0 && below >= 0;) if (stack[i].getMethodName().equals("attempt")
        && stack[i].getClassName().equals(MessageRun.class.getName()) && below-- == 0)
      end = i;
    while (end > 0 && HandlerStack.isEngine(stack[end - 1])) end--;
    return Arrays.copyOf(stack, end);
  }

  /** The request must still be in its queue. */
  public static Diagnosis diagnose(Cell cell, RequestFuture<?> request) {
    return request.isBegun() ? diagnoseBegun(cell, request) : diagnoseWaiting(cell, request);
  }

  private static Diagnosis diagnoseBegun(Cell cell, RequestFuture<?> request) {
    if (request.answered) return new Diagnosis("its handler promised the answer for later", null);
    var drain = cell.workerOn(request);
    if (drain == null) return new Diagnosis("it had begun with it", null);
    var seen = observation(snapshot(drain));
    return new Diagnosis("it had begun with it, and may still be at it; the actor " + seen.activity(), seen.stack());
  }

  private static Diagnosis diagnoseWaiting(Cell cell, RequestFuture<?> request) {
    var extras = cell.extrasOrNull();
    var drain = cell.workerOn(request);
    var entry = request.entry;
    String turn = "its turn had not come, and will not";
    if (entry != null && entry.isOutside())
      turn += ": it waited for room in the mailbox, which holds " + cell.capacity();
    if (entry != null && entry.isGone() && cell.isPool()) turn += ": a worker was given it";
    if (extras != null && extras.stash.contains(request)) turn += ": it was put aside";
    if (extras != null && extras.isRedelivery(request))
      turn = "its handler had failed, and it was to be handled again after a rest";
    if (extras != null && extras.suspendedNode() != null)
      return new Diagnosis(turn + "; the actor rests after a failure", null);
    if (drain == null) return new Diagnosis(turn + "; the actor "
        + (cell.isStranded() ? noThread(cell, null) : cell.isIdle() ? "is idle" : "is between two messages"), null);
    var snapshot = snapshot(drain);
    var seen = observation(snapshot);
    return new Diagnosis(turn + place(drain, snapshot, request) + "; the actor " + seen.activity(), seen.stack());
  }

  /** Follows "its turn had not come". Returns an empty text if the place is not known. */
  private static String place(HandlerContext drain, ActivationSnapshot snapshot, RequestFuture<?> request) {
    var found = snapshot.places.get();
    // it came after the count
    if (found == null || found.complete() && !found.places().containsKey(request))
      snapshot.places = new WeakReference<>(found = count(drain));
    var number = found.places().get(request);
    if (number != null) return ": it was number " + number + " in the queue";
    return found.places().size() < MAX_COUNTED ? "" : ": more than 1,000 were before it";
  }

  private static QueuePlaces count(HandlerContext drain) {
    var first = new ArrayList<Object>();
    boolean all = drain.cell.publicCell().addFirst(drain.currentNode(), MAX_COUNTED, first);
    var places = new IdentityHashMap<Object, Integer>();
    for (var node : first) places.put(node, places.size() + 1);
    return new QueuePlaces(places, all);
  }
}

package io.fibry.simulation;

import io.fibry.simulation.tap.MachineLookup;
import io.fibry.simulation.tap.RandomTap;
import io.fibry.simulation.tap.SimulatedMachine;
import java.net.SocketImpl;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One run: the scheduler of its threads, their clock and their chance. A step is what a thread does
 * until it waits, yields or ends; there is one at a time, on the thread that called {@link #play}.
 *
 * <p>So no field needs a lock: simulated threads touch them only while they run on that thread. All
 * others come by {@code externalSteps}, or end the run by {@code failure}.
 */
final class SimulationRun implements SimulatedMachine, SmallMailboxes.MailboxLimiter {
  private static final long MAX_TIME_AFTER_PROGRAM = 3_600_000_000_000L; // ns that what the program left may take
  private static final int MAX_IDLE_STEPS = 100; // steps
  private static final int MESSAGE_STEP_WEIGHT = 100; // steps with messages, for one in which threads only give way
  private static final MonitorBarrier SENTINEL = new MonitorBarrier();
  static volatile long waitForOthers = 500_000_000; // ns of real time that a deadlock waits for others; tests change it
  private static final int SPINS_UNTIL_YIELD = 64; // until a thread that only spins or yields lets all others go first

  final SplittableRandom chance; // of the program
  final Faults faults;
  final RunEvents events;
  final SimulatedClock clock;
  final Invariants invariants = new Invariants();
  final SimulatedNetwork network;
  final SimulatedScheduler scheduler = new SimulatedScheduler(this);
  final @Nullable MessageTrace trace; // null: not wanted
  final FailureDomain outsideNodes = new FailureDomain(this, "no node");
  private final ThreadChooser chooser;
  private final long maxSteps;
  private final Decisions decisions = new Decisions();
  private final LivingThreads livingThreads = new LivingThreads();
  private final List<SimulatedThread> ready = new ArrayList<>(); // the thread that has been ready for longest first
  private final TreeSet<SimulatedThread> waitingForMonitors = new TreeSet<>(LivingThreads.BY_BIRTH);
  // Steps, by other threads.
  private final ConcurrentLinkedQueue<Runnable> externalSteps = new ConcurrentLinkedQueue<>();
  private volatile @Nullable Thread player;
  private volatile @Nullable RunFailure failure; // the first
  private volatile boolean isOver;
  private volatile long steps;
  private volatile @Nullable SimulatedThread current;
  private @Nullable SimulatedThread last;
  // the place of the thread that is being started; null for the place of its starter
  private @Nullable FailureDomain startingDomain;
  private long hash = 0x9E3779B97F4A7C15L;
  private int spins;
  boolean isOvertaking; // the thread that runs was not the oldest
  private boolean endedAtFinePoint; // its step ended at a fine point
  private boolean hasProgress; // something happened to another thread
  boolean hasMessages; // it has sent or handled a message: to itself, perhaps
  private int idle; // steps without progress, times TALKS
  private long endTime = Long.MAX_VALUE; // of the time after the program

  SimulationRun(Faults faults, SplittableRandom chance, ThreadChooser chooser, RunEvents events, long maxSteps,
      @Nullable MessageTrace trace) {
    this.chance = chance;
    this.faults = faults;
    this.chooser = chooser;
    this.events = events;
    this.clock = new SimulatedClock(events);
    this.network = new SimulatedNetwork(this);
    this.maxSteps = maxSteps;
    this.trace = trace;
  }

  // ---- the machine

  @Override
  public void execute(Runnable step) {
    if (MachineLookup.machine() == this) onReady(step);
    else {
      externalSteps.add(step);
      LockSupport.unpark(player);
    }
  }

  private void onReady(Runnable step) {
    if (isOver) return;
    var task = livingThreads.of(step);
    if (task == null) task = register(step);
    events.add(RunEvents.RunEventKind.READY, task.number);
    if (task.ready || task.isGone()) return;
    if (trace != null) trace.onWake(this, task);
    if (task != current) hasProgress = true;
    task.ready = true;
    if (faults.tryStrike(FaultKind.DELAYS)) {
      var late = task;
      clock.schedule(() -> ready.add(late), faults.drawAmount(FaultKind.DELAYS), task.domain);
    } else if (task.domain.isPaused()) holdUntilResumed(task);
    else ready.add(task);
  }

  private void holdUntilResumed(SimulatedThread task) {
    task.domain.hold(() -> ready.add(task));
  }

  private SimulatedThread register(Runnable step) {
    if (faults.mayStrike(FaultKind.THREADS) && SimulatedThread.isStartedByLibrary()
        && faults.tryStrike(FaultKind.THREADS))
      throw new RejectedExecutionException("the simulation has no thread for it: a fault");
    var thread = VirtualThreadInternals.of(step);
    var task = livingThreads.add(step, thread, domainOfNewThread());
    chooser.onStart(task);
    return task;
  }

  private FailureDomain domainOfNewThread() {
    if (startingDomain != null) return startingDomain;
    var to = current == null ? null : current.sendsTo;
    return to != null && to != current.domain && SimulatedThread.isStartedForActor() ? to : currentDomain();
  }

  /** Returns the place of the running thread; for timers, the place outside of all nodes. */
  FailureDomain currentDomain() {
    return current == null ? outsideNodes : current.domain;
  }

  @Override
  public long nanoTime() {
    return clock.read();
  }

  @Override
  public long currentTimeMillis() {
    return clock.wallMillis();
  }

  @Override
  public Future<?> schedule(Runnable task, long nanos) {
    hasProgress = true;
    return clock.schedule(task, nanos, currentDomain());
  }

  @Override
  public long random() {
    long drawn = chance.nextLong();
    events.add(RunEvents.RunEventKind.CHANCE, drawn >>> 8);
    return drawn;
  }

  @Override
  public void spin() {
    clock.spin();
    if (++spins % SPINS_UNTIL_YIELD != 0) return;
    if (current != null) chooser.onYield(current);
    Thread.yield();
  }

  @Override
  public long idOf(Thread thread) {
    return livingThreads.idOf(thread);
  }

  @Override
  public int roomFor(int capacity) {
    return faults.tryStrike(FaultKind.MAILBOXES) ? (int) Math.min(capacity, faults.drawAmount(FaultKind.MAILBOXES))
        : capacity;
  }

  @Override
  public ThreadFactory threads() {
    return VirtualThreadInternals.builder(this).factory();
  }

  @Override
  public SocketImpl socket(boolean server) {
    return new SimulatedSocket(this, network, server);
  }

  // ---- for the program

  Thread start(String name, FailureDomain domain, Runnable code) {
    var before = startingDomain;
    startingDomain = domain;
    try {
      return VirtualThreadInternals.builder(this).name(name).start(code);
    } finally {
      startingDomain = before;
    }
  }

  /** A place where others may go first. */
  void yieldPoint() {
    if (!ready.isEmpty() || currentDomain().isPaused()) Thread.yield();
  }

  /** Pauses a place, and this thread, too, if it is in that place. */
  void pause(FailureDomain domain, long nanos) {
    domain.pauseUntil(clock.now() + nanos);
    for (var task : ready) if (task.domain == domain) holdUntilResumed(task);
    ready.removeIf(task -> task.domain == domain);
    clock.schedule(() -> domain.resume(clock.now()), nanos, outsideNodes);
    if (currentDomain() == domain) Thread.yield();
  }

  /** A fine point of the thread that runs. */
  void finePoint() {
    var task = current;
    if (task == null || task.initializerDepth > 0) return;
    events.add(RunEvents.RunEventKind.POINT, task.number);
    if (ready.isEmpty()) return;
    boolean gives = chooser.shouldYield();
    decisions.add(gives ? 1 : 0);
    if (!gives) return;
    if (trace != null) trace.onYield(this);
    chooser.onYield(task);
    endedAtFinePoint = true;
    Thread.yield();
  }

  void fail(RunFailure why) {
    if (failure == null) failure = why;
    isOver = true;
  }

  /** Gives threads and scopes that the program left some time to end by themselves. */
  void onProgramEnd() {
    faults.stop();
    endTime = clock.now() + MAX_TIME_AFTER_PROGRAM;
  }

  // ---- the loop

  /** Plays the run to its end. While it goes well, the failure stays null. */
  void play(Runnable main) {
    player = Thread.currentThread();
    try {
      RandomTap.reset(chance.nextLong());
      start("main", outsideNodes, main);
      while (!isOver && runStep()) {
      }
    } catch (Throwable broken) {
      fail(RunFailure.thrown(broken));
    } finally {
      isOver = true;
    }
  }

  /** Returns false if nothing can happen any more. */
  private boolean runStep() {
    takeExternalSteps();
    if (isOver) return false;
    while (clock.nanosUntilNext() == 0) runTimer();
    if (ready.isEmpty()) return moveToNextTimer();
    if (!endedAtFinePoint && tryStall()) return true;
    var task = chooseNext();
    if (task.isGone()) return true;
    if (++steps > maxSteps) {
      fail(RunFailure.of(RunFailure.FailureKind.LIVELOCK,
          "live-lock: " + maxSteps + " steps and no end; next was " + task));
      return false;
    }
    mixIntoHash(task.number);
    events.add(RunEvents.RunEventKind.RUNS, task.number);
    if (task != last) clock.onThreadSwitch();
    last = task;
    run(task);
    var untrue = invariants.findViolation();
    if (untrue != null) fail(untrue);
    return true;
  }

  private boolean moveToNextTimer() {
    long left = clock.nanosUntilNext();
    if (left < 0) return awaitExternalStep();
    if (clock.now() + left > endTime) return false;
    runTimer();
    return true;
  }

  /** Whether a deadlock that is shown is none: a thread waits for one outside. */
  private boolean awaitExternalStep() {
    if (trace == null || livingThreads.livingThreads().isEmpty()) return false;
    long patience = waitForOthers;
    long end = System.nanoTime() + patience; // the player is no simulated thread
    for (long left = patience; externalSteps.isEmpty() && left > 0; left = end - System.nanoTime())
      LockSupport.parkNanos(left);
    return !externalSteps.isEmpty();
  }

  private void runTimer() {
    clock.runNext();
    mixIntoHash(clock.now());
  }

  /** Whether time passes although threads could run. */
  private boolean tryStall() {
    if (faults.mayStrike(FaultKind.STALLS) && clock.nanosUntilNext() >= 0 && faults.tryStrike(FaultKind.STALLS)
        && clock.nanosUntilNext() <= faults.drawAmount(FaultKind.STALLS)) {
      runTimer();
      return true;
    }
    faults.jump(clock);
    return false;
  }

  private SimulatedThread chooseNext() {
    int at = 0;
    if (ready.size() > 1) {
      at = chooser.choose(ready, steps);
      decisions.add(at);
    }
    isOvertaking = at > 0;
    var task = ready.remove(at);
    task.ready = false;
    return task;
  }

  private void run(SimulatedThread task) {
    hasProgress = hasMessages = endedAtFinePoint = false;
    current = task;
    task.sendsTo = null;
    task.continuation.run();
    current = null;
    if (!task.thread.isAlive()) livingThreads.remove(task);
    else if (VirtualThreadInternals.waitsForMonitor(task.thread)) waitingForMonitors.add(task);
    if (!waitingForMonitors.isEmpty()) wakeFromMonitors();
    if (endedAtFinePoint && !hasProgress) return; // it waits for nothing
    task.yieldCount = hasProgress || !task.ready ? 0 : task.yieldCount + 1;
    if (task.yieldCount == SPINS_UNTIL_YIELD) {
      task.yieldCount = 0;
      chooser.onYield(task);
    }
    if (hasProgress) idle = 0;
    else if ((idle += hasMessages ? 1 : MESSAGE_STEP_WEIGHT)
        > MESSAGE_STEP_WEIGHT * (MAX_IDLE_STEPS + 10 * ready.size())) {
          idle = 0;
          clock.advance();
        }
  }

  /** Threads that a monitor let in are ready now, in the order of their birth. */
  private void wakeFromMonitors() {
    SENTINEL.settle();
    var woken = new TreeSet<SimulatedThread>(waitingForMonitors.comparator());
    for (var step = externalSteps.poll(); step != null; step = externalSteps.poll()) {
      var task = livingThreads.of(step);
      if (task == null) continue;
      if (!waitingForMonitors.contains(task)) onUncaught(task);
      woken.add(task);
    }
    for (var task : woken) onReady(task.continuation);
    waitingForMonitors.removeIf(task -> !VirtualThreadInternals.waitsForMonitor(task.thread));
  }

  private void takeExternalSteps() {
    for (var step = externalSteps.poll(); step != null; step = externalSteps.poll()) {
      var task = livingThreads.of(step);
      if (task != null) onUncaught(task); // else it is of another run
    }
  }

  private void onUncaught(SimulatedThread task) {
    fail(RunFailure.of(RunFailure.FailureKind.UNCAUGHT,
        "a thread from outside the simulation woke " + task + ", which waited\n"
            + ThreadReport.of(List.of(task)) + "Simulate what that one does, or keep it out"));
  }

  private void mixIntoHash(long value) {
    long mixed = (hash ^ value) * 0xff51afd7ed558ccdL;
    hash = mixed ^ mixed >>> 32;
  }

  // ---- how it went; also while a thread holds it

  LivingThreads livingThreads() {
    return livingThreads;
  }

  @Nullable
  RunFailure failure() {
    return failure;
  }

  long steps() {
    return steps;
  }

  long hash() {
    return hash;
  }

  Decisions decisions() {
    return decisions;
  }

  @Nullable
  SimulatedThread current() {
    return current;
  }
}

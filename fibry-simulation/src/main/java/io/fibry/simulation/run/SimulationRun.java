package io.fibry.simulation.run;

import io.fibry.Handler;
import io.fibry.simulation.tap.MachineLookup;
import io.fibry.simulation.tap.RandomTap;
import io.fibry.simulation.tap.SimulatedMachine;
import java.net.SocketImpl;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One run: the scheduler, clock and random numbers of its threads. A step is the code that a thread
 * runs until it waits, yields or ends. A send yields if another thread is ready, or the thread's
 * node is paused. One step runs at a time, on the thread that called play.
 *
 * <p>No field needs a lock, because simulated threads use the fields only during their steps. Other
 * threads only add to {@code externalSteps}, end the run by {@link #fail}, and read volatile
 * fields.
 */
public final class SimulationRun implements SimulatedMachine, MailboxLimiter {
  private static final long MAX_TIME_AFTER_PROGRAM = 3_600_000_000_000L; // ns by the run's clock; see onProgramEnd
  private static final int MAX_IDLE_STEPS = 100; // idle steps, plus 10 for each ready thread, until the clock moves
  private static final int SILENT_STEP_WEIGHT = 100; // as many idle steps with messages count as one without messages
  private static final WakeUpBarrier MONITOR_BARRIER = new WakeUpBarrier();
  public static volatile long externalWaitNanos = 500_000_000; // real ns that awaitExternalStep waits; tests change it
  private static final int SPINS_UNTIL_YIELD = 64; // spins of all threads, or yields of one, until others run first

  public final SplittableRandom random; // the random numbers of the program
  public final FaultInjector faults;
  final RunEvents events;
  public final SimulatedClock clock;
  public final Invariants invariants = new Invariants();
  public final @Nullable MessageTrace trace; // null: not recorded
  public final FailureDomain outsideNodes = new FailureDomain("no node");
  public final LivingThreads livingThreads = new LivingThreads();
  public final Decisions decisions = new Decisions();
  public @Nullable Function<Boolean, SocketImpl> socketMaker; // set by the network; takes true for a server
  private final ThreadChooser chooser;
  private final long maxSteps;
  private final List<SimulatedThread> ready = new ArrayList<>(); // the thread that has been ready for longest first
  private final TreeSet<SimulatedThread> waitingForMonitors = new TreeSet<>(LivingThreads.BY_NUMBER);
  private final ConcurrentLinkedQueue<Runnable> externalSteps = new ConcurrentLinkedQueue<>(); // woken by other threads
  private volatile @Nullable Thread player; // the thread that called play
  private volatile @Nullable RunFailure failure; // the first failure; null: none
  private volatile boolean isOver;
  private volatile long steps;
  private volatile @Nullable SimulatedThread current; // the thread whose step runs; null between steps
  private @Nullable SimulatedThread lastRun; // the thread whose step ran last
  // the failure domain of the thread that is being started; null for the domain of its starter
  private @Nullable FailureDomain startingDomain;
  private long hash = 0x9E3779B97F4A7C15L; // hash of the order of steps and timers so far
  private int spins; // spins of all threads so far
  private boolean isOvertaking; // another thread had been ready for longer than the thread that runs
  private boolean endedAtYieldPoint; // the last step ended at a point of YieldPoints
  private boolean hasProgress; // the step made another thread ready, or set a timer
  boolean hasMessages; // the step sent or handled a message
  private int idleWeight; // the sum of the weights of steps since the last progress
  private long endTime = Long.MAX_VALUE; // ns by the run's clock; no later timer runs

  public SimulationRun(FaultInjector faults, SplittableRandom programRandom, ThreadChooser chooser, RunEvents events,
      long maxSteps, boolean isTraced) {
    this.random = programRandom;
    this.faults = faults;
    this.chooser = chooser;
    this.events = events;
    this.clock = new SimulatedClock(events);
    this.maxSteps = maxSteps;
    this.trace = isTraced ? new MessageTrace(clock) : null;
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
    var fiber = livingThreads.of(step);
    if (fiber == null) fiber = register(step);
    events.add(RunEvents.RunEventKind.READY, fiber.number);
    if (fiber.isReady || fiber.isCrashed()) return;
    if (trace != null) trace.onWake(current, fiber);
    if (fiber != current) hasProgress = true;
    fiber.isReady = true;
    if (faults.tryStrike(FaultKind.DELAYS)) {
      var delayed = fiber;
      clock.schedule(() -> ready.add(delayed), faults.drawAmount(FaultKind.DELAYS), fiber.domain);
    } else if (fiber.domain.isPaused()) holdUntilResumed(fiber);
    else ready.add(fiber);
  }

  private void holdUntilResumed(SimulatedThread fiber) {
    fiber.domain.hold(() -> ready.add(fiber));
  }

  private SimulatedThread register(Runnable step) {
    if (faults.mayStrike(FaultKind.THREADS) && SimulatedThread.isStartedByLibrary()
        && faults.tryStrike(FaultKind.THREADS))
      throw new RejectedExecutionException("a fault of the simulation: no thread is started for this actor");
    var thread = VirtualThreadInternals.threadOf(step);
    var fiber = livingThreads.add(step, thread, domainOfNewThread());
    chooser.onStart(fiber);
    return fiber;
  }

  private FailureDomain domainOfNewThread() {
    if (startingDomain != null) return startingDomain;
    var target = current == null ? null : current.receiverDomain;
    return target != null && target != current.domain && SimulatedThread.isStartedForActor() ? target : currentDomain();
  }

  /** Returns the failure domain of the running thread; while a timer runs, {@code outsideNodes}. */
  public FailureDomain currentDomain() {
    return current == null ? outsideNodes : current.domain;
  }

  @Override
  public long nanoTime() {
    return clock.readByProgram();
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
    long drawn = random.nextLong();
    events.add(RunEvents.RunEventKind.RANDOM, drawn >>> 8);
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
  public int limitedCapacity(int capacity) {
    return faults.limitedCapacity(capacity);
  }

  @Override
  public ThreadFactory threads() {
    return VirtualThreadInternals.builder(this).factory();
  }

  @Override
  public SocketImpl socket(boolean server) {
    return socketMaker.apply(server);
  }

  // ---- for the program

  Thread start(String name, FailureDomain domain, Runnable code) {
    var previousDomain = startingDomain;
    startingDomain = domain;
    try {
      return VirtualThreadInternals.builder(this).name(name).start(code);
    } finally {
      startingDomain = previousDomain;
    }
  }

  /** Starts a thread of the program. An exception that it throws fails the run. */
  public Thread startProgramThread(String name, FailureDomain domain, Handler.Task code) {
    Objects.requireNonNull(code, "code");
    return start(Objects.requireNonNull(name, "name"), domain, () -> {
      try {
        code.run();
      } catch (Throwable thrown) {
        fail(RunFailure.ofException(thrown));
      }
    });
  }

  /** Called at sends and other operations: yields if a thread is ready, or the node is paused. */
  public void yieldAtSend() {
    if (!ready.isEmpty() || currentDomain().isPaused()) Thread.yield();
  }

  /** Adds a line to the trace, if the run has a trace. */
  public void note(String text) {
    if (trace != null) trace.note(text);
  }

  /** Pauses a failure domain, and the running thread, too, if it belongs to that domain. */
  public void pause(FailureDomain domain, long nanos) {
    domain.pauseUntil(clock.now() + nanos);
    for (var fiber : ready) if (fiber.domain == domain) holdUntilResumed(fiber);
    ready.removeIf(fiber -> fiber.domain == domain);
    clock.schedule(() -> domain.resume(clock.now()), nanos, outsideNodes);
    if (currentDomain() == domain) Thread.yield();
  }

  /** Called at a yield point: lets other threads run first if the chooser decides so. */
  public void passYieldPoint() {
    var fiber = current;
    if (fiber == null || fiber.initializerDepth > 0) return;
    events.add(RunEvents.RunEventKind.YIELD_POINT, fiber.number);
    if (ready.isEmpty()) return;
    boolean yields = chooser.shouldYield();
    decisions.add(yields ? 1 : 0);
    if (!yields) return;
    if (trace != null) trace.onYield(fiber);
    chooser.onYield(fiber);
    endedAtYieldPoint = true;
    Thread.yield();
  }

  public void fail(RunFailure reason) {
    if (failure == null) failure = reason;
    isOver = true;
  }

  /** Stops the faults, and begins the time in which remaining threads and scopes must end. */
  public void onProgramEnd() {
    faults.stop();
    endTime = clock.now() + MAX_TIME_AFTER_PROGRAM;
  }

  // ---- the loop

  /** Runs the program and its threads until the run ends. Sets {@link #failure} if it fails. */
  void play(Runnable main) {
    player = Thread.currentThread();
    try {
      RandomTap.reset(random.nextLong());
      start("main", outsideNodes, main);
      while (!isOver && runStep()) {
      }
    } catch (Throwable broken) {
      fail(RunFailure.ofException(broken));
    } finally {
      isOver = true;
    }
  }

  /** Runs one step, or the next timer. Returns false if the run is over. */
  private boolean runStep() {
    failOnExternalSteps();
    if (isOver) return false;
    while (clock.nanosUntilNext() == 0) runTimer();
    if (ready.isEmpty()) return moveToNextTimer();
    if (!endedAtYieldPoint && stallOrJump()) return true;
    var fiber = chooseNext();
    if (fiber.isCrashed()) return true;
    if (++steps > maxSteps) {
      fail(RunFailure.of(RunFailure.FailureKind.LIVELOCK,
          "live-lock: no end after " + maxSteps + " steps; the next thread was " + fiber));
      return false;
    }
    mixIntoHash(fiber.number);
    events.add(RunEvents.RunEventKind.RUN, fiber.number);
    if (fiber != lastRun) clock.onThreadSwitch();
    lastRun = fiber;
    if (trace != null) trace.onStep(steps, isOvertaking);
    run(fiber);
    var violation = invariants.findViolation();
    if (violation != null) fail(violation);
    return true;
  }

  private boolean moveToNextTimer() {
    long delay = clock.nanosUntilNext();
    if (delay < 0) return awaitExternalStep();
    if (clock.now() + delay > endTime) return false;
    runTimer();
    return true;
  }

  /**
   * In a traced run, waits until a thread outside of the run wakes a thread of the run, to report
   * this wake-up. Returns whether a wake-up came.
   */
  private boolean awaitExternalStep() {
    if (trace == null || livingThreads.list().isEmpty()) return false;
    long limit = externalWaitNanos;
    long deadline = System.nanoTime() + limit; // real time, because the player is not a simulated thread
    for (long remaining = limit; externalSteps.isEmpty() && remaining > 0; remaining = deadline - System.nanoTime())
      LockSupport.parkNanos(remaining);
    return !externalSteps.isEmpty();
  }

  private void runTimer() {
    clock.runNext();
    mixIntoHash(clock.now());
  }

  /** May inject a stall or a clock jump; returns whether a timer ran instead of a step. */
  private boolean stallOrJump() {
    if (faults.shouldStall(clock)) {
      runTimer();
      return true;
    }
    faults.jump(clock);
    return false;
  }

  private SimulatedThread chooseNext() {
    int rank = 0;
    if (ready.size() > 1) {
      rank = chooser.choose(ready, steps);
      decisions.add(rank);
    }
    isOvertaking = rank > 0;
    var fiber = ready.remove(rank);
    fiber.isReady = false;
    return fiber;
  }

  private void run(SimulatedThread fiber) {
    hasProgress = hasMessages = endedAtYieldPoint = false;
    current = fiber;
    fiber.receiverDomain = null;
    fiber.continuation.run();
    current = null;
    if (!fiber.thread.isAlive()) livingThreads.remove(fiber);
    else if (VirtualThreadInternals.isWaitingForMonitor(fiber.thread)) waitingForMonitors.add(fiber);
    if (!waitingForMonitors.isEmpty()) wakeFromMonitors();
    if (endedAtYieldPoint && !hasProgress) return; // not idle: the thread gave way in the middle of its work
    fiber.yieldCount = hasProgress || !fiber.isReady ? 0 : fiber.yieldCount + 1;
    if (fiber.yieldCount == SPINS_UNTIL_YIELD) {
      fiber.yieldCount = 0;
      chooser.onYield(fiber);
    }
    if (hasProgress) idleWeight = 0;
    else if ((idleWeight += hasMessages ? 1 : SILENT_STEP_WEIGHT)
        > SILENT_STEP_WEIGHT * (MAX_IDLE_STEPS + 10 * ready.size())) {
          idleWeight = 0;
          clock.advance();
        }
  }

  /** Makes the threads ready that monitors have released, in the order of their numbers. */
  private void wakeFromMonitors() {
    MONITOR_BARRIER.settle();
    var woken = new TreeSet<SimulatedThread>(waitingForMonitors.comparator());
    for (var step = externalSteps.poll(); step != null; step = externalSteps.poll()) {
      var fiber = livingThreads.of(step);
      if (fiber == null) continue;
      if (!waitingForMonitors.contains(fiber)) failExternalWakeUp(fiber);
      woken.add(fiber);
    }
    for (var fiber : woken) onReady(fiber.continuation);
    waitingForMonitors.removeIf(fiber -> !VirtualThreadInternals.isWaitingForMonitor(fiber.thread));
  }

  private void failOnExternalSteps() {
    for (var step = externalSteps.poll(); step != null; step = externalSteps.poll()) {
      var fiber = livingThreads.of(step);
      if (fiber != null) failExternalWakeUp(fiber); // null: a thread of another run
    }
  }

  private void failExternalWakeUp(SimulatedThread fiber) {
    fail(RunFailure.of(RunFailure.FailureKind.EXTERNAL_WAKE_UP,
        "a thread from outside the simulation woke " + fiber + ", which waited\n"
            + ThreadReport.of(List.of(fiber)) + "Simulate the code of that thread, or keep it out of the program"));
  }

  private void mixIntoHash(long value) {
    long mixed = (hash ^ value) * 0xff51afd7ed558ccdL;
    hash = mixed ^ mixed >>> 32;
  }

  // ---- the outcome; other threads may read it during the run, except the hash

  @Nullable
  public RunFailure failure() {
    return failure;
  }

  public long steps() {
    return steps;
  }

  public long hash() {
    return hash;
  }

  @Nullable
  public SimulatedThread current() {
    return current;
  }
}

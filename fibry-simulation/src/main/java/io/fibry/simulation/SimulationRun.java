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
 * others come by {@code outside}, or end the run by {@code failure}.
 */
final class SimulationRun implements SimulatedMachine, SmallMailboxes.MailboxLimiter {
  private static final long AFTERWARDS = 3_600_000_000_000L; // ns that what the program left may take
  private static final int IDLE = 100; // steps
  private static final int TALKS = 100; // steps with messages, for one in which threads only give way
  private static final MonitorBarrier SENTINEL = new MonitorBarrier();
  static volatile long waitForOthers = 500_000_000; // ns of real time that a deadlock waits for others; tests change it
  private static final int SPINS = 64; // until a thread that only spins or yields lets all others go first

  final SplittableRandom chance; // of the program
  final Faults faults;
  final RunEvents events;
  final SimulatedClock clock;
  final Invariants facts = new Invariants();
  final SimulatedNetwork network;
  final SimulatedScheduler scheduler = new SimulatedScheduler(this);
  final @Nullable MessageTrace trace; // null: not wanted
  final FailureDomain elsewhere = new FailureDomain(this, "no node");
  private final ThreadChooser choice;
  private final long mostSteps;
  private final Decisions decisions = new Decisions();
  private final LivingThreads tasks = new LivingThreads();
  private final List<SimulatedThread> ready = new ArrayList<>(); // the thread that has been ready for longest first
  private final TreeSet<SimulatedThread> inMonitors = new TreeSet<>(LivingThreads.BY_BIRTH);
  private final ConcurrentLinkedQueue<Runnable> outside = new ConcurrentLinkedQueue<>(); // steps, by other threads
  private volatile @Nullable Thread player;
  private volatile @Nullable RunFailure failure; // the first
  private volatile boolean over;
  private volatile long steps;
  private volatile @Nullable SimulatedThread current;
  private @Nullable SimulatedThread last;
  // the place of the thread that is being started; null for the place of its starter
  private @Nullable FailureDomain starting;
  private long hash = 0x9E3779B97F4A7C15L;
  private int spins;
  boolean overtook; // the thread that runs was not the oldest
  private boolean finely; // its step ended at a fine point
  private boolean progress; // something happened to another thread
  boolean talks; // it has sent or handled a message: to itself, perhaps
  private int idle; // steps without progress, times TALKS
  private long end = Long.MAX_VALUE; // of the time after the program

  SimulationRun(Faults faults, SplittableRandom chance, ThreadChooser choice, RunEvents events, long mostSteps,
      @Nullable MessageTrace trace) {
    this.chance = chance;
    this.faults = faults;
    this.choice = choice;
    this.events = events;
    this.clock = new SimulatedClock(events);
    this.network = new SimulatedNetwork(this);
    this.mostSteps = mostSteps;
    this.trace = trace;
  }

  // ---- the machine

  @Override
  public void execute(Runnable step) {
    if (MachineLookup.machine() == this) becomesReady(step);
    else {
      outside.add(step);
      LockSupport.unpark(player);
    }
  }

  private void becomesReady(Runnable step) {
    if (over) return;
    var task = tasks.of(step);
    if (task == null) task = birth(step);
    events.add(RunEvents.RunEventKind.READY, task.number);
    if (task.ready || task.isGone()) return;
    if (trace != null) trace.wakes(this, task);
    if (task != current) progress = true;
    task.ready = true;
    if (faults.strikes(FaultKind.DELAYS)) {
      var late = task;
      clock.schedule(() -> ready.add(late), faults.amount(FaultKind.DELAYS), task.at);
    } else if (task.at.isStill()) hold(task);
    else ready.add(task);
  }

  private void hold(SimulatedThread task) {
    task.at.hold(() -> ready.add(task));
  }

  private SimulatedThread birth(Runnable step) {
    if (faults.mayStrike(FaultKind.THREADS) && SimulatedThread.isOfLibrary() && faults.strikes(FaultKind.THREADS))
      throw new RejectedExecutionException("the simulation has no thread for it: a fault");
    var thread = VirtualThreadInternals.of(step);
    var task = tasks.born(step, thread, placeOfNew());
    choice.born(task);
    return task;
  }

  private FailureDomain placeOfNew() {
    if (starting != null) return starting;
    var to = current == null ? null : current.sendsTo;
    return to != null && to != current.at && SimulatedThread.isOfActor() ? to : place();
  }

  /** Returns the place of the running thread; for timers, the place outside of all nodes. */
  FailureDomain place() {
    return current == null ? elsewhere : current.at;
  }

  @Override
  public long nanoTime() {
    return clock.look();
  }

  @Override
  public long currentTimeMillis() {
    return clock.wall();
  }

  @Override
  public Future<?> schedule(Runnable task, long nanos) {
    progress = true;
    return clock.schedule(task, nanos, place());
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
    if (++spins % SPINS != 0) return;
    if (current != null) choice.gaveWay(current);
    Thread.yield();
  }

  @Override
  public long idOf(Thread thread) {
    return tasks.idOf(thread);
  }

  @Override
  public int roomFor(int capacity) {
    return faults.strikes(FaultKind.MAILBOXES) ? (int) Math.min(capacity, faults.amount(FaultKind.MAILBOXES))
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

  Thread start(String name, FailureDomain place, Runnable code) {
    var before = starting;
    starting = place;
    try {
      return VirtualThreadInternals.builder(this).name(name).start(code);
    } finally {
      starting = before;
    }
  }

  /** A place where others may go first. */
  void point() {
    if (!ready.isEmpty() || place().isStill()) Thread.yield();
  }

  /** Pauses a place, and this thread, too, if it is in that place. */
  void pause(FailureDomain place, long nanos) {
    place.standStill(clock.now() + nanos);
    for (var task : ready) if (task.at == place) hold(task);
    ready.removeIf(task -> task.at == place);
    clock.schedule(() -> place.goOn(clock.now()), nanos, elsewhere);
    if (place() == place) Thread.yield();
  }

  /** A fine point of the thread that runs. */
  void pass() {
    var task = current;
    if (task == null || task.initializes > 0) return;
    events.add(RunEvents.RunEventKind.POINT, task.number);
    if (ready.isEmpty()) return;
    boolean gives = choice.givesWay();
    decisions.add(gives ? 1 : 0);
    if (!gives) return;
    if (trace != null) trace.givesWay(this);
    choice.gaveWay(task);
    finely = true;
    Thread.yield();
  }

  void fail(RunFailure why) {
    if (failure == null) failure = why;
    over = true;
  }

  /** Gives threads and scopes that the program left some time to end by themselves. */
  void programEnds() {
    faults.stop();
    end = clock.now() + AFTERWARDS;
  }

  // ---- the loop

  /** Plays the run to its end. While it goes well, the failure stays null. */
  void play(Runnable main) {
    player = Thread.currentThread();
    try {
      RandomTap.reset(chance.nextLong());
      start("main", elsewhere, main);
      while (!over && step()) {
      }
    } catch (Throwable broken) {
      fail(RunFailure.thrown(broken));
    } finally {
      over = true;
    }
  }

  /** Returns false if nothing can happen any more. */
  private boolean step() {
    takeFromOutside();
    if (over) return false;
    while (clock.untilNext() == 0) runTimer();
    if (ready.isEmpty()) return moveToNextTimer();
    if (!finely && stalls()) return true;
    var task = next();
    if (task.isGone()) return true;
    if (++steps > mostSteps) {
      fail(RunFailure.of(RunFailure.FailureKind.LIVELOCK,
          "live-lock: " + mostSteps + " steps and no end; next was " + task));
      return false;
    }
    mix(task.number);
    events.add(RunEvents.RunEventKind.RUNS, task.number);
    if (task != last) clock.otherThread();
    last = task;
    run(task);
    var untrue = facts.look();
    if (untrue != null) fail(untrue);
    return true;
  }

  private boolean moveToNextTimer() {
    long left = clock.untilNext();
    if (left < 0) return waitsOutside();
    if (clock.now() + left > end) return false;
    runTimer();
    return true;
  }

  /** Whether a deadlock that is shown is none: a thread waits for one outside. */
  private boolean waitsOutside() {
    if (trace == null || tasks.alive().isEmpty()) return false;
    long patience = waitForOthers;
    long end = System.nanoTime() + patience; // the player is no simulated thread
    for (long left = patience; outside.isEmpty() && left > 0; left = end - System.nanoTime())
      LockSupport.parkNanos(left);
    return !outside.isEmpty();
  }

  private void runTimer() {
    clock.runNext();
    mix(clock.now());
  }

  /** Whether time passes although threads could run. */
  private boolean stalls() {
    if (faults.mayStrike(FaultKind.STALLS) && clock.untilNext() >= 0 && faults.strikes(FaultKind.STALLS)
        && clock.untilNext() <= faults.amount(FaultKind.STALLS)) {
      runTimer();
      return true;
    }
    faults.jump(clock);
    return false;
  }

  private SimulatedThread next() {
    int at = 0;
    if (ready.size() > 1) {
      at = choice.choose(ready, steps);
      decisions.add(at);
    }
    overtook = at > 0;
    var task = ready.remove(at);
    task.ready = false;
    return task;
  }

  private void run(SimulatedThread task) {
    progress = talks = finely = false;
    current = task;
    task.sendsTo = null;
    task.step.run();
    current = null;
    if (!task.thread.isAlive()) tasks.ended(task);
    else if (VirtualThreadInternals.waitsForMonitor(task.thread)) inMonitors.add(task);
    if (!inMonitors.isEmpty()) settleMonitors();
    if (finely && !progress) return; // it waits for nothing
    task.gaveWay = progress || !task.ready ? 0 : task.gaveWay + 1;
    if (task.gaveWay == SPINS) {
      task.gaveWay = 0;
      choice.gaveWay(task);
    }
    if (progress) idle = 0;
    else if ((idle += talks ? 1 : TALKS) > TALKS * (IDLE + 10 * ready.size())) {
      idle = 0;
      clock.moveOn();
    }
  }

  /** Threads that a monitor let in are ready now, in the order of their birth. */
  private void settleMonitors() {
    SENTINEL.settle();
    var woken = new TreeSet<SimulatedThread>(inMonitors.comparator());
    for (var step = outside.poll(); step != null; step = outside.poll()) {
      var task = tasks.of(step);
      if (task == null) continue;
      if (!inMonitors.contains(task)) escaped(task);
      woken.add(task);
    }
    for (var task : woken) becomesReady(task.step);
    inMonitors.removeIf(task -> !VirtualThreadInternals.waitsForMonitor(task.thread));
  }

  private void takeFromOutside() {
    for (var step = outside.poll(); step != null; step = outside.poll()) {
      var task = tasks.of(step);
      if (task != null) escaped(task); // else it is of another run
    }
  }

  private void escaped(SimulatedThread task) {
    fail(RunFailure.of(RunFailure.FailureKind.ESCAPED,
        "a thread from outside the simulation woke " + task + ", which waited\n"
            + ThreadReport.of(List.of(task)) + "Simulate what that one does, or keep it out"));
  }

  private void mix(long value) {
    long mixed = (hash ^ value) * 0xff51afd7ed558ccdL;
    hash = mixed ^ mixed >>> 32;
  }

  // ---- how it went; also while a thread holds it

  LivingThreads tasks() {
    return tasks;
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

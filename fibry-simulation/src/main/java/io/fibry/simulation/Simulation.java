package io.fibry.simulation;

import io.fibry.ActorScope;
import io.fibry.Handler;
import io.fibry.simulation.agent.AgentAttacher;
import io.fibry.simulation.io.Network;
import io.fibry.simulation.run.SimulatedClock;
import io.fibry.simulation.run.SimulationCarrier;
import io.fibry.simulation.run.SimulationRun;
import io.fibry.simulation.tap.MachineLookup;
import io.fibry.test.CrashDisk;
import io.fibry.text.Durations;
import io.fibry.text.Lines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Runs a program once for each seed, which decides the order of all threads, random numbers and
 * faults. An instance controls one of these runs. If all threads wait, the clock jumps to the next
 * timer. If a seed fails once, it fails again, on all machines. The program needs no changes:
 * handlers may block, sleep and lock.
 * {@snippet class="io.fibry.simulation.SnippetsTest" region="simulation"}
 *
 * <p>A run fails if the program or a client throws, if a condition of {@link #assertAlways} is
 * false, or if no thread can continue. It also fails if a thread, a handler or a message is left
 * when the program and its scopes have ended. Only threads of the simulation may use an instance.
 */
public final class Simulation {

  /** The program to simulate. */
  public interface Program {

    /**
     * Runs on a thread of the simulation, once for each seed. It must create all objects that it
     * uses. An object that outlives a run, such as an object in a static field, would change the
     * next run.
     *
     * @param simulation the simulation of this run
     * @throws Throwable to fail the run
     */
    void run(Simulation simulation) throws Throwable;
  }

  /**
   * The statistics of a simulation that found no failure.
   *
   * @param runs the number of runs of the program
   * @param orders the number of different orders of threads in these runs
   * @param steps the steps of all runs: a step ends when its thread waits, yields or ends, and a
   * send yields if another thread is ready
   * @param seconds the simulated time of all runs
   */
  public record Summary(long runs, long orders, long steps, double seconds) {
    @Override
    public String toString() {
      return String.format("%,d runs in %,d different orders, %,d steps, %,.0f s of simulated time", runs, orders,
          steps, seconds);
    }
  }

  private final SimulationRun run;
  private final Network network;
  private final SimulatedNetwork networkControl;
  private final ActorScope scope;
  private final Faults faults;
  private final List<Thread> clients = new ArrayList<>();
  private final List<SimulatedNode> nodes = new ArrayList<>();

  Simulation(SimulationRun run, Network network, ActorScope scope) {
    this.run = run;
    this.network = network;
    this.networkControl = new SimulatedNetwork(network);
    this.scope = scope;
    this.faults = new Faults(run.faults);
  }

  /**
   * Simulates a program with 1,000 seeds, however long that takes.
   *
   * @param program the program to simulate
   * @return the statistics of all runs
   * @throws SimulationFailure for the first run that fails
   * @throws IllegalStateException as {@link #run(UnaryOperator, Program)}
   */
  public static Summary run(Program program) {
    return run(options -> options, program);
  }

  /**
   * Simulates a program. The property {@code -Dfibry.simulation} repeats the one run that a failure
   * printed. The property {@code -Dfibry.simulation.seeds} sets the number of seeds, and removes
   * the time limit.
   *
   * @param options changes the default options
   * @param program the program to simulate
   * @return the statistics of all runs
   * @throws SimulationFailure for the first run that fails
   * @throws IllegalArgumentException if a property has an invalid value
   * @throws IllegalStateException if the agent cannot be attached, or if Fibry is not on the class
   * path of the JVM, but in a class loader whose parent is that class path; the text says what to
   * do
   * @throws java.util.concurrent.CancellationException if interrupted; the thread stays interrupted
   */
  public static Summary run(UnaryOperator<Options> options, Program program) {
    AgentAttacher.ensure(); // exports the package of the texts, which exceptions for invalid options use
    var changedOptions = Objects.requireNonNull(options.apply(Options.DEFAULT), "the changed options").withProperties();
    Objects.requireNonNull(program, "program");
    SimulationCarrier.stepLimitSeconds(); // throws here, before the first run, if its property is not valid
    if (MachineLookup.machine() != null)
      throw new IllegalStateException("a simulation inside a simulation; run one after the other");
    SimulationCarrier.lock();
    try {
      return new SeedSearch(changedOptions, program).runSeeds();
    } finally {
      SimulationCarrier.unlock();
    }
  }

  /** {@return the scope of the run, which is closed after the program} */
  public ActorScope scope() {
    return scope;
  }

  /** {@return the random numbers of this run, for the program} */
  public SplittableRandom random() {
    return run.random;
  }

  /** {@return the time since the run began, by the run's clock} */
  public Duration time() {
    return Duration.ofNanos(run.clock.now());
  }

  /**
   * Starts a thread that belongs to no node. After the program, and before the scopes close, the
   * run waits until this thread has ended.
   *
   * @param name the name of the thread
   * @param code the code of the client, whose result is ignored; an exception that it throws fails
   * the run
   * @return the thread
   */
  public Thread client(String name, Callable<?> code) {
    Handler.Task task = Objects.requireNonNull(code, "code")::call;
    return client(name, task);
  }

  /**
   * Does the same as {@link #client(String, Callable)} for code that returns no value.
   *
   * @param name the name of the thread
   * @param code the code of the client; an exception that it throws fails the run
   * @return the thread
   */
  public Thread client(String name, Handler.Task code) {
    var client = run.startProgramThread(name, run.outsideNodes, code);
    clients.add(client);
    return client;
  }

  /**
   * Waits until all clients have ended, as the simulation does after the program.
   *
   * @throws InterruptedException if interrupted
   */
  public void join() throws InterruptedException {
    for (int i = 0; i < clients.size(); i++) clients.get(i).join();
  }

  /**
   * Checks a condition after each further step of any thread. If the condition is false, the run
   * fails. A later call with an equal description replaces the condition.
   *
   * @param description the text for the failure
   * @param condition may read all state, but must not wait or change state
   */
  public void assertAlways(String description, BooleanSupplier condition) {
    run.invariants.add(Objects.requireNonNull(description, "description"),
        Objects.requireNonNull(condition, "condition"));
  }

  /**
   * Waits until a condition is true. Throws an AssertionError if the condition is false when the
   * limit expires.
   *
   * @param description the text for the failure
   * @param limit the longest wait, by the run's clock
   * @param condition is checked again and again, with pauses of 1 µs to 1 s
   * @throws InterruptedException if interrupted
   */
  public void assertEventually(String description, Duration limit, BooleanSupplier condition)
      throws InterruptedException {
    long deadline = run.clock.now() + SimulatedClock.nanos(limit);
    for (long pause = 1_000; !condition.getAsBoolean(); pause = Math.min(2 * pause, 1_000_000_000)) {
      if (run.clock.now() >= deadline)
        throw new AssertionError("not within " + Durations.text(limit) + ": " + description);
      Thread.sleep(Duration.ofNanos(pause));
    }
  }

  /** Lets other threads run first, if the run decides so. Call it before a use of shared state. */
  public void yieldPoint() {
    run.yieldAtSend();
  }

  /**
   * Adds a line to the trace, which the text of a failure shows.
   *
   * @param text describes an event
   */
  public void trace(String text) {
    run.note(text);
  }

  /** {@return the faults of this run; none by default} */
  public Faults faults() {
    return faults;
  }

  /** {@return the network between the sockets of this run} */
  public SimulatedNetwork network() {
    return networkControl;
  }

  /**
   * Makes a simulated machine, which can be paused and can crash.
   *
   * @param name the name of the node
   * @return a node with an empty disk
   */
  public SimulatedNode node(String name) {
    return new SimulatedNode(run, network, nodes, Objects.requireNonNull(name, "name"), CrashDisk.empty());
  }

  void closeNodes(Duration limit) {
    for (var node : nodes) node.close(limit);
  }

  /** The options of a simulation. Immutable and thread-safe. */
  public static final class Options {
    static final Options DEFAULT =
        new Options(1, 1_000, null, 1_000_000, SchedulingPolicy.MIX, false, false, null);

    private final long firstSeed;
    private final int seeds;
    private final @Nullable Duration timeLimit; // real time; null: none
    private final long maxSteps; // max steps of a run
    private final SchedulingPolicy policy;
    private final boolean hasYieldPoints;
    private final boolean failsOnDeadLetters;
    private final @Nullable RunReplay replay; // null: run the seeds

    private Options(long firstSeed, int seeds, @Nullable Duration timeLimit, long maxSteps, SchedulingPolicy policy,
        boolean hasYieldPoints,
        boolean failsOnDeadLetters, @Nullable RunReplay replay) {
      this.firstSeed = firstSeed;
      this.seeds = seeds;
      this.timeLimit = timeLimit;
      this.maxSteps = maxSteps;
      this.policy = policy;
      this.hasYieldPoints = hasYieldPoints;
      this.failsOnDeadLetters = failsOnDeadLetters;
      this.replay = replay;
    }

    /**
     * {@return a copy with another number of seeds} An additional first run, with seed 0, has the
     * order of a quiet machine.
     *
     * @param seeds the number of seeds, by default 1,000
     */
    public Options withSeeds(int seeds) {
      if (seeds < 0) throw new IllegalArgumentException(seeds + " is not a number of seeds; give zero or more");
      return new Options(firstSeed, seeds, timeLimit, maxSteps, policy, hasYieldPoints, failsOnDeadLetters, replay);
    }

    /**
     * {@return a copy with another first seed}
     *
     * @param seed the first seed, by default 1; the following seeds are greater by one each
     */
    public Options withFirstSeed(long seed) {
      return new Options(seed, seeds, timeLimit, maxSteps, policy, hasYieldPoints, failsOnDeadLetters, replay);
    }

    /**
     * {@return a copy that begins no run after a limit} If not all seeds were run, the log reports
     * it, and {@link Summary#runs} is lower. A busy machine runs fewer seeds.
     *
     * @param limit real time; by default there is no limit, and all seeds are run
     */
    public Options withTimeLimit(Duration limit) {
      if (!limit.isPositive())
        throw new IllegalArgumentException(
            "a limit of " + Durations.text(limit) + " leaves no time for a run; give more than zero");
      return new Options(firstSeed, seeds, limit, maxSteps, policy, hasYieldPoints, failsOnDeadLetters, replay);
    }

    private Options withoutLimit() {
      return new Options(firstSeed, seeds, null, maxSteps, policy, hasYieldPoints, failsOnDeadLetters, replay);
    }

    /**
     * {@return a copy with another limit for the steps of a run} A run with more steps fails,
     * because it seems to be endless.
     *
     * @param max the max number of steps, by default 1,000,000
     */
    public Options withMaxSteps(long max) {
      if (max < 1) throw new IllegalArgumentException("a run cannot be limited to " + max + " steps; give one or more");
      return new Options(firstSeed, seeds, timeLimit, max, policy, hasYieldPoints, failsOnDeadLetters, replay);
    }

    /**
     * {@return a copy with another scheduling policy}
     *
     * @param policy the policy, by default {@link SchedulingPolicy#MIX}
     */
    public Options withPolicy(SchedulingPolicy policy) {
      return new Options(firstSeed, seeds, timeLimit, maxSteps, Objects.requireNonNull(policy, "policy"),
          hasYieldPoints, failsOnDeadLetters, replay);
    }

    /** {@return a copy in which threads may give way at {@link YieldPoints}} */
    public Options withYieldPoints() {
      return new Options(firstSeed, seeds, timeLimit, maxSteps, policy, true, failsOnDeadLetters, replay);
    }

    /** {@return a copy in which a dead letter fails the run} */
    public Options withoutDeadLetters() {
      return new Options(firstSeed, seeds, timeLimit, maxSteps, policy, hasYieldPoints, true, replay);
    }

    /**
     * {@return a copy that runs only one given run}
     *
     * @param replay the text that a failure printed, such as {@code 4:0=1}, or only a seed
     */
    public Options withReplay(String replay) {
      return new Options(firstSeed, seeds, timeLimit, maxSteps, policy, hasYieldPoints, failsOnDeadLetters,
          RunReplay.parse(replay));
    }

    /** Returns a copy with the values of the system properties. */
    private Options withProperties() {
      var changed = this;
      var replayText = System.getProperty("fibry.simulation");
      if (replayText != null) changed = changed.withReplay(replayText);
      var seedText = System.getProperty("fibry.simulation.seeds");
      if (seedText == null) return changed;
      try {
        return changed.withSeeds(Integer.parseInt(seedText)).withoutLimit();
      } catch (IllegalArgumentException invalid) {
        throw new IllegalArgumentException("-Dfibry.simulation.seeds=" + Lines.line(seedText)
            + " is not a number of seeds; give zero or more", invalid);
      }
    }

    long firstSeed() {
      return firstSeed;
    }

    int seeds() {
      return seeds;
    }

    @Nullable
    Duration timeLimit() {
      return timeLimit;
    }

    long maxSteps() {
      return maxSteps;
    }

    SchedulingPolicy policy() {
      return policy;
    }

    boolean hasYieldPoints() {
      return hasYieldPoints;
    }

    boolean failsOnDeadLetters() {
      return failsOnDeadLetters;
    }

    @Nullable
    RunReplay replay() {
      return replay;
    }
  }
}

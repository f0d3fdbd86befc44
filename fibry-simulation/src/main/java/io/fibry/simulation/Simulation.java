package io.fibry.simulation;

import io.fibry.ActorScope;
import io.fibry.simulation.agent.AgentAttacher;
import io.fibry.simulation.tap.MachineLookup;
import io.fibry.test.CrashDisk;
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
 * A run of a program in which a seed decides the order of all threads, chance and faults. Time
 * jumps to the next moment at which something happens. A seed that fails fails again, on all
 * machines. The program is as it is otherwise: handlers may block, sleep, lock.
 * {@snippet class="io.fibry.simulation.SnippetsTest" region="simulation"}
 *
 * <p>A run fails if the program or a client throws, if a condition that must hold
 * {@link #assertAlways} does not hold, or if no thread can continue. It also fails if a thread, a
 * handler or a message is left when the program and its scopes have ended. For threads of the
 * simulation.
 */
public final class Simulation {

  /** The program to simulate. */
  public interface Program {

    /**
     * Runs on a thread of the simulation, once for each seed. It must make all objects that it
     * uses: an object that outlives a run, such as one in a static field, makes the next run a
     * different one.
     *
     * @param simulation of this run
     * @throws Throwable fails the run
     */
    void run(Simulation simulation) throws Throwable;
  }

  /**
   * The figures of a simulation that found no failure.
   *
   * @param runs of the program
   * @param orders different ones among them
   * @param steps of all runs: what a thread does until it waits, yields or ends
   * @param seconds by the clocks of the runs
   */
  public record Summary(long runs, long orders, long steps, double seconds) {
    @Override
    public String toString() {
      return String.format("%,d runs in %,d different orders, %,d steps, %,.0f s of simulated time", runs, orders,
          steps, seconds);
    }
  }

  private final SimulationRun run;
  private final ActorScope scope;
  private final List<Thread> clients = new ArrayList<>();
  private final List<SimulatedNode> nodes = new ArrayList<>();

  Simulation(SimulationRun run, ActorScope scope) {
    this.run = run;
    this.scope = scope;
  }

  /**
   * Simulates a program with 1,000 seeds, however long that takes.
   *
   * @param program the program to simulate
   * @return what was simulated
   * @throws SimulationFailure for the first run that goes wrong
   */
  public static Summary run(Program program) {
    return run(options -> options, program);
  }

  /**
   * Simulates a program. {@code -Dfibry.simulation} repeats one run, as a failure printed it;
   * {@code -Dfibry.simulation.seeds} says how many seeds, without a limit of time.
   *
   * @param options changes the default ones
   * @param program the program to simulate
   * @return what was simulated
   * @throws SimulationFailure for the first run that goes wrong
   * @throws java.util.concurrent.CancellationException if interrupted, keeping the flag
   */
  public static Summary run(UnaryOperator<Options> options, Program program) {
    var all = Objects.requireNonNull(options.apply(Options.DEFAULT), "the changed options").withProperties();
    Objects.requireNonNull(program, "program");
    AgentAttacher.ensure();
    if (MachineLookup.machine() != null)
      throw new IllegalStateException("a simulation inside a simulation; run one after the other");
    SimulationCarrier.lock();
    try {
      return new SeedSearch(all, program).all();
    } finally {
      SimulationCarrier.unlock();
    }
  }

  /** {@return a scope that ends with the run, after the program} */
  public ActorScope scope() {
    return scope;
  }

  /** {@return chance of this run, for the program} */
  public SplittableRandom random() {
    return run.chance;
  }

  /** {@return the time since the run began} */
  public Duration time() {
    return Duration.ofNanos(run.clock.now());
  }

  /**
   * Starts a thread beside the program's own, on no node. The run waits for it, after the program
   * and before the scopes close.
   *
   * @param name of the thread
   * @param code the code of the client; an exception that it throws fails the run
   * @return the thread
   */
  public Thread client(String name, Callable<?> code) {
    var client = thread(name, run.outsideNodes, code);
    clients.add(client);
    return client;
  }

  Thread thread(String name, FailureDomain domain, Callable<?> code) {
    Objects.requireNonNull(code, "code");
    return run.start(Objects.requireNonNull(name, "name"), domain, () -> {
      try {
        code.call();
      } catch (Throwable thrown) {
        run.fail(RunFailure.thrown(thrown));
      }
    });
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
   * Looks at a fact after each step of any thread, from now on.
   *
   * @param what for the failure
   * @param fact whether it is so; may read all state, but must not wait or change anything
   */
  public void assertAlways(String what, BooleanSupplier fact) {
    run.invariants.add(Objects.requireNonNull(what, "what"), Objects.requireNonNull(fact, "fact"));
  }

  /**
   * Waits until a fact is so.
   *
   * @param what for the failure
   * @param within by the run's clock
   * @param fact whether it is so
   * @throws InterruptedException if interrupted
   */
  public void assertEventually(String what, Duration within, BooleanSupplier fact) throws InterruptedException {
    long end = run.clock.now() + SimulatedClock.nanos(within);
    for (long pause = 1_000; !fact.getAsBoolean(); pause = Math.min(2 * pause, 1_000_000_000)) {
      if (run.clock.now() >= end) throw new AssertionError("not within " + within + ": " + what);
      Thread.sleep(Duration.ofNanos(pause));
    }
  }

  /** Lets others go first, perhaps: for code between whose lines the library sees nothing. */
  public void yieldPoint() {
    run.yieldPoint();
  }

  /**
   * Writes a line into the trace of a failure.
   *
   * @param what happened
   */
  public void trace(String what) {
    if (run.trace != null) run.trace.note(run, what);
  }

  /** {@return the faults of this run; none by default} */
  public Faults faults() {
    return run.faults;
  }

  /** {@return the network between sockets of this run} */
  public SimulatedNetwork network() {
    return run.network;
  }

  /**
   * Makes a machine that can crash.
   *
   * @param name of it
   * @return a node with an empty disk
   */
  public SimulatedNode node(String name) {
    return node(Objects.requireNonNull(name, "name"), CrashDisk.empty());
  }

  SimulatedNode node(String name, CrashDisk files) {
    var node = new SimulatedNode(this, name, files);
    nodes.add(node);
    return node;
  }

  SimulationRun run() {
    return run;
  }

  void closeNodes(Duration limit) {
    for (var node : nodes) node.close(limit);
  }

  /** How a program is simulated. Immutable and thread-safe. */
  public static final class Options {
    static final Options DEFAULT =
        new Options(1, 1_000, null, 1_000_000, SchedulingPolicy.MIX, false, false, null);

    private final long firstSeed;
    private final int seeds;
    private final @Nullable Duration limit; // null: none
    private final long steps;
    private final SchedulingPolicy policy;
    private final boolean finePoints;
    private final boolean noDeadLetters;
    private final @Nullable RunReplay replay;

    private Options(long firstSeed, int seeds, @Nullable Duration limit, long steps, SchedulingPolicy policy,
        boolean finePoints,
        boolean noDeadLetters, @Nullable RunReplay replay) {
      this.firstSeed = firstSeed;
      this.seeds = seeds;
      this.limit = limit;
      this.steps = steps;
      this.policy = policy;
      this.finePoints = finePoints;
      this.noDeadLetters = noDeadLetters;
      this.replay = replay;
    }

    /**
     * {@return a copy with another number of seeds} There is one run more: the first one, with seed
     * 0, has the order of a quiet machine.
     *
     * @param seeds 1,000 unless changed
     */
    public Options withSeeds(int seeds) {
      if (seeds < 0) throw new IllegalArgumentException(seeds + " seeds; give zero or more");
      return new Options(firstSeed, seeds, limit, steps, policy, finePoints, noDeadLetters, replay);
    }

    /**
     * {@return a copy that begins elsewhere}
     *
     * @param seed 1 unless changed
     */
    public Options withFirstSeed(long seed) {
      return new Options(seed, seeds, limit, steps, policy, finePoints, noDeadLetters, replay);
    }

    /**
     * {@return a copy that begins no run after a time} If seeds are left then, the log reports it,
     * and {@link Summary#runs} is lower: a busy machine runs fewer of them.
     *
     * @param real by the machine's clock; by default there is no limit, and each seed is run
     */
    public Options withTimeLimit(Duration real) {
      if (!real.isPositive()) throw new IllegalArgumentException("a limit of " + real + "; give more than zero");
      return new Options(firstSeed, seeds, real, steps, policy, finePoints, noDeadLetters, replay);
    }

    private Options withoutLimit() {
      return new Options(firstSeed, seeds, null, steps, policy, finePoints, noDeadLetters, replay);
    }

    /**
     * {@return a copy with other limits of a run} A run with more steps fails, because it seems
     * never to end.
     *
     * @param max 1,000,000 unless changed
     */
    public Options withMaxSteps(long max) {
      if (max < 1) throw new IllegalArgumentException("at most " + max + " steps; give one or more");
      return new Options(firstSeed, seeds, limit, max, policy, finePoints, noDeadLetters, replay);
    }

    /**
     * {@return a copy in which others go first}
     *
     * @param policy {@link SchedulingPolicy#MIX} unless changed
     */
    public Options withPolicy(SchedulingPolicy policy) {
      return new Options(firstSeed, seeds, limit, steps, Objects.requireNonNull(policy, "policy"), finePoints,
          noDeadLetters, replay);
    }

    /** {@return a copy in which threads may give way at {@link YieldPoints}} */
    public Options withYieldPoints() {
      return new Options(firstSeed, seeds, limit, steps, policy, true, noDeadLetters, replay);
    }

    /** {@return a copy in which a dead letter fails the run} */
    public Options withoutDeadLetters() {
      return new Options(firstSeed, seeds, limit, steps, policy, finePoints, true, replay);
    }

    /**
     * {@return a copy with one run alone}
     *
     * @param replay the text that a failure printed, such as {@code 4:0=1}, or only a seed
     */
    public Options withReplay(String replay) {
      return new Options(firstSeed, seeds, limit, steps, policy, finePoints, noDeadLetters, RunReplay.parse(replay));
    }

    private Options withProperties() {
      var all = this;
      var told = System.getProperty("fibry.simulation");
      if (told != null) all = all.withReplay(told);
      var many = Integer.getInteger("fibry.simulation.seeds");
      return many == null ? all : all.withSeeds(many).withoutLimit();
    }

    long firstSeed() {
      return firstSeed;
    }

    int seeds() {
      return seeds;
    }

    @Nullable
    Duration limit() {
      return limit;
    }

    long steps() {
      return steps;
    }

    SchedulingPolicy policy() {
      return policy;
    }

    boolean finePoints() {
      return finePoints;
    }

    boolean noDeadLetters() {
      return noDeadLetters;
    }

    @Nullable
    RunReplay replay() {
      return replay;
    }
  }
}

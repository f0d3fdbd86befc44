package io.fibry.bench;

import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.bench.CarrierComparison.CarrierBudget.Reference;
import io.fibry.bench.CarrierQuestion.Caller;
import io.fibry.bench.CarrierQuestion.Part;
import io.fibry.bench.PairedMeasurement.Workload;
import io.fibry.bench.report.Result;
import io.fibry.bench.report.ResultRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Compares Fibry on the JDK's scheduler of virtual threads with Fibry on the carriers of
 * fibry-carriers, and with a peer. The arguments are names of questions, for example {@code
 * ask-actor ring}; without arguments all are measured, which takes eight minutes. The sides take
 * turns, each in its own process, {@code -Dprocesses} times. A process warms up for {@code
 * -Dmillis}, measures as long, and tells its median. After all questions, the program writes {@code
 * carriers.json}, checks the promised ratios, and exits with 1 if a promise is broken.
 */
public final class CarrierComparison {
  private static final String CHILD_ARGUMENT = "--measure";
  private static final int PROCESSES = Integer.getInteger("processes", 3);
  private static final int MILLIS = Integer.getInteger("millis", 700);
  private static final int MIN_ROUNDS = 3;
  private static final int SLEEPERS = Integer.getInteger("sleepers", 100_000);
  // The work of a microsecond; the parent process measures it for its children
  private static final String TOKENS_PROPERTY = "tokens";
  private static final double TOKENS = Double.parseDouble(System.getProperty(TOKENS_PROPERTY, "0"));
  private static final long CALIBRATION_TOKENS = 100_000;
  private static final int CALIBRATION_ROUNDS = 400;

  private static final String RESULT_PREFIX = "carriers-";
  private static final String OURS = "fiber";
  private static final String KOTLIN = "kotlin";
  private static final String PEKKO = "pekko-tuned";
  private static final String VIRTUAL_QUEUE = "virtual-queue";

  /** A side of the comparison, with the flags of its processes. */
  enum Side {
    JDK("fibry, JDK's scheduler", List.of()),
    CARRIERS("fibry, carriers", ChildJvm.ON_CARRIERS),
    PEER("", List.of());

    private final String rowName;
    private final List<String> flags;

    Side(String rowName, List<String> flags) {
      this.rowName = rowName;
      this.flags = flags;
    }
  }

  static final List<CarrierQuestion> QUESTIONS = List.of(
      question("ask-actor", "`ask` from an actor", 50_000, CarrierWorkloads::asksOfActor, "queue-and-future",
          CarrierWorkloads::queueAndFuture),
      question("ask-fiber", "`ask` from a virtual thread that a handler has started", 50_000,
          times -> CarrierWorkloads.asks(OURS, times), KOTLIN, times -> CarrierWorkloads.asks(KOTLIN, times)),
      CarrierQuestion.of("ask-thread", "`ask` from another virtual thread", Caller.OTHER_THREAD, 50_000,
          times -> CarrierWorkloads.asks(OURS, times), KOTLIN, times -> CarrierWorkloads.asks(KOTLIN, times)),
      askers("ask-fibers", "16 virtual threads that a handler has started ask 16 actors", Caller.FIBER, 16),
      askers("ask-threads", "16 other virtual threads ask 16 actors", Caller.OTHER_THREAD, 16),
      askers("ask-threads-shared", "16 other virtual threads ask one actor", Caller.OTHER_THREAD, 1),
      CarrierQuestion.of("ask-platform", "`ask` from a platform thread", Caller.PLATFORM_THREAD, 50_000,
          times -> CarrierWorkloads.asks(OURS, times), KOTLIN, times -> CarrierWorkloads.asks(KOTLIN, times)),
      question("ask-hand", "by hand: a request to a virtual thread with a mailbox", 50_000,
          HandRequests::residentThread, "", null),
      question("ask-hand-drain", "by hand: a request to a mailbox whose drain ends after each request", 50_000,
          HandRequests::startedDrain, "", null),
      question("idle", "message to an idle actor", 100_000,
          times -> CarrierWorkloads.messagesToIdleActors(OURS, times), PEKKO,
          times -> CarrierWorkloads.messagesToIdleActors(PEKKO, times)),
      question("idle-hand", "by hand: a virtual thread in place of each message to an idle actor", 100_000,
          CarrierWorkloads::startedThreads, "", null),
      question("wake-64", "message that wakes one of 64 actors; the sender waits for all", 100_000,
          times -> CarrierWorkloads.computations(OURS, 64, 0, times), PEKKO,
          times -> CarrierWorkloads.computations(PEKKO, 64, 0, times)),
      question("hand-over", "hand-over between two actors", 300_000, times -> PeerWorkloads.handOvers(OURS, times),
          PEKKO, times -> PeerWorkloads.handOvers(PEKKO, times)),
      question("ring", "hop in a ring of 100 actors", 300_000, times -> CarrierWorkloads.ring(OURS, times), PEKKO,
          times -> CarrierWorkloads.ring(PEKKO, times)),
      messages(1, "message, one sender"),
      messages(8, "message, 8 senders"),
      bounded(1_024, "message, 1,024 may wait"),
      bounded(16, "message, 16 may wait"),
      question("pool", "task for one of four workers", 100_000, PoolWorkloads::pool, "executor",
          PoolWorkloads::executorService),
      question("pipeline", "message through three stages", 100_000, PoolWorkloads::pipeline, "stages",
          PoolWorkloads::virtualThreadsAndQueues),
      question("unparks", "two virtual threads that unpark each other, there and back", 50_000,
          CarrierWorkloads::unparks, "", null),
      question("queues", "two virtual threads, two queues of the JDK", 50_000, CarrierWorkloads::queues, "", null),
      computing(4), computing(64), computing(1_000),
      CarrierQuestion.of("sleepers-first", String.format(Locale.ROOT, "%,d actors sleep 100 ms, first round", SLEEPERS),
          Caller.FIBER_ONCE, SLEEPERS, CarrierWorkloads::sleepingActors, "virtual-threads",
          CarrierWorkloads::sleepingThreads),
      question("sleepers-later", String.format(Locale.ROOT, "%,d actors sleep 100 ms, later rounds", SLEEPERS),
          SLEEPERS, CarrierWorkloads::sleepingActors, "virtual-threads", CarrierWorkloads::sleepingThreads).inMillis(),
      CarrierQuestion.of("blocking-first",
          String.format(Locale.ROOT, "%,d messages to `Pools.perMessage` that block 100 ms, first round", SLEEPERS),
          Caller.FIBER_ONCE, SLEEPERS, CarrierWorkloads::sleepingWorkers, "virtual-threads",
          CarrierWorkloads::sleepingThreads));

  /**
   * The time of a reference divided by our time on carriers must be {@code minRatio} or more, for
   * each size of the question. We want to reach the {@code aim}, which is only printed.
   */
  record CarrierBudget(String question, Reference reference, double minRatio, double aim) {
    enum Reference {
      PEER("the peer"), JDK("the JDK's scheduler"), UNPARKS("two virtual threads that unpark each other, on carriers");

      private final String title;

      Reference(String title) {
        this.title = title;
      }
    }

    private double ratio(ResultRow ours, List<Result> results) {
      String side = switch (reference) {
        case PEER -> named(question).peerName();
        case JDK -> Side.JDK.rowName;
        case UNPARKS -> Side.CARRIERS.rowName;
      };
      return result(reference == Reference.UNPARKS ? "unparks" : question, results).rows().stream()
          .filter(row -> row.size() == ours.size() && row.side().equals(side)).findFirst().orElseThrow().median()
          / ours.median();
    }
  }

  static final List<CarrierBudget> PROMISES = List.of(
      new CarrierBudget("ask-fiber", Reference.PEER, 1, 1.4),
      new CarrierBudget("ask-actor", Reference.PEER, 1.2, 1.6),
      new CarrierBudget("ask-actor", Reference.UNPARKS, 1 / 1.2, 1 / 1.05),
      new CarrierBudget("idle", Reference.PEER, 1.5, 2.5),
      new CarrierBudget("senders-8", Reference.PEER, 1.3, 1.6),
      new CarrierBudget("bounded-1024", Reference.PEER, 0.9, 1.2),
      new CarrierBudget("bounded-16", Reference.PEER, 0.9, 1.2),
      new CarrierBudget("queues", Reference.JDK, 0.7, 1),
      new CarrierBudget("compute-4", Reference.JDK, 0.8, 0.95),
      new CarrierBudget("compute-64", Reference.JDK, 0.9, 0.95),
      new CarrierBudget("compute-1000", Reference.JDK, 0.9, 0.95),
      new CarrierBudget("sleepers-first", Reference.JDK, 0.95, 1.3),
      new CarrierBudget("sleepers-later", Reference.JDK, 0.95, 1.3),
      new CarrierBudget("blocking-first", Reference.JDK, 0.95, 1.3));

  private CarrierComparison() {}

  private static CarrierQuestion question(String name, String title, int times, Workload ourWork, String peerName,
      Workload peerWork) {
    return CarrierQuestion.of(name, title, Caller.FIBER, times, ourWork, peerName, peerWork);
  }

  private static CarrierQuestion askers(String name, String title, Caller caller, int actors) {
    return CarrierQuestion.of(name, title, caller, 100_000,
        times -> CarrierWorkloads.asksOfThreads(OURS, actors, times),
        KOTLIN, times -> CarrierWorkloads.asksOfThreads(KOTLIN, actors, times));
  }

  private static CarrierQuestion messages(int senders, String title) {
    return question("senders-" + senders, title, 200_000, times -> CarrierWorkloads.messages(OURS, senders, times),
        VIRTUAL_QUEUE, times -> CarrierWorkloads.messages(VIRTUAL_QUEUE, senders, times));
  }

  private static CarrierQuestion bounded(int capacity, String title) {
    return question("bounded-" + capacity, title, 100_000,
        times -> CarrierWorkloads.boundedMailbox(OURS, capacity, times), KOTLIN,
        times -> CarrierWorkloads.boundedMailbox(KOTLIN, capacity, times));
  }

  private static CarrierQuestion computing(int actors) {
    var parts = LongStream.of(1, 5, 20, 100).mapToObj(micros -> {
      int times = (int) Math.max(actors, 20_000 / micros);
      long tokens = Math.round(TOKENS * micros);
      return new Part(micros, times, count -> CarrierWorkloads.computations(OURS, actors, tokens, count),
          count -> CarrierWorkloads.computations(VIRTUAL_QUEUE, actors, tokens, count));
    }).toList();
    return new CarrierQuestion("compute-" + actors,
        String.format(Locale.ROOT, "one sender wakes %,d actors, which compute", actors), "ns", Caller.FIBER,
        VIRTUAL_QUEUE, parts);
  }

  public static void main(String[] args) throws Exception {
    if (args.length == 3 && args[0].equals(CHILD_ARGUMENT)) {
      measure(named(args[1]), Side.valueOf(args[2]));
      System.exit(0); // threads of peers may still run
    }
    var questions = args.length == 0 ? QUESTIONS : Arrays.stream(args).map(CarrierComparison::named).toList();
    double tokens = tokensOfMicrosecond();
    System.out.printf(Locale.ROOT, "JDK %s, %d processors; medians of %d processes; ratio to the JDK's scheduler%n",
        Runtime.version(), Runtime.getRuntime().availableProcessors(), PROCESSES);
    var results = new ArrayList<Result>();
    for (var question : questions) {
      var rows = rows(question, tokens);
      print(question, rows);
      results.add(Result.here(RESULT_PREFIX + question.name(), question.title(), rows));
    }
    if (args.length > 0) System.exit(0);
    Result.writeAll("carriers", results);
    boolean areAllKept = true;
    for (var promise : PROMISES) areAllKept &= judge(promise, results);
    System.exit(areAllKept ? 0 : 1);
  }

  private static Result result(String question, List<Result> results) {
    return results.stream().filter(result -> result.question().equals(RESULT_PREFIX + question)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException("'" + question + "' was not measured"));
  }

  /** Prints whether the promise was kept for each size of the question; returns whether for all. */
  static boolean judge(CarrierBudget promise, List<Result> results) {
    boolean isKept = true;
    for (var row : result(promise.question, results).rows()) {
      if (!row.side().equals(Side.CARRIERS.rowName)) continue;
      double ratio = promise.ratio(row, results);
      isKept &= ratio >= promise.minRatio;
      System.out.printf(Locale.ROOT, "%-6s %s%s: ratio %.2f, must be >= %.2f, aim %.2f: %s%n",
          ratio >= promise.minRatio ? "kept" : "BROKEN", promise.question,
          row.size() == 0 ? "" : " " + row.size() + " us", ratio, promise.minRatio, promise.aim,
          promise.reference.title);
    }
    return isKept;
  }

  static CarrierQuestion named(String name) {
    return QUESTIONS.stream().filter(question -> question.name().equals(name)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException(
            "no question '" + name + "'; there are " + QUESTIONS.stream().map(CarrierQuestion::name).toList()));
  }

  private static double tokensOfMicrosecond() {
    double best = Double.MAX_VALUE; // nanoseconds; the least value, because other programs only add to it
    for (int i = 0; i < CALIBRATION_ROUNDS; i++) {
      long start = System.nanoTime();
      Blackhole.consumeCPU(CALIBRATION_TOKENS);
      best = Math.min(best, System.nanoTime() - start);
    }
    return CALIBRATION_TOKENS * 1_000 / best;
  }

  // ---- in the parent process

  private static List<ResultRow> rows(CarrierQuestion question, double tokens) throws Exception {
    Map<Side, List<double[]>> values = new LinkedHashMap<>(); // the values of the parts, for each process
    for (int i = 0; i < PROCESSES; i++)
      for (var side : Side.values()) if (side != Side.PEER || question.hasPeer())
        values.computeIfAbsent(side, key -> new ArrayList<>()).add(runChild(question, side, tokens, MILLIS));
    var rows = new ArrayList<ResultRow>();
    for (int part = 0; part < question.parts().size(); part++) {
      int index = part;
      values.forEach((side, processes) -> rows.add(ResultRow
          .of(side == Side.PEER ? question.peerName() : side.rowName, question.unit(), "",
              processes.stream().mapToDouble(process -> process[index]).toArray())
          .withSize(question.parts().get(index).size())));
    }
    return rows;
  }

  /** Measures a side in a new process, and returns a value for each part of the question. */
  static double[] runChild(CarrierQuestion question, Side side, double tokens, int millis) throws Exception {
    var flags = new ArrayList<>(side.flags);
    flags.addAll(List.of("-Dmillis=" + millis, "-Dsleepers=" + SLEEPERS, "-D" + TOKENS_PROPERTY + "=" + tokens,
        "-XX:+IgnoreUnrecognizedVMOptions", "--sun-misc-unsafe-memory-access=allow"));
    return ChildJvm.measurements(flags, CarrierComparison.class, CHILD_ARGUMENT, question.name(), side);
  }

  private static void print(CarrierQuestion question, List<ResultRow> rows) {
    System.out.println(question.name() + ": " + question.title());
    for (var row : rows) {
      var jdk = rows.stream().filter(other -> other.size() == row.size()).findFirst().orElseThrow();
      System.out.printf(Locale.ROOT, "  %-24s %5s %10s %s (%s..%s), %.2f%n", row.side(),
          row.size() == 0 ? "" : row.size() + " us", ResultRow.readable(row.median()), row.unit(),
          ResultRow.readable(row.least()), ResultRow.readable(row.most()), jdk.median() / row.median());
    }
  }

  // ---- in the child process

  private static void measure(CarrierQuestion question, Side side) throws Exception {
    var values = new ArrayList<Object>();
    int millis = MILLIS * (question.parts().size() > 1 ? 2 : 1) / question.parts().size();
    run(question.caller(), () -> {
      for (var part : question.parts()) {
        var work = side == Side.PEER ? part.peerWork() : part.ourWork();
        values.add(question.caller() == Caller.FIBER_ONCE ? work.nanosEach(part.times())
            : median(work, part.times(), millis));
      }
    });
    ChildJvm.tell(values.toArray());
  }

  /** Runs the work on a thread that the caller's kind selects, and waits for its end. */
  private static void run(Caller caller, Handler.Task work) throws Exception {
    var end = new CompletableFuture<Void>();
    Runnable thread = () -> {
      try {
        work.run();
        end.complete(null);
      } catch (Throwable failure) {
        end.completeExceptionally(failure);
      }
    };
    if (caller == Caller.OTHER_THREAD) Thread.startVirtualThread(thread);
    else if (caller == Caller.PLATFORM_THREAD) Thread.ofPlatform().start(thread);
    else ActorSystem.anonymous().newActor((Runnable task) -> Thread.startVirtualThread(task)).sendMessage(thread);
    end.get();
  }

  /** Returns work that runs on the selected kind of thread. */
  static Workload on(Caller caller, Workload work) {
    return times -> {
      var result = new double[1];
      run(caller, () -> result[0] = work.nanosEach(times));
      return result[0];
    };
  }

  private static double median(Workload work, int times, int millis) throws Exception {
    rounds(work, times, millis);
    System.gc();
    return ResultRow.median(rounds(work, times, millis));
  }

  private static double[] rounds(Workload work, int times, int millis) throws Exception {
    var rounds = new ArrayList<Double>();
    long end = System.nanoTime() + millis * 1_000_000L;
    while (rounds.size() < MIN_ROUNDS || System.nanoTime() - end < 0) rounds.add(work.nanosEach(times));
    return rounds.stream().mapToDouble(Double::doubleValue).sorted().toArray();
  }
}

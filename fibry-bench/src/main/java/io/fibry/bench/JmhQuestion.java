package io.fibry.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How a question is asked: nanoseconds an operation, on average; three processes; the thread that
 * measures, and so sends, is a virtual one.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 3, jvmArgsAppend = JmhQuestion.VIRTUAL)
public abstract class JmhQuestion {
  static final String VIRTUAL = "-Djmh.executor=VIRTUAL";
  static final String PLATFORM = "-Djmh.executor=PLATFORM";
  static final String ONE_CARRIER = "-Djdk.virtualThreadScheduler.parallelism=1";

  /** What is sent where only the number counts. */
  static final Integer MESSAGE = 1_000;

  /** For JMH. */
  JmhQuestion() {}
}

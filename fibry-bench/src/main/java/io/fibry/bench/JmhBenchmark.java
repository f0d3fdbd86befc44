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
 * The settings of all JMH benchmarks. The measuring thread, which is also the sender, is virtual by
 * default.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 3, jvmArgsAppend = JmhBenchmark.VIRTUAL)
public abstract class JmhBenchmark {
  static final String VIRTUAL = "-Djmh.executor=VIRTUAL";
  static final String PLATFORM = "-Djmh.executor=PLATFORM";
  static final String ONE_CARRIER = "-Djdk.virtualThreadScheduler.parallelism=1";

  /** A message whose value does not matter. */
  static final Integer MESSAGE = 1_000;

  JmhBenchmark() {}
}

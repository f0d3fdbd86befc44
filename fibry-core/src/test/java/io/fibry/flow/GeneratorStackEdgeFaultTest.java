package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that a stack overflow of a producer reaches the reader, and that the reader does not hang.
 */
class GeneratorStackEdgeFaultTest {
  private static final int ROUNDS = Soak.ON ? 1_000 : 30;

  @Promise("22.5")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void readerGetsStackOverflowOfProducer(boolean onFiber) {
    long seed = StressRuns.seed();
    System.out.println("overflows of producers: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    for (int i = 0; i < ROUNDS; i++) {
      // the buffer is so large that a fiber never parks: each park moves its stack to the heap,
      // which delays the overflow
      int bufferSize = onFiber ? 10_000_000 : 1 + random.nextInt(300);
      var builder = ActorSystem.anonymous().strategy(onFiber ? Strategy.FIBER : Strategy.THREAD)
          .onFailure(FailurePolicy.resume().withoutLog());
      var reader = new FutureTask<Object>(() -> {
        for (var element : Generator.<Integer>of(builder, bufferSize, out -> yieldRecursively(out, 0)))
          if (element < 0) return element;
        return "ended";
      });

      Thread.ofPlatform().daemon().start(reader);

      assertInstanceOf(StackOverflowError.class, Patience.failure(reader));
    }
  }

  private static void yieldRecursively(Generator.Output<Integer> out, int level) {
    out.yield(level);
    yieldRecursively(out, level + 1);
  }
}

package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.StressHarness;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A producer that recurses too deep fails; its reader is told, and does not hang. */
class GeneratorStackEdgeFaultTest {
  private static final int ROUNDS = Soak.ON ? 1_000 : 30;

  @Promise("22.5")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theReaderIsToldOfAnOverflow(boolean onFiber) {
    long seed = StressHarness.seed();
    System.out.println("overflows of producers: -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    for (int i = 0; i < ROUNDS; i++) {
      // a fiber that parks now and then does not overflow soon: its stack is on the heap
      int ahead = onFiber ? 10_000_000 : 1 + random.nextInt(300);
      var how = ActorSystem.anonymous().strategy(onFiber ? Strategy.FIBER : Strategy.THREAD)
          .onFailure(FailurePolicy.resume().withoutLog());
      var reader = new FutureTask<Object>(() -> {
        for (var read : Generator.<Integer>of(how, ahead, out -> walk(out, 0))) if (read < 0) return read;
        return "ended";
      });

      Thread.ofPlatform().daemon().start(reader);

      assertInstanceOf(StackOverflowError.class, Patience.failure(reader));
    }
  }

  private static void walk(Generator.Output<Integer> out, int level) {
    out.yield(level);
    walk(out, level + 1);
  }
}

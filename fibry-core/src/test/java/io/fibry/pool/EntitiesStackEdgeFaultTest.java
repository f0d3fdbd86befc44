package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import io.fibry.testing.StackEdge;
import io.fibry.testing.StressRuns;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that entities stay usable and become idle after stack overflows in their callers. */
class EntitiesStackEdgeFaultTest {
  private static final int ROUNDS = Soak.ON ? 500 : 12;

  enum Call { MESSAGE, FUTURE, ASK }

  record Echo(int number) implements Request<Echo, Integer> {}

  @Promise("23.6")
  @ParameterizedTest
  @CsvSource({"MESSAGE,false", "MESSAGE,true", "FUTURE,false", "FUTURE,true", "ASK,false", "ASK,true"})
  void entitiesAnswerAndArePassivatedAfterStackOverflow(Call call, boolean newKeys) {
    long seed = StressRuns.seed();
    System.out.println("overflows at entities: -Dfibry.seed=" + seed);
    var edge = new StackEdge(new SplittableRandom(seed));
    var builder = ActorSystem.anonymous().onFailure(FailurePolicy.resume().withoutLog());
    for (int i = 0; i < ROUNDS; i++) {
      var entities =
          Entities.open(builder, Duration.ofMillis(20),
              (entityBuilder, key) -> entityBuilder.newActor(EntitiesStackEdgeFaultTest::answer));
      var keys = new TreeSet<Integer>();
      edge.overflow(level -> {
        int key = newKeys ? level : 0;
        keys.add(key);
        var entity = entities.actor(key);
        switch (call) {
          case MESSAGE -> entity.sendMessage(new Echo(-1));
          case FUTURE -> entity.sendMessageReturn(new Echo(level));
          case ASK -> entity.ask(new Echo(level));
        }
      });

      for (int key : keys) assertEquals(7, entities.actor(key).ask(new Echo(7), Patience.LONG));
      Patience.eventually(() -> entities.size() == 0);
      entities.kill();
    }
  }

  private static void answer(Echo echo, ActorContext<Echo> context) {
    if (echo.number() >= 0) context.reply(echo, echo.number());
  }
}

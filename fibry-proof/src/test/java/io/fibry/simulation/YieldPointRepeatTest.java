package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.fibry.ActorContext;
import io.fibry.Request;
import io.fibry.durable.CrashRound;
import io.fibry.pool.Entities;
import io.fibry.pool.PoolRounds;
import io.fibry.simulation.Simulation.Options;
import io.fibry.simulation.Simulation.Program;
import io.fibry.simulation.agent.AgentAttacher;
import io.fibry.simulation.run.RunEvents;
import io.fibry.simulation.run.SimulationCarrier;
import io.fibry.stress.EngineRounds;
import io.fibry.support.Soak;
import io.fibry.yieldpoint.YieldPointAgent;
import io.fibry.yieldpoint.YieldPointLoader;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a seed always gives the same run, even if threads yield at yield points. */
@Tag("yield-points")
class YieldPointRepeatTest {
  private static final Options WITH_YIELD_POINTS = Options.DEFAULT.withYieldPoints();
  private static final int STEP_ESTIMATE = 100; // fixed, so that it does not depend on earlier runs
  private static final int SEEDS = Soak.ON ? 100 : 1;
  private static final int REPEATS = Soak.ON ? 100 : 8;

  enum Round {
    STRESS(EngineRounds::stress), ORACLE(EngineRounds::oracle), PROMISES(EngineRounds::promises), POOLS(
        PoolRounds::pools),
    ENTITIES(PoolRounds::entities), CRASHES(CrashRound::play);

    private final Program program;

    Round(Program program) {
      this.program = program;
    }
  }

  /** A program whose threads meet in the initializer of a class. */
  public static final class InitializingProgram implements Program {
    static volatile int counter;

    static final class LateClass {
      static final int CONSTANT;

      static {
        for (int i = 0; i < 10; i++) counter++;
        CONSTANT = sum(0);
      }

      private static int sum(int result) {
        for (int i = 0; i < 10; i++) result += counter;
        return result < 0 ? 0 : 1;
      }
    }

    @Override
    public void run(Simulation simulation) throws InterruptedException {
      for (int i = 0; i < 3; i++) simulation.client("client" + i, () -> {
        counter++;
        counter += LateClass.CONSTANT;
        return null;
      });
      simulation.join();
    }
  }

  private record Question() implements Request<Question, Integer> {}

  /**
   * Returns a program whose entity replies to requests, although no code refers to the replies, and
   * is then passivated.
   */
  private static Program answeringEntity(boolean collects) {
    return simulation -> {
      var answers = new AtomicInteger();
      Entities<String, Question> entities = Entities.open(simulation.scope().anonymous(), Duration.ofMillis(5),
          (builder, key) -> builder.newActor((Question question, ActorContext<Question> context) -> {
            context.reply(question, answers.incrementAndGet());
          }));
      for (int i = 0; i < 3; i++) entities.actor("a").sendMessageReturn(new Question());
      simulation.assertEventually("all are answered", Duration.ofSeconds(1), () -> answers.get() == 3);
      if (collects) System.gc();
      simulation.assertEventually("the entity is passivated", Duration.ofSeconds(1), () -> entities.size() == 0);
    };
  }

  private static RunOutcome run(Program program, RunReplay replay) {
    return run(program, replay, RunEvents.disabled());
  }

  private static RunOutcome run(Program program, RunReplay replay, RunEvents events) {
    AgentAttacher.ensure();
    SimulationCarrier.lock();
    try {
      return ProgramRun.run(program, WITH_YIELD_POINTS, replay, STEP_ESTIMATE, events, false);
    } finally {
      SimulationCarrier.unlock();
    }
  }

  @ParameterizedTest
  @EnumSource
  void repeatedSeedGivesSameRun(Round round) {
    YieldPointAgent.require();
    long firstSeed = Long.getLong("fibry.seed", System.currentTimeMillis() << 20);
    for (long seed = firstSeed; seed < firstSeed + SEEDS; seed++) {
      run(round.program, RunReplay.of(seed)); // this run may be the first to use some class
      var first = run(round.program, RunReplay.of(seed));
      for (int i = 0; i < REPEATS / 2; i++) {
        assertEquals(first.hash(), run(round.program, RunReplay.of(seed)).hash(), "seed " + seed);
        assertEquals(first.hash(), run(round.program, first.replay()).hash(), "decisions of seed " + seed);
      }
    }
  }

  @Test
  void firstRunEqualsSecondRunDespiteClassInitialization() throws ReflectiveOperationException {
    for (long seed = 1; seed <= 50; seed++) {
      var program = YieldPointLoader.changed(InitializingProgram.class);
      var first = run(program, RunReplay.of(seed));
      var second = run(program, RunReplay.of(seed));

      assertNull(first.failure());
      assertEquals(first.hash(), second.hash());
      assertEquals(first.decisions().count(), second.decisions().count());
    }
  }

  @Test
  void garbageCollectorDoesNotAffectRun() {
    YieldPointAgent.require();
    run(answeringEntity(false), RunReplay.of(1)); // this run may be the first to use some class
    var events = RunEvents.recording(-1);
    var eventsWithCollection = RunEvents.recording(-1);

    run(answeringEntity(false), RunReplay.of(1), events);
    run(answeringEntity(true), RunReplay.of(1), eventsWithCollection);

    assertEquals(-1, events.mismatch(eventsWithCollection));
  }
}

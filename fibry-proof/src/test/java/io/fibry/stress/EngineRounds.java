package io.fibry.stress;

import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.Seeds;
import io.fibry.Strategy;
import io.fibry.simulation.Simulation;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** The rounds of the engine's stress tests, as programs that are simulated. */
public final class EngineRounds {
  private static final List<Strategy> STRATEGIES = Variants.SIMULATED.stream().map(Variants.STRATEGIES::get).toList();

  private EngineRounds() {}

  public static void chaos(Simulation simulation) throws Exception {
    var episode = new ChaosEpisode(simulation.random().split(), STRATEGIES);
    Seeds.disturb(simulation);
    episode.run();
  }

  public static void stress(Simulation simulation) throws Exception {
    var random = simulation.random().split();
    var mailboxKind = Seeds.any(random, List.of(StressRound.MailboxKind.values()));
    var round = new StressRound(random, Seeds.anyStrategy(random), mailboxKind);
    Seeds.disturb(simulation);
    round.play();
  }

  public static void oracle(Simulation simulation) throws Exception {
    var round = new OracleRound(simulation.random().split());
    Seeds.disturb(simulation);
    round.play();
  }

  /**
   * Makes half of the thread starts fail; the engine retries a failed start after a millisecond or
   * more. An ask that ends before the retry starts the drain of its actor again. If this start
   * succeeds, the actor may handle the ask, and a message may wake the actor again, before the
   * retry.
   */
  public static void threadless(Simulation simulation) throws InterruptedException {
    simulation.faults().withAllKinds().withFailedThreadStarts(0.5).withDelays(0.3, Duration.ofMillis(2)).withStalls(0.1,
        Duration.ofMillis(2));
    var handled = new AtomicInteger();
    var random = simulation.random().split();
    for (int i = 0; i < 10; i++) {
      var actor = ActorSystem.anonymous().newActorWithReturn((Integer number) -> handled.addAndGet(number));
      askBriefly(actor, Duration.ofNanos(1 + random.nextInt(500_000)));
      LockSupport.parkNanos(1 + random.nextInt(500_000)); // meanwhile the drain may run
      actor.sendMessage(1);
    }
    simulation.assertEventually("all messages are handled", Duration.ofMinutes(1), () -> handled.get() == 10);
  }

  private static void askBriefly(ActorWithReturn<Integer, Integer> actor, Duration limit) {
    try {
      actor.ask(0, limit);
    } catch (AskTimeoutException timeout) { // most asks time out
    }
  }

  public static void promises(Simulation simulation) throws Exception {
    new PromisesRound(simulation).play();
  }
}

package io.fibry.fsm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Letters;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.StressHarness;
import io.fibry.Variants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** Messages, requests, times, failures and postponed messages together, on every strategy. */
class FsmStressTest {
  private static final int SENDERS = 3;
  private static final int EACH = 200;

  sealed interface Light {}
  record Green(int round) implements Light {}
  record Red(int round) implements Light {}

  sealed interface Signal {}
  record Turn() implements Signal {}
  record Car(int sender, int number) implements Signal {}
  record Count(int sender) implements Signal, Request<Count, Integer> {}
  record Crash() implements Signal {}

  /** The crossings of one actor, in plain fields. */
  private static final class Crossing {
    private final int[] newest = new int[SENDERS];
    private int passed;
    private Light inside;
    private String wrong;

    private void fault(String what) {
      if (wrong == null) wrong = what;
    }

    private void enter(Light light) {
      if (inside != null) fault(light + " entered inside of " + inside);
      inside = light;
    }

    private void leave(Light light) {
      if (inside != light) fault(light + " left inside of " + inside);
      inside = null;
    }

    private void pass(Green green, Car car) {
      if (inside != green) fault(car + " passed at " + green + " inside of " + inside);
      if (car.number <= newest[car.sender]) fault(car + " passed after " + newest[car.sender]);
      newest[car.sender] = car.number;
      passed++;
    }

    private Fsm<Light, Signal> machine() {
      return Fsm.of(Light.class, Signal.class, new Red(0))
          .on(Red.class, Turn.class, (red, turn) -> new Green(red.round))
          .on(Green.class, Turn.class, (green, turn) -> new Red(green.round + 1))
          .onTimeout(Red.class, Duration.ofMillis(1), red -> new Green(red.round))
          .onTimeout(Green.class, Duration.ofMillis(1), green -> new Red(green.round + 1))
          .on(Green.class, Car.class, (green, car) -> {
            pass(green, car);
            return green;
          })
          .postpone(Red.class, Car.class)
          .on(Green.class, Count.class, (green, count, context) -> {
            context.reply(count, newest[count.sender]);
            return green;
          })
          .postpone(Red.class, Count.class)
          .on(Light.class, Crash.class, (light, crash) -> {
            throw new IllegalStateException("planned");
          })
          .onEnter(Light.class, this::enter)
          .onLeave(Light.class, this::leave);
    }
  }

  @Test
  void messagesAreNeitherLostNorReordered() throws Exception {
    long seed = StressHarness.seed();
    System.out.println("fsm stress: -Dfibry.seed=" + seed);
    for (var strategy : Variants.STRATEGIES.entrySet())
      play(new SplittableRandom(seed), strategy.getKey() + ", -Dfibry.seed=" + seed, strategy.getValue());
  }

  static void play(SplittableRandom random, String where, Strategy strategy) throws Exception {
    var letters = new Letters();
    var crossing = new Crossing();
    var answers = new ConcurrentLinkedQueue<CompletableFuture<Integer>>();
    try (var scope = ActorSystem.openScope("crossing", o -> o.withStrategy(strategy).withDeadLetters(letters))) {
      var light = crossing.machine().newActor(scope.named("light").onFailure(FailurePolicy.resume().withoutLog()));
      var senders = new ArrayList<Thread>();
      for (int i = 0; i < SENDERS; i++) senders.add(sender(light, i, random.split(), answers));
      for (var sender : senders) sender.join();
      for (var answer : answers) answer.join();
      // after all cars, also postponed ones
      for (int i = 0; i < SENDERS; i++) light.ask(new Count(i));
      light.close();
      int buried = (int) letters.messages().stream().filter(Car.class::isInstance).count();
      var report = scope.report();

      assertEquals(null, crossing.wrong, where);
      assertEquals(SENDERS * EACH, crossing.passed + buried, where);
      assertEquals(report.sent(),
          report.handled() + report.unhandled().values().stream().mapToLong(Long::longValue).sum(), where);
    }
    assertTrue(answers.stream().allMatch(CompletableFuture::isDone), where);
  }

  private static Thread sender(Actor<Signal> light, int number, SplittableRandom random,
      ConcurrentLinkedQueue<CompletableFuture<Integer>> answers) {
    return Thread.ofPlatform().start(() -> {
      for (int sent = 0; sent < EACH;) {
        switch (random.nextInt(10)) {
          case 0 -> light.sendMessage(new Turn());
          case 1 -> answers.add(light.sendMessageReturn(new Count(number)));
          case 2 -> light.sendMessage(new Crash());
          default -> light.sendMessage(new Car(number, ++sent));
        }
      }
    });
  }
}

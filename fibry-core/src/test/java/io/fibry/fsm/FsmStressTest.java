package io.fibry.fsm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/**
 * Sends messages and requests to a machine that postpones, fails and has timeouts. The machine must
 * neither lose nor reorder messages.
 */
class FsmStressTest {
  private static final int SENDERS = 3;
  private static final int CARS_PER_SENDER = 200;

  sealed interface Light {}
  record Green(int round) implements Light {}
  record Red(int round) implements Light {}

  sealed interface Signal {}
  record Turn() implements Signal {}
  record Car(int sender, int number) implements Signal {}
  record Count(int sender) implements Signal, Request<Count, Integer> {}
  record Crash() implements Signal {}

  /** The data of one actor, in plain fields. Stores the first violation of the expected order. */
  private static final class Crossing {
    private final int[] lastNumbers = new int[SENDERS];
    private int passedCars;
    private Light currentLight;
    private String violation;

    private void report(String text) {
      if (violation == null) violation = text;
    }

    private void enter(Light light) {
      if (currentLight != null) report(light + " entered inside of " + currentLight);
      currentLight = light;
    }

    private void leave(Light light) {
      if (currentLight != light) report(light + " left inside of " + currentLight);
      currentLight = null;
    }

    private void pass(Green green, Car car) {
      if (currentLight != green) report(car + " passed at " + green + " inside of " + currentLight);
      if (car.number <= lastNumbers[car.sender]) report(car + " passed after " + lastNumbers[car.sender]);
      lastNumbers[car.sender] = car.number;
      passedCars++;
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
            context.reply(count, lastNumbers[count.sender]);
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
    long seed = StressRuns.seed();
    System.out.println("fsm stress: -Dfibry.seed=" + seed);
    for (var strategy : Variants.STRATEGIES.entrySet())
      runSenders(new SplittableRandom(seed), strategy.getKey() + ", -Dfibry.seed=" + seed, strategy.getValue());
  }

  static void runSenders(SplittableRandom random, String details, Strategy strategy) throws Exception {
    var letters = new RecordedLetters();
    var crossing = new Crossing();
    var answers = new ConcurrentLinkedQueue<CompletableFuture<Integer>>();
    try (var scope = ActorSystem.openScope("crossing", o -> o.withStrategy(strategy).withDeadLetterListener(letters))) {
      var light = crossing.machine().newActor(scope.named("light").onFailure(FailurePolicy.resume().withoutLog()));
      var senders = new ArrayList<Thread>();
      for (int i = 0; i < SENDERS; i++) senders.add(sender(light, i, random.split(), answers));
      for (var sender : senders) sender.join();
      for (var answer : answers) answer.join();
      // the machine answers these requests after it has handled all cars, including postponed cars
      for (int i = 0; i < SENDERS; i++) light.ask(new Count(i));
      light.close();
      int deadCars = (int) letters.messages().stream().filter(Car.class::isInstance).count();
      var scopeReport = scope.report();

      assertEquals(null, crossing.violation, details);
      assertEquals(SENDERS * CARS_PER_SENDER, crossing.passedCars + deadCars, details);
      assertEquals(scopeReport.sent(),
          scopeReport.handled() + scopeReport.unhandled().values().stream().mapToLong(Long::longValue).sum(), details);
    }
    assertTrue(answers.stream().allMatch(CompletableFuture::isDone), details);
  }

  private static Thread sender(Actor<Signal> light, int senderNumber, SplittableRandom random,
      ConcurrentLinkedQueue<CompletableFuture<Integer>> answers) {
    return Thread.ofPlatform().start(() -> {
      for (int sent = 0; sent < CARS_PER_SENDER;) {
        switch (random.nextInt(10)) {
          case 0 -> light.sendMessage(new Turn());
          case 1 -> answers.add(light.sendMessageReturn(new Count(senderNumber)));
          case 2 -> light.sendMessage(new Crash());
          default -> light.sendMessage(new Car(senderNumber, ++sent));
        }
      }
    });
  }
}

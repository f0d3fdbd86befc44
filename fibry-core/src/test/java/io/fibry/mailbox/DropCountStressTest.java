package io.fibry.mailbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.Done;
import io.fibry.MailboxFullException;
import io.fibry.Request;
import io.fibry.pool.Pools;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests the count of messages that a mailbox has accepted and dropped later, while senders, the
 * actor and its end race: sent = handled + dropped + refused + undelivered + cancelled.
 */
class DropCountStressTest {
  private static final int ROUNDS = Soak.ON ? 20_000 : 60;
  private static final int SENDERS = 3;
  private static final int MESSAGES = 400; // of a sender in a round

  private record Note(int number) {}

  private record Question(int number) implements Request<Question, Done> {}

  private enum Outcome {
    HANDLED, DROPPED, REFUSED, UNDELIVERED, CANCELLED
  }

  private static final List<Consumer<Actor<Object>>> ENDS =
      List.of(Actor::sendPoisonPill, Actor::askExit, Actor::kill, Actor::close);

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);

  @BeforeEach
  void printSeed() {
    System.out.println("dropped messages: -Dfibry.seed=" + seed);
  }

  @Promise("19.28")
  @ParameterizedTest
  @EnumSource(value = Overflow.class, names = {"DROP_OLDEST", "DROP_NEWEST", "REJECT"})
  void eachMessageHasOneOutcomeAndDropsAreCounted(Overflow overflow) {
    for (int i = 0; i < ROUNDS; i++) new Round(overflow, random.split()).play();
  }

  private static final class Round {
    private final Overflow overflow;
    private final SplittableRandom random;
    private final boolean mayCancel; // otherwise the number of dropped messages is known exactly
    private final Map<Integer, List<Outcome>> outcomes = new ConcurrentHashMap<>(); // by number of the message
    private final Set<Integer> accepted = ConcurrentHashMap.newKeySet(); // notes that `sendMessage` accepted
    private final CountDownLatch ready = new CountDownLatch(SENDERS);
    private final CountDownLatch mayEnd = new CountDownLatch(1);

    Round(Overflow overflow, SplittableRandom random) {
      this.overflow = overflow;
      this.random = random;
      this.mayCancel = random.nextInt(4) == 0;
    }

    void play() {
      try (ActorScope scope = ActorSystem.openScope("drops", options -> options.withDeadLetterListener(this::onLost))) {
        ActorBuilder<Object> builder = scope.anonymous().mailbox(Mailbox.bounded(1 + random.nextInt(4), overflow));
        Actor<Object> actor = (random.nextBoolean() ? builder : Pools.fixed(builder, 2)).newActor(Round.this::handle);
        var blockBuilder = BlockBuilder.of(scope.anonymous());
        var senders = new ArrayList<CompletableFuture<List<CompletableFuture<Done>>>>();
        for (int i = 0; i < SENDERS; i++) {
          int firstNumber = i * MESSAGES;
          var senderRandom = random.split();
          senders.add(Patience.callOnFiber(() -> send(actor, blockBuilder, firstNumber, senderRandom)));
        }
        var end = ENDS.get(random.nextInt(ENDS.size()));
        Patience.await(mayEnd);
        end.accept(actor);
        for (var sender : senders) for (var answer : Patience.value(sender)) Patience.eventually(answer::isDone);
        Patience.awaitEnd(actor::waitForExit);
        check(blockBuilder.droppedBy(actor));
        assertTrue(scope.awaitQuiescence(Patience.LONG));
        var report = scope.report();
        long unhandled = report.unhandled().values().stream().mapToLong(Long::longValue).sum();
        assertEquals(report.sent(), report.handled() + unhandled, report::toString);
      }
    }

    private void handle(Object message, ActorContext<Object> context) {
      if (message instanceof Question question) context.reply(question, Done.DONE);
      else add(((Note) message).number, Outcome.HANDLED);
    }

    private void onLost(DeadLetter letter) {
      int number = ((Note) letter.message()).number;
      add(number, switch (letter.reason()) {
        case DROPPED -> Outcome.DROPPED;
        case REJECTED -> Outcome.REFUSED;
        case UNDELIVERED -> Outcome.UNDELIVERED;
        default -> throw new AssertionError(letter);
      });
    }

    private void add(int number, Outcome outcome) {
      outcomes.computeIfAbsent(number, key -> new CopyOnWriteArrayList<>()).add(outcome);
    }

    /** Sends notes and requests. Returns futures that are done when the requests have outcomes. */
    private List<CompletableFuture<Done>> send(Actor<Object> actor, BlockBuilder<?> blockBuilder, int firstNumber,
        SplittableRandom senderRandom) {
      var answers = new ArrayList<CompletableFuture<Done>>();
      ready.countDown();
      Patience.await(ready);
      int endAt = senderRandom.nextInt(MESSAGES);
      long previousDrops = 0;
      for (int i = 0; i < MESSAGES; i++) {
        int number = firstNumber + i;
        if (i == endAt) mayEnd.countDown();
        if (senderRandom.nextInt(3) > 0) {
          if (actor.sendMessage(new Note(number))) accepted.add(number);
        } else {
          var answer = actor.sendMessageReturn(new Question(number));
          if (mayCancel && senderRandom.nextInt(4) == 0) answer.cancel(false);
          answers.add(answer.whenComplete((done, failure) -> add(number, outcome(failure))));
        }
        long drops = blockBuilder.droppedBy(actor);
        assertTrue(drops >= previousDrops, drops + " after " + previousDrops);
        previousDrops = drops;
      }
      return answers;
    }

    private Outcome outcome(Throwable failure) {
      return switch (failure) {
        case null -> Outcome.HANDLED;
        case MailboxFullException full -> overflow == Overflow.DROP_OLDEST ? Outcome.DROPPED : Outcome.REFUSED;
        case ActorStoppedException stopped -> Outcome.UNDELIVERED;
        case CancellationException cancelled -> Outcome.CANCELLED;
        default -> throw new AssertionError(failure);
      };
    }

    /**
     * Checks the outcomes, and the count of dropped messages. A request that is cancelled while the
     * mailbox drops it counts as dropped, and its asker sees that it is cancelled.
     */
    private void check(long dropped) {
      for (int number = 0; number < SENDERS * MESSAGES; number++)
        assertEquals(1, outcomes.getOrDefault(number, List.of()).size(), "outcomes of message " + number);
      long cancelled = outcomes.values().stream().filter(outcome -> outcome.contains(Outcome.CANCELLED)).count();
      long expected = outcomes.entrySet().stream().filter(entry -> entry.getValue().contains(Outcome.DROPPED))
          .filter(entry -> overflow == Overflow.DROP_OLDEST || accepted.contains(entry.getKey())).count();
      assertTrue(expected <= dropped && dropped <= expected + cancelled,
          dropped + " dropped messages, of which " + expected + " have this outcome");
      if (overflow != Overflow.DROP_OLDEST) assertEquals(0, dropped);
    }
  }
}

package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorWithReturn;
import io.fibry.ContextPropagator;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Request;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.Variants.Variant;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Entities;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A carrier may look at what is sent and handled, and by which actor. */
class WitnessTest {
  private static final Duration LIMIT = Patience.LONG;
  private static final Runnable TASK = () -> {};
  private static final Handler<Object> CODE = state -> {};
  private static final Handler.Returning<Object, Object> QUESTION = state -> "answer";
  private static final Who WHO = new Who();

  record Who() implements Request<Who, Who> {}

  private record Sight(Actor<?> actor, Object message) {}

  private static final class Witness implements ContextPropagator<String> {
    final List<Sight> sent = new CopyOnWriteArrayList<>();
    final List<Sight> handled = new CopyOnWriteArrayList<>();
    volatile Consumer<Object> point = message -> {};

    @Override
    public String capture() {
      throw new AssertionError("the library asks with the message");
    }

    @Override
    public AutoCloseable restore(String captured) {
      throw new AssertionError("the library sets with the message");
    }

    @Override
    public String capture(Actor<?> to, Object message) {
      sent.add(new Sight(to, message));
      point.accept(message);
      return "captured";
    }

    @Override
    public AutoCloseable restore(String captured, Actor<?> at, Object message) {
      assertEquals("captured", captured);
      handled.add(new Sight(at, message));
      return null;
    }

    void saw(Actor<?> actor, List<?> sendings, List<?> handlings) {
      Patience.eventually(() -> handled.size() >= handlings.size());
      assertEquals(sights(actor, sendings), sent);
      assertEquals(sights(actor, handlings), handled);
    }

    private static List<Sight> sights(Actor<?> actor, List<?> messages) {
      return messages.stream().map(message -> new Sight(actor, message)).toList();
    }
  }

  private final Witness witness = new Witness();
  private final Letters letters = new Letters();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope =
      Variants.scope(o -> o.withDeadLetters(letters).withScheduler(clock).withContextPropagator(witness));

  private record Way(String name, Consumer<ActorWithReturn<Object, Object>> send, List<?> sent, List<?> handled) {
    Way(String name, Consumer<ActorWithReturn<Object, Object>> send, Object... seen) {
      this(name, send, List.of(seen), List.of(seen));
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Way> ways() {
    return Stream.of(
        new Way("a message", actor -> actor.sendMessage("sent"), "sent"),
        new Way("a block", actor -> actor.sendMessages(List.of(1, 2)), List.of(List.of(1, 2)), List.of(1, 2)),
        new Way("an empty block", actor -> actor.sendMessages(List.of())),
        new Way("a task", actor -> actor.execute(TASK), TASK),
        new Way("a request", actor -> actor.ask("asked"), "asked"),
        new Way("a request with a limit", actor -> actor.ask("asked", LIMIT), "asked"),
        new Way("a future", actor -> actor.sendMessageReturn("asked"), "asked"),
        new Way("a future with a limit", actor -> actor.sendMessageReturn("asked", LIMIT), "asked"),
        new Way("a request of a protocol", actor -> actor.ask(WHO), WHO),
        new Way("a request of a protocol with a limit", actor -> actor.ask(WHO, LIMIT), WHO),
        new Way("a future of a protocol", actor -> actor.sendMessageReturn(WHO), WHO),
        new Way("a future of a protocol with a limit", actor -> actor.sendMessageReturn(WHO, LIMIT), WHO),
        new Way("a pill", Actor::sendPoisonPill));
  }

  @Promise("14.9")
  @ParameterizedTest
  @MethodSource("ways")
  void witnessSeesEachSentMessageAndItsActor(Way way) {
    var actor = scope.anonymous().newActorWithReturn((Object message) -> message);

    way.send.accept(actor);
    actor.close();

    witness.saw(actor, way.sent, way.handled);
  }

  @Promise("14.9")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void witnessSeesMessagesOfEachMailboxAndStrategy(Variant variant) {
    var actor = variant.builder(scope).newActor((Object message) -> {});

    actor.sendMessage(1);
    actor.close();

    witness.saw(actor, List.of(1), List.of(1));
  }

  private record SinkWay(String name, Consumer<Sink<Object>> send, Object seen) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<SinkWay> sinkWays() {
    return Stream.of(
        new SinkWay("execAsync", sink -> sink.execAsync(CODE), CODE),
        new SinkWay("execAndWait", sink -> sink.execAndWait(CODE), CODE),
        new SinkWay("execFuture", sink -> sink.execFuture(QUESTION), QUESTION),
        new SinkWay("ask", sink -> sink.ask(QUESTION), QUESTION),
        new SinkWay("ask with a limit", sink -> sink.ask(QUESTION, LIMIT), QUESTION),
        new SinkWay("execute", sink -> sink.execute(TASK), TASK));
  }

  @Promise("14.9")
  @ParameterizedTest
  @MethodSource("sinkWays")
  void witnessSeesCodeSentToSink(SinkWay way) {
    var sink = scope.anonymous().initialState(Object::new).newSink();

    way.send.accept(sink);
    sink.close();

    witness.saw((Actor<?>) sink, List.of(way.seen), List.of(way.seen));
  }

  @Promise("14.9")
  @Test
  void witnessSeesStartAndEachMessageOfTimer() {
    var actor = scope.anonymous().strategy(Strategy.CALLER).newActor((Object message) -> {});

    actor.sendMessageLater("later", Duration.ofMinutes(1));
    actor.sendMessageEvery("key", "every", Duration.ofMinutes(2));
    witness.saw(actor, List.of("later", "every"), List.of());
    clock.advance(Duration.ofMinutes(5));

    witness.saw(actor, List.of("later", "every"), List.of("later", "every", "every"));
  }

  @Promise("14.9")
  @Test
  void witnessSeesStartOfTimerForEndedActor() {
    var actor = scope.anonymous().newActor((Object message) -> {});
    actor.close();

    actor.sendMessageLater("too late", Duration.ofMinutes(1));

    witness.saw(actor, List.of("too late"), List.of());
    assertEquals(List.of("too late"), letters.messages());
  }

  @Promise("14.9")
  @Test
  void witnessSeesResentDeadLetters() {
    var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor((Object message) -> {
      throw new IllegalStateException();
    });
    Runnable failing = () -> {
      throw new IllegalStateException();
    };
    actor.sendMessage("letter");
    actor.execute(failing);
    Patience.eventually(() -> letters.all.size() == 2);

    letters.all.forEach(DeadLetter::resend);
    actor.close();

    var seen = List.of("letter", failing, "letter", failing);
    witness.saw(actor, seen, seen);
  }

  @Promise("14.9")
  @Test
  void witnessSeesUnstashedMessageAgain() {
    var back = new CompletableFuture<Boolean>();
    var actor = scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .newActor((Object message, ActorContext<Object> context) -> {
          if (message.equals("back")) context.unstash();
          else if (back.complete(true)) context.stash();
        });

    actor.sendMessage("first");
    actor.sendMessage("back");
    actor.close();

    witness.saw(actor, List.of("first", "back"), List.of("first", "back", "first"));
  }

  static Stream<UnaryOperator<ActorBuilder<Object>>> pools() {
    return Stream.of(
        how -> Pools.fixed(how, 2),
        how -> Pools.scaling(how, 1, 3),
        how -> Pools.weighted(how, 2, message -> 1),
        how -> Pools.byKey(how, 2, message -> message),
        Pools::perMessage);
  }

  @Promise("14.9")
  @ParameterizedTest
  @MethodSource("pools")
  void witnessSeesPoolInsteadOfWorker(UnaryOperator<ActorBuilder<Object>> sharing) {
    var pool = sharing.apply(scope.named("pool")).newActorWithReturn((Object message) -> message);

    pool.sendMessage("sent");
    witness.saw(pool, List.of("sent"), List.of("sent"));
    pool.ask("asked");
    pool.execute(TASK);

    witness.saw(pool, List.of("sent", "asked", TASK), List.of("sent", "asked", TASK));
  }

  @Promise("14.9")
  @Test
  void witnessSeesActorOfEntityKey() {
    var born = new CopyOnWriteArrayList<Actor<Object>>();
    var entities = Entities.open(scope.anonymous(), Duration.ofHours(1), (ActorBuilder<Object> how, String key) -> {
      born.add(how.newActor((Object message) -> {}));
      return born.getFirst();
    });

    entities.actor("key").sendMessage("sent");

    witness.saw(born.getFirst(), List.of("sent"), List.of("sent"));
  }

  @Promise("14.9")
  @Test
  void witnessIsCalledBeforeMailbox() {
    var order = new CopyOnWriteArrayList<Object>();
    var actor = scope.anonymous().mailbox(Mailbox.bounded(9, Overflow.REJECT))
        .newActor((Object message) -> order.add(message));
    witness.point = message -> {
      if (message.equals("late")) actor.sendMessage("early");
    };

    actor.sendMessage("late");
    actor.close();

    assertEquals(List.of("early", "late"), order);
  }
}

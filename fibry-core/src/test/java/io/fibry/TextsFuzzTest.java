package io.fibry;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.flow.Flows;
import io.fibry.flow.HookedFunction;
import io.fibry.fsm.Fsm;
import io.fibry.net.AccessLogEntry;
import io.fibry.net.WebSocketMessage;
import io.fibry.pool.Entities;
import io.fibry.pubsub.Topic;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Messages, keys, states and failures with hostile texts go all ways into logs, dumps and
 * exceptions. No hostile text begins a line there, and a scope that withholds the texts of messages
 * shows none.
 */
class TextsFuzzTest {
  private static final int ROUNDS = Soak.ON ? 1_000 : 5;
  private static final String SECRET = "4711";
  private static final String FORGED = "FORGED";
  private static final List<String> PIECES = List.of("a", "'", "\"", "\\", "{}", "%s", "{request}", "{reason}", "\n",
      "\r", "\r\n", "\t", "\0", "\u001b[2K", "\u0085", "\u2028", "\u2029", "\ud83d\ude00");
  private static final Pattern BREAK = Pattern.compile("[\\p{Cc}\u2028\u2029]");
  private static final Pattern FORGED_LINE = Pattern.compile("[\\r\\n\u0085\u2028\u2029]+" + FORGED);

  /** Has a text of its user's. */
  private record Hostile(String text) {
    @Override
    public String toString() {
      return text;
    }
  }

  private record Question(String text) implements Request<Question, String> {
    @Override
    public String toString() {
      return text;
    }
  }

  private interface Way {
    void go() throws Exception;
  }

  private final long seed = StressHarness.seed();
  private final Random random = new Random(seed);
  private final List<String> seen = new ArrayList<>(); // texts in one line
  private final Map<String, Way> ways = new LinkedHashMap<>();
  private ActorScope scope = ActorSystem.openScope("texts");

  TextsFuzzTest() {
    ways.put("a handler that fails", this::handlerFails);
    ways.put("exceptions of askers", this::asksInVain);
    ways.put("dumps and dead letters", this::dumps);
    ways.put("a machine that does not take a message", this::machineRefuses);
    ways.put("a hook that fails", this::hookFails);
    ways.put("a subscriber that fails", this::subscriberFails);
    ways.put("an entity that is not born, or ended", this::entityEnds);
    ways.put("a timer of an entity", this::entityTimerFails);
    ways.put("a group", this::groupIsAskedInVain);
    ways.put("the reason of an end", this::failureEnds);
    ways.put("an executor", this::executorIsShown);
    ways.put("a resource that cannot be closed", this::resourceFails);
    ways.put("exchanges", this::exchanges);
  }

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private String text(String first) {
    var text = new StringBuilder(first);
    for (int i = random.nextInt(12); i >= 0; i--) text.append(PIECES.get(random.nextInt(PIECES.size())));
    return text.append("\n" + FORGED).toString();
  }

  /** A hostile text for a message or a state. */
  private Hostile secret() {
    return new Hostile(text(SECRET));
  }

  /** A hostile text for a key or an exception, which is always shown. */
  private Hostile known() {
    return new Hostile(text("k"));
  }

  // ---- ways

  private void handlerFails() {
    ask(scope.named("fails").onFailure(FailurePolicy.resume()).newActorWithReturn((Hostile message) -> {
      throw new IllegalStateException("no");
    }));
  }

  private void ask(ActorWithReturn<Hostile, Object> actor) {
    assertThrows(IllegalStateException.class, () -> actor.ask(secret()));
  }

  private void asksInVain() {
    var actor = scope.named("vain").newActor((Question message) -> {});
    seen.add(assertThrows(NoReplyException.class, () -> actor.ask(new Question(text(SECRET)))).getMessage());
    actor.close();
    seen.add(assertThrows(ActorStoppedException.class, () -> actor.ask(new Question(text(SECRET)))).getMessage());
  }

  private void dumps() {
    var gate = new Gate();
    var actor = scope.named("busy").newActor((Hostile message) -> gate.passDeaf());
    actor.sendMessage(secret());
    Patience.await(gate.entered);
    actor.sendMessage(secret());
    seen.addAll(List.of(scope.dump().split("\n")));
    seen.add(scope.actors().getFirst().activity());
    gate.open();
    actor.close();
    actor.sendMessage(secret());
    seen.add(scope.deadLetters().toString());
  }

  private void machineRefuses() {
    var machine = Fsm.of(Object.class, Object.class, secret()).on(Gate.class, Gate.class, (state, message) -> state)
        .on(Hostile.class, Gate.class, (state, message) -> null)
        .newActor(scope.named("machine").onFailure(FailurePolicy.resume()));
    machine.sendMessage(secret());
    machine.sendMessage(new Gate());
    machine.close();
  }

  private void hookFails() throws Exception {
    var hooked = HookedFunction.around(scope.named("hooked"), (Hostile message) -> 1).before(message -> {
      throw new IOException("no");
    }).afterAsync((message, answer) -> {
      throw new IOException("no");
    });
    hooked.handle(secret());
  }

  private void subscriberFails() {
    var topic = Topic.<Hostile>open(scope.named("news"));
    Executor here = Runnable::run;
    topic.subscribeOn(here, message -> {
      throw new IllegalStateException("no");
    });
    topic.publish(secret());
  }

  private void entityEnds() {
    var entities = Entities.open(scope.anonymous(), Duration.ofMinutes(1), (ActorBuilder<Object> how, Hostile key) -> {
      if (random.nextBoolean()) throw new IllegalStateException("no");
      return how.onFailure(FailurePolicy.resume()).newActor(message -> {
        throw new IllegalStateException("no");
      });
    });
    var actor = entities.actor(known());
    try {
      actor.sendMessage(secret());
    } catch (IllegalStateException notBorn) {
      seen.add(notBorn.getMessage());
    }
    entities.close();
    seen.add(assertThrows(ActorStoppedException.class, () -> actor.ask(new AnyQuestion(text(SECRET)))).getMessage());
    actor.sendMessage(secret());
    seen.add(scope.deadLetters().toString());
    seen.add(actor.toString());
  }

  private void entityTimerFails() {
    var entities = Entities.open(scope.anonymous(), Duration.ofMinutes(1), (ActorBuilder<Object> how, Hostile key) -> {
      throw new IllegalStateException("no");
    });
    entities.actor(known()).sendMessageLater(secret(), Duration.ofNanos(1));
    Patience.eventually(() -> !scope.deadLetters().isEmpty());
    seen.add(scope.deadLetters().toString());
    entities.close();
  }

  private record AnyQuestion(String text) implements Request<Object, String> {
    @Override
    public String toString() {
      return text;
    }
  }

  private void groupIsAskedInVain() {
    var actor = scope.named("member").newActorWithReturn((Hostile message) -> 1);
    actor.close();
    seen.add(assertThrows(ActorStoppedException.class, () -> Flows.askAll(List.of(actor), secret(), Patience.LONG))
        .getMessage());
  }

  private void failureEnds() {
    var failure = known();
    var actor = scope.named("ends").onFailure(FailurePolicy.stop().withoutLog()).newActor((Question message) -> {
      throw new IllegalStateException(failure.text);
    });
    actor.sendMessage(new Question("?"));
    actor.waitForExit();
    seen.add(actor.onExit().join().toString());
    seen.add(assertThrows(ActorStoppedException.class, () -> actor.ask(new Question(text(SECRET)))).getMessage());
    seen.add(scope.deadLetters().toString());
  }

  private void executorIsShown() {
    var name = known();
    Executor executor = new Executor() {
      @Override
      public void execute(Runnable command) {
        command.run();
      }

      @Override
      public String toString() {
        return name.text;
      }
    };
    var actor = scope.named("on").strategy(Strategy.of(executor)).newActor((Hostile message) -> {});
    seen.add(Strategy.of(executor).toString());
    seen.add(actor.toString());
    seen.addAll(List.of(scope.dump().split("\n")));
    actor.close();
  }

  private void resourceFails() {
    var name = known();
    var actor = scope.named("owner").newActor((Hostile message) -> {}).closeOnExit(new AutoCloseable() {
      @Override
      public void close() throws IOException {
        throw new IOException("no");
      }

      @Override
      public String toString() {
        return name.text;
      }
    });
    actor.close();
  }

  private void exchanges() {
    var client = InetSocketAddress.createUnresolved("localhost", 1);
    seen.add(new AccessLogEntry(Instant.EPOCH, new InetSocketAddress("127.0.0.1", client.getPort()), known().text,
        "/" + known(), Optional.empty(), 200, 0, Duration.ZERO).toString());
    seen.add(new WebSocketMessage.Text(known().text).toString());
  }

  // ---- what is judged

  @Promise({"19.12", "19.13"})
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void hostileTextsForgeNoLineAndStayHidden(boolean shown) throws Exception {
    System.out.println("hostile texts: -Dfibry.seed=" + seed);
    for (int round = 0; round < ROUNDS; round++)
      for (var way : ways.entrySet()) {
        scope = ActorSystem.openScope("texts", o -> o.withMessageContents(shown));
        try (var logged = new Logged()) {
          way.getValue().go();
          scope.closeWithin(Patience.LONG);
          judge(way.getKey(), logged.text(), shown);
        }
      }
  }

  private void judge(String way, String log, boolean shown) {
    for (var text : seen) {
      assertFalse(BREAK.matcher(text).find(), () -> way + " has a line of its user's: " + text);
      assertTrue(shown || !text.contains(SECRET), () -> way + " shows a message: " + text);
    }
    assertFalse(FORGED_LINE.matcher(log).find(), () -> way + " logs a line of its user's: " + log);
    assertTrue(shown || !log.contains(SECRET), () -> way + " logs a message: " + log);
    seen.clear();
  }

  @Test
  void patternsFindForgedText() {
    assertTrue(FORGED_LINE.matcher("x" + known()).find());
    assertTrue(BREAK.matcher(known().text).find());
  }
}

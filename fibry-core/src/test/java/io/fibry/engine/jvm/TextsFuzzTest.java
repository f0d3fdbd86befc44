package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import io.fibry.NoReplyException;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.flow.HookedFunction;
import io.fibry.flow.MultiAsk;
import io.fibry.fsm.Fsm;
import io.fibry.net.AccessLogEntry;
import io.fibry.net.AccessLogFormat;
import io.fibry.net.WebSocketMessage;
import io.fibry.pool.Entities;
import io.fibry.pubsub.Topic;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
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
 * Tests logs, dumps and exceptions with hostile texts of messages, keys, states and failures. No
 * hostile text may begin a line of a log or dump. A scope that withholds the texts of messages must
 * not show such a text at all.
 */
class TextsFuzzTest {
  private static final int ROUNDS = Soak.ON ? 1_000 : 5;
  private static final String SECRET = "4711";
  private static final String FORGED = "FORGED";
  private static final List<String> PIECES = List.of("a", "'", "\"", "\\", "{}", "%s", "{request}", "{reason}", "\n",
      "\r", "\r\n", "\t", "\0", "\u001b[2K", "\u0085", "\u2028", "\u2029", "\ud83d\ude00");
  private static final Pattern CONTROL_CHARACTER = Pattern.compile("[\\p{Cc}\u2028\u2029]");
  private static final Pattern FORGED_LINE = Pattern.compile("[\\r\\n\u0085\u2028\u2029]+" + FORGED);

  /** A message, key or state with a hostile text. */
  private record HostileText(String text) {
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

  private interface Scenario {
    void run() throws Exception;
  }

  private final long seed = StressRuns.seed();
  private final Random random = new Random(seed);
  private final List<String> texts = new ArrayList<>(); // texts that must have one line
  private final Map<String, Scenario> scenarios = new LinkedHashMap<>();
  private ActorScope scope = ActorSystem.openScope("texts");

  TextsFuzzTest() {
    scenarios.put("a handler that fails", this::handlerFails);
    scenarios.put("exceptions that askers get", this::requestsFail);
    scenarios.put("dumps and dead letters", this::dumpShowsMessages);
    scenarios.put("a state machine that refuses a message", this::machineRefuses);
    scenarios.put("a hook that fails", this::hookFails);
    scenarios.put("a subscriber that fails", this::subscriberFails);
    scenarios.put("an entity that could not be created or has ended", this::entityEnds);
    scenarios.put("a timer of an entity", this::entityTimerFails);
    scenarios.put("a request to a group", this::groupRequestFails);
    scenarios.put("the reason of an exit", this::failureEndsActor);
    scenarios.put("the text of an executor", this::executorIsShown);
    scenarios.put("a resource that cannot be closed", this::resourceFails);
    scenarios.put("objects of exchanges", this::netObjectsShowTexts);
  }

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private String text(String prefix) {
    var text = new StringBuilder(prefix);
    for (int i = random.nextInt(12); i >= 0; i--) text.append(PIECES.get(random.nextInt(PIECES.size())));
    return text.append("\n" + FORGED).toString();
  }

  /** A hostile text for a message or a state. */
  private HostileText secret() {
    return new HostileText(text(SECRET));
  }

  /** A hostile text for a key or an exception, whose texts are always shown. */
  private HostileText visible() {
    return new HostileText(text("k"));
  }

  // ---- scenarios

  private void handlerFails() {
    ask(scope.named("fails").onFailure(FailurePolicy.resume()).newActorWithReturn((HostileText message) -> {
      throw new IllegalStateException("no");
    }));
  }

  private void ask(ActorWithReturn<HostileText, Object> actor) {
    assertThrows(IllegalStateException.class, () -> actor.ask(secret()));
  }

  private void requestsFail() {
    var actor = scope.named("vain").newActor((Question message) -> {});
    texts.add(assertThrows(NoReplyException.class, () -> actor.ask(new Question(text(SECRET)))).getMessage());
    actor.close();
    texts.add(assertThrows(ActorStoppedException.class, () -> actor.ask(new Question(text(SECRET)))).getMessage());
  }

  private void dumpShowsMessages() {
    var gate = new Gate();
    var actor = scope.named("busy").newActor((HostileText message) -> gate.passUninterruptibly());
    actor.sendMessage(secret());
    Patience.await(gate.entered);
    actor.sendMessage(secret());
    texts.addAll(List.of(scope.dump().split("\n")));
    texts.add(scope.actors().getFirst().activity());
    gate.open();
    actor.close();
    actor.sendMessage(secret());
    texts.add(scope.deadLetters().toString());
  }

  private void machineRefuses() {
    var machine = Fsm.of(Object.class, Object.class, secret()).on(Gate.class, Gate.class, (state, message) -> state)
        .on(HostileText.class, Gate.class, (state, message) -> null)
        .newActor(scope.named("machine").onFailure(FailurePolicy.resume()));
    machine.sendMessage(secret());
    machine.sendMessage(new Gate());
    machine.close();
  }

  private void hookFails() throws Exception {
    var hooked = HookedFunction.around(scope.named("hooked"), (HostileText message) -> 1).before(message -> {
      throw new IOException("no");
    }).afterAsync((message, answer) -> {
      throw new IOException("no");
    });
    hooked.handle(secret());
  }

  private void subscriberFails() {
    var topic = Topic.<HostileText>open(scope.named("news"));
    Executor directExecutor = Runnable::run;
    topic.subscribeOn(directExecutor, message -> {
      throw new IllegalStateException("no");
    });
    topic.publish(secret());
  }

  private void entityEnds() {
    var entities = Entities.open(scope.anonymous(), Duration.ofMinutes(1), (ActorBuilder<Object> b, HostileText k) -> {
      if (random.nextBoolean()) throw new IllegalStateException("no");
      return b.onFailure(FailurePolicy.resume()).newActor(message -> {
        throw new IllegalStateException("no");
      });
    });
    var actor = entities.actor(visible());
    try {
      actor.sendMessage(secret());
    } catch (IllegalStateException creationFailure) {
      texts.add(creationFailure.getMessage());
    }
    entities.close();
    texts.add(assertThrows(ActorStoppedException.class, () -> actor.ask(new AnyQuestion(text(SECRET)))).getMessage());
    actor.sendMessage(secret());
    texts.add(scope.deadLetters().toString());
    texts.add(actor.toString());
  }

  private void entityTimerFails() {
    var entities = Entities.open(scope.anonymous(), Duration.ofMinutes(1), (ActorBuilder<Object> b, HostileText k) -> {
      throw new IllegalStateException("no");
    });
    entities.actor(visible()).sendMessageLater(secret(), Duration.ofNanos(1));
    Patience.eventually(() -> !scope.deadLetters().isEmpty());
    texts.add(scope.deadLetters().toString());
    entities.close();
  }

  private record AnyQuestion(String text) implements Request<Object, String> {
    @Override
    public String toString() {
      return text;
    }
  }

  private void groupRequestFails() {
    var actor = scope.named("member").newActorWithReturn((HostileText message) -> 1);
    actor.close();
    texts.add(assertThrows(ActorStoppedException.class, () -> MultiAsk.askAll(List.of(actor), secret(), Patience.LONG))
        .getMessage());
  }

  private void failureEndsActor() {
    var failure = visible();
    var actor = scope.named("ends").onFailure(FailurePolicy.stop().withoutLog()).newActor((Question message) -> {
      throw new IllegalStateException(failure.text);
    });
    actor.sendMessage(new Question("?"));
    actor.waitForExit();
    texts.add(actor.onExit().join().toString());
    texts.add(assertThrows(ActorStoppedException.class, () -> actor.ask(new Question(text(SECRET)))).getMessage());
    texts.add(scope.deadLetters().toString());
  }

  private void executorIsShown() {
    var name = visible();
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
    var actor = scope.named("on").strategy(Strategy.of(executor)).newActor((HostileText message) -> {});
    texts.add(Strategy.of(executor).toString());
    texts.add(actor.toString());
    texts.addAll(List.of(scope.dump().split("\n")));
    actor.close();
  }

  private void resourceFails() {
    var name = visible();
    var actor = scope.named("owner").newActor((HostileText message) -> {}).closeOnExit(new AutoCloseable() {
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

  private void netObjectsShowTexts() {
    var client = InetSocketAddress.createUnresolved("localhost", 1);
    var entry = new AccessLogEntry(Instant.EPOCH, new InetSocketAddress("127.0.0.1", client.getPort()),
        Optional.of(visible().text), visible().text, "/" + visible(), Optional.of(visible().text), "HTTP/1.1",
        Optional.empty(), 200, 0, Duration.ZERO, Optional.of(visible().text), Optional.of(visible().text),
        Optional.empty(), Optional.empty());
    texts.add(entry.toString());
    for (var format : List.of(AccessLogFormat.common(), AccessLogFormat.combined(), AccessLogFormat.json()))
      texts.add(format.withQuery().apply(entry));
    texts.add(new WebSocketMessage.Text(visible().text).toString());
  }

  // ---- checks

  @Promise({"19.12", "19.13"})
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void hostileTextsForgeNoLogLineAndAreHiddenIfConfigured(boolean showsContents) throws Exception {
    System.out.println("hostile texts: -Dfibry.seed=" + seed);
    for (int round = 0; round < ROUNDS; round++)
      for (var scenario : scenarios.entrySet()) {
        scope = ActorSystem.openScope("texts", o -> o.withMessageContents(showsContents));
        try (var logged = new Logged()) {
          scenario.getValue().run();
          scope.closeWithin(Patience.LONG);
          check(scenario.getKey(), logged.text(), showsContents);
        }
      }
  }

  private void check(String scenario, String log, boolean showsContents) {
    for (var text : texts) {
      assertFalse(CONTROL_CHARACTER.matcher(text).find(), () -> scenario + " has a control character: " + text);
      assertTrue(showsContents || !text.contains(SECRET), () -> scenario + " shows a message: " + text);
    }
    assertFalse(FORGED_LINE.matcher(log).find(), () -> scenario + " logs a line that its user forged: " + log);
    assertTrue(showsContents || !log.contains(SECRET), () -> scenario + " logs a message: " + log);
    texts.clear();
  }

  @Test
  void patternsFindForgedLineAndControlCharacter() {
    assertTrue(FORGED_LINE.matcher("x" + visible()).find());
    assertTrue(CONTROL_CHARACTER.matcher(visible().text).find());
  }
}

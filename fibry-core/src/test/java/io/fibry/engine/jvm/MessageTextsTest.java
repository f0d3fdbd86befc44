package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pubsub.Topic;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that a scope which withholds the texts of messages shows their classes instead. */
class MessageTextsTest {
  private static final String SECRET = "4711";
  private static final Duration LIMIT = Duration.ofSeconds(1);

  record Pin(String code, Gate gate) {
    Pin() {
      this(SECRET, new Gate());
    }

    @Override
    public String toString() {
      return "Pin " + code;
    }
  }

  private final Clock clock = new Clock();
  private final ActorScope scope = ActorSystem.openScope("secretive",
      o -> o.withScheduler(clock).withWatchdog(LIMIT, 10).withMessageContents(false));
  private final List<String> texts = new ArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private void assertOnlyClassIsShown(int textCount) {
    assertEquals(textCount, texts.size());
    for (var text : texts) assertTrue(text.contains("Pin") && !text.contains(SECRET), text);
  }

  private <R> ActorWithReturn<Pin, R> newBlockedActor(String name, Mailbox<Object> mailbox) {
    var first = new Pin();
    ActorWithReturn<Pin, R> actor = scope.named(name).mailbox(mailbox).newActorWithReturn((Pin pin) -> {
      if (pin == first) pin.gate.pass();
      throw new IllegalStateException();
    });
    Patience.startFiber(() -> actor.sendMessage(first));
    Patience.await(first.gate.entered);
    return actor;
  }

  @Promise("19.13")
  @Test
  void askExceptionsShowOnlyMessageClassWhenContentsAreHidden() {
    var actor = newBlockedActor("safe", Mailbox.bounded(1, Overflow.REJECT));
    var timedRequest = actor.sendMessageReturn(new Pin(), LIMIT);
    texts.add(Patience.failure(actor.sendMessageReturn(new Pin())).getMessage());
    clock.manual.advance(LIMIT);
    texts.add(Patience.failure(timedRequest).getMessage());
    actor.askExit();
    texts.add(assertThrows(ActorStoppedException.class, () -> actor.ask(new Pin())).getMessage());

    assertOnlyClassIsShown(3);
  }

  @Promise("19.13")
  @Test
  void placeholderInActorNameIsNotReplacedInExceptionText() {
    var actor = scope.named("safe {request} and {reason}").newActorWithReturn((Pin pin) -> 1);
    actor.close();

    texts.add(assertThrows(ActorStoppedException.class, () -> actor.ask(new Pin())).getMessage());

    assertOnlyClassIsShown(1);
    assertTrue(texts.getFirst().contains("'safe {request} and {reason}'"), texts::getFirst);
  }

  @Promise("19.13")
  @Test
  void dumpsLogsAndDeadLettersShowOnlyClassOfHiddenMessages() {
    var actor = newBlockedActor("safe", Mailbox.unbounded());
    texts.add(scope.dump());
    texts.add(clock.logged(LIMIT.multipliedBy(2)));
    texts.add(scope.actors().getFirst().activity());
    actor.askExit();
    actor.sendMessage(new Pin());
    texts.add(scope.deadLetters().toString());

    assertOnlyClassIsShown(4);
  }

  @Promise("19.13")
  @Test
  void failureLogShowsOnlyMessageClassWhenContentsAreHidden() {
    try (var logged = new Logged()) {
      var actor = scope.named("safe").onFailure(FailurePolicy.resume()).newActor((Pin pin) -> {
        throw new IllegalStateException();
      });
      actor.sendMessage(new Pin());
      Patience.eventually(() -> logged.text().contains("continues"));
      texts.add(logged.text());
    }

    assertOnlyClassIsShown(1);
  }

  @Promise("19.13")
  @Test
  void topicLogShowsOnlyMessageClassWhenContentsAreHidden() {
    var topic = Topic.<Pin>open(scope.named("news"));
    Executor directExecutor = Runnable::run;
    topic.subscribeOn(directExecutor, pin -> {
      throw new IllegalStateException();
    });
    try (var logged = new Logged()) {
      topic.publish(new Pin());
      texts.add(logged.text());
    }

    assertOnlyClassIsShown(1);
  }

  @Test
  void childScopesInheritHidingOfMessageContents() {
    var hidingScope = scope.openScope("like");
    var showingScope = scope.openScope("open", o -> o.withMessageContents(true));
    for (var child : List.of(hidingScope, showingScope)) {
      var actor = child.anonymous().newActor((String pin) -> {});
      actor.askExit();
      actor.sendMessage(SECRET); // a String, because its text needs no call of toString that may be late
    }

    assertFalse(hidingScope.deadLetters().toString().contains(SECRET), hidingScope.deadLetters()::toString);
    assertTrue(showingScope.deadLetters().toString().contains(SECRET), showingScope.deadLetters()::toString);
  }

  /** If a name could contain a line break, the name could forge a line of the log. */
  @Promise("19.12")
  @Test
  void namesWithControlCharactersAreRefused() {
    var refusal = assertThrows(IllegalArgumentException.class, () -> scope.named("a\nb"));

    assertEquals("a name such as \"a\\nb\" would break the lines of logs; give a name without control characters",
        refusal.getMessage());
    assertThrows(IllegalArgumentException.class, () -> scope.openScope("a\tb"));
  }

  /** A part of a block has the name of the block and a part that may come from the user. */
  @Promise("19.12")
  @Test
  void controlCharactersInNamesOfActorsOfBlockAreEscaped() {
    assertEquals("x/a\\nb", BlockBuilder.of(scope.named("x")).child("a\nb").name().orElseThrow());
  }
}

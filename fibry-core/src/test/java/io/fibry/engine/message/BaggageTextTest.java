package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.TextContextPropagator;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Logged;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordingPropagator;
import io.fibry.testing.Variants;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that baggage is written as a text, from which another process can restore the baggage. */
class BaggageTextTest {
  /** A context propagator of one value, which has a name. */
  private static final class NamedValue implements TextContextPropagator<String> {
    private final ThreadLocal<String> value = new ThreadLocal<>();
    private final String name;

    NamedValue(String name) {
      this.name = name;
    }

    void with(String text, Runnable code) {
      value.set(text);
      code.run();
      value.remove();
    }

    @Override
    public String capture() {
      return value.get();
    }

    @Override
    public AutoCloseable restore(String captured) {
      var before = value.get();
      value.set(captured);
      return () -> value.set(before);
    }

    @Override
    public Map<String, String> write(String captured) {
      return Map.of(name, captured);
    }

    @Override
    public String read(Map<String, String> texts) {
      return texts.get(name);
    }
  }

  private final NamedValue tenant = new NamedValue("tenant");
  private final NamedValue trace = new NamedValue("trace id");
  private final RecordingPropagator user = new RecordingPropagator("user"); // writes no text
  private final ActorScope scope =
      Variants.scope(o -> o.withContextPropagator(tenant).withContextPropagator(user).withContextPropagator(trace));
  private final CopyOnWriteArrayList<Object> received = new CopyOnWriteArrayList<>();
  private final Actor<Object> actor = scope.named("recorder")
      .newActor((Object message) -> received.add(message + " " + tenant.capture() + " " + trace.capture()));

  private static String textOf(ActorScope scope, Actor<Object> actor) {
    return BlockBuilder.of(scope.anonymous()).contextText(actor, "message");
  }

  private void send(ActorScope senderScope, String text, Object message) {
    BlockBuilder<Object> builder = BlockBuilder.of(senderScope.anonymous());
    builder.contextExecutor(actor, message, text).execute(() -> actor.sendMessage(message));
    assertNull(tenant.capture());
    assertNull(trace.capture());
  }

  @Promise("14.10")
  @Test
  void baggageWrittenAsTextIsRestoredForHandler() {
    var text = new StringBuilder();
    tenant.with("acme & söhne = 1%\n\t+",
        () -> trace.with("00-ab-cd-01", () -> text.append(textOf(scope, actor))));

    send(scope, text.toString(), "1:");
    send(scope, "", "2:");
    actor.close();

    assertEquals(2, received.size());
    assertEquals("1: acme & söhne = 1%\n\t+ 00-ab-cd-01", received.get(0));
    assertEquals("2: null null", received.get(1));
    assertTrue(text.chars().allMatch(letter -> letter > ' ' && letter < 127), text::toString);
  }

  @Promise("14.10")
  @Test
  void propagatorWithoutTextSupportWritesNothing() {
    user.runWith("alice", () -> assertEquals("", textOf(scope, actor)));
  }

  @Promise("14.11")
  @Test
  void textsThatExceedLimitAreOmittedAndLogged() {
    try (var logged = new Logged()) {
      tenant.with("x".repeat(3_000), () -> trace.with("00-ab-cd-01", () -> {
        for (int i = 0; i < 100; i++) assertEquals("trace+id=00-ab-cd-01", textOf(scope, actor));
      }));

      assertTrue(logged.text().contains("for a message to actor 'recorder' is left out: it has 3007 bytes"),
          logged::text);
    }
    tenant.with("x".repeat(2_041), () -> assertEquals(2_048, textOf(scope, actor).length()));
  }

  @Promise("14.11")
  @ParameterizedTest
  @ValueSource(strings = {"tenant", "&&&", "=", "tenant=%", "tenant=%zz", "other=1"})
  void invalidTextsRestoreNothing(String text) {
    send(scope, text, "1:");
    send(scope, text + "&" + "x".repeat(2_048), "2:");
    actor.close();

    assertEquals("1: null null", received.get(0));
    assertEquals("2: null null", received.get(1));
  }

  /** A context propagator that cannot write or read texts. */
  private record FailingPropagator() implements TextContextPropagator<String> {
    @Override
    public String capture() {
      return "captured";
    }

    @Override
    public AutoCloseable restore(String captured) {
      return () -> {};
    }

    @Override
    public Map<String, String> write(String captured) {
      throw new IllegalStateException("cannot write");
    }

    @Override
    public String read(Map<String, String> texts) {
      throw new IllegalStateException("cannot read");
    }
  }

  @Promise("14.6")
  @Test
  void failedPropagatorAffectsNoOtherPropagator() {
    try (var logged = new Logged();
        ActorScope failingScope =
            Variants.scope(o -> o.withContextPropagator(new FailingPropagator()).withContextPropagator(tenant))) {
      tenant.with("acme", () -> assertEquals("tenant=acme", textOf(failingScope, actor)));
      send(failingScope, "tenant=acme", "1:");
      actor.close();

      assertEquals("1: acme null", received.get(0));
      assertTrue(logged.text().contains("could not write") && logged.text().contains("could not read"), logged::text);
    }
  }

  @Test
  void scopeWithoutPropagatorsWritesAndRestoresNothing() {
    try (ActorScope plainScope = Variants.scope(o -> o)) {
      assertEquals("", textOf(plainScope, actor));
      send(plainScope, "tenant=acme", "1:");
    }
    actor.close();

    assertEquals("1: null null", received.get(0));
  }
}

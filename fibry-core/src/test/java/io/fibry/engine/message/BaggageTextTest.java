package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.CountingPropagator;
import io.fibry.Promise;
import io.fibry.TextContextPropagator;
import io.fibry.Variants;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Logged;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Values of a sender become a text, and set the same values in another process. */
class BaggageTextTest {
  /** One value, under a name. */
  private static final class Named implements TextContextPropagator<String> {
    private final ThreadLocal<String> value = new ThreadLocal<>();
    private final String name;

    Named(String name) {
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

  private final Named tenant = new Named("tenant");
  private final Named trace = new Named("trace id");
  private final CountingPropagator user = new CountingPropagator("user"); // without texts
  private final ActorScope scope =
      Variants.scope(o -> o.withContextPropagator(tenant).withContextPropagator(user).withContextPropagator(trace));
  private final CopyOnWriteArrayList<Object> seen = new CopyOnWriteArrayList<>();
  private final Actor<Object> actor = scope.named("noting")
      .newActor((Object message) -> seen.add(message + " " + tenant.capture() + " " + trace.capture()));

  private static String textOf(ActorScope scope, Actor<Object> actor) {
    return BlockBuilder.of(scope.anonymous()).contextText(actor, "message");
  }

  private void send(ActorScope at, String text, Object message) {
    BlockBuilder<Object> how = BlockBuilder.of(at.anonymous());
    how.contextExecutor(actor, message, text).execute(() -> actor.sendMessage(message));
    assertNull(tenant.capture());
    assertNull(trace.capture());
  }

  @Promise("14.10")
  @Test
  void textSetsTheValuesOfTheSender() {
    var text = new StringBuilder();
    tenant.with("acme & söhne = 1%\n\t+",
        () -> trace.with("00-ab-cd-01", () -> text.append(textOf(scope, actor))));

    send(scope, text.toString(), "1:");
    send(scope, "", "2:");
    actor.close();

    assertEquals(2, seen.size());
    assertEquals("1: acme & söhne = 1%\n\t+ 00-ab-cd-01", seen.get(0));
    assertEquals("2: null null", seen.get(1));
    assertTrue(text.chars().allMatch(letter -> letter > ' ' && letter < 127), text::toString);
  }

  @Promise("14.10")
  @Test
  void carrierWithoutTextsStaysInItsProcess() {
    user.with("alice", () -> assertEquals("", textOf(scope, actor)));
  }

  @Promise("14.11")
  @Test
  void textsThatDoNotFitAreLeftOutAndLogged() {
    try (var logged = new Logged()) {
      tenant.with("x".repeat(3_000), () -> trace.with("00-ab-cd-01", () -> {
        for (int i = 0; i < 100; i++) assertEquals("trace+id=00-ab-cd-01", textOf(scope, actor));
      }));

      assertTrue(logged.text().contains("for a message to actor 'noting' is left out: it has 3007 bytes"),
          logged::text);
    }
    tenant.with("x".repeat(2_041), () -> assertEquals(2_048, textOf(scope, actor).length()));
  }

  @Promise("14.11")
  @ParameterizedTest
  @ValueSource(strings = {"tenant", "&&&", "=", "tenant=%", "tenant=%zz", "other=1"})
  void foreignTextsSetNothing(String text) {
    send(scope, text, "1:");
    send(scope, text + "&" + "x".repeat(2_048), "2:");
    actor.close();

    assertEquals("1: null null", seen.get(0));
    assertEquals("2: null null", seen.get(1));
  }

  /** Writes or reads nothing but failures. */
  private record Broken() implements TextContextPropagator<String> {
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
  void failureOfACarrierHarmsNoOther() {
    try (var logged = new Logged();
        ActorScope broken = Variants.scope(o -> o.withContextPropagator(new Broken()).withContextPropagator(tenant))) {
      tenant.with("acme", () -> assertEquals("tenant=acme", textOf(broken, actor)));
      send(broken, "tenant=acme", "1:");
      actor.close();

      assertEquals("1: acme null", seen.get(0));
      assertTrue(logged.text().contains("could not write") && logged.text().contains("could not read"), logged::text);
    }
  }

  @Test
  void scopeWithoutCarriersWritesNothing() {
    try (ActorScope plain = Variants.scope(o -> o)) {
      assertEquals("", textOf(plain, actor));
      send(plain, "tenant=acme", "1:");
    }
    actor.close();

    assertEquals("1: null null", seen.get(0));
  }
}

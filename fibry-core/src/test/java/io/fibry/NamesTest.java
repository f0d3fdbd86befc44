package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.spi.BlockBuilder;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class NamesTest {
  sealed interface Shop {}

  record Order(String what) implements Shop {}

  private final ActorScope scope = Variants.scope(o -> o);

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @Promise("10.1")
  @Test
  void aNameIsUniqueAmongTheLiving() {
    var first = scope.named("one").newActor((Object m) -> {});

    var refusal = assertThrows(IllegalArgumentException.class, () -> scope.named("one").newActor((Object m) -> {}));

    for (String word : new String[] {"scope 'test'", "'one'", "another name"})
      assertTrue(refusal.getMessage().contains(word), refusal.getMessage());
    assertTrue(first.sendMessage("still there"));
  }

  @Promise("10.1")
  @Test
  void aNameIsFreeOnceItsActorEnded() {
    scope.named("phoenix").newActor((Object m) -> {}).close();

    assertEquals("phoenix", scope.named("phoenix").newActor((Object m) -> {}).name());
  }

  @Promise("10.1")
  @Test
  void aNameIsTakenUntilTheHooksAreDone() {
    var seen = new CopyOnWriteArrayList<Object>();
    var actor = scope.named("busy").protocol(Shop.class).newActor((Shop m) -> {});
    actor.closeOnExit(() -> seen.add(scope.find("busy", Shop.class)));

    actor.close();

    assertEquals(List.of(Optional.of(actor)), seen);
    assertEquals(Optional.empty(), scope.find("busy", Shop.class));
  }

  @Test
  void twoScopesMayUseOneName() {
    var here = scope.named("same").newActor((Object m) -> {});
    var there = Variants.scope(o -> o).named("same").newActor((Object m) -> {});

    assertEquals(here.name(), there.name());
  }

  @Promise("10.3")
  @Test
  void findFindsByNameAndProtocol() {
    var shop = scope.named("shop").protocol(Shop.class).newActor((Shop m) -> {});

    assertSame(shop, scope.find("shop", Shop.class).orElseThrow());
    assertEquals("actor 'shop' has the protocol Shop, not Order; ask for the one that it was made with",
        assertThrows(IllegalArgumentException.class, () -> scope.find("shop", Order.class)).getMessage());
    assertEquals(Optional.empty(), scope.find("other", Shop.class));
  }

  @Promise("10.3")
  @Test
  void findOfActorWithoutProtocolThrows() {
    scope.named("loose").newActor((Object m) -> {});

    assertEquals(
        "actor 'loose' was made without a protocol, so it cannot be found; make it with .protocol(Object.class)",
        assertThrows(IllegalStateException.class, () -> scope.find("loose", Object.class)).getMessage());
  }

  @Test
  void rootScopeFindsActors() {
    try (var shop = ActorSystem.named("NamesTest").protocol(Shop.class).newActor((Shop m) -> {})) {
      assertSame(shop, ActorSystem.find("NamesTest", Shop.class).orElseThrow());
      assertSame(shop, ActorSystem.root().find("NamesTest", Shop.class).orElseThrow());
    }
    assertEquals("root", ActorSystem.root().name());
  }

  @Test
  void aBlankNameIsRefused() {
    for (String blank : new String[] {"", " ", "\t"}) {
      var refusal = assertThrows(IllegalArgumentException.class, () -> scope.named(blank));
      assertTrue(refusal.getMessage().contains("anonymous()"), refusal.getMessage());
    }
    assertThrows(IllegalArgumentException.class, () -> BlockBuilder.of(scope.named("whole")).child(" "));
  }

  @Test
  void anonymousActorGetsGeneratedName() {
    var one = scope.anonymous().newActor((Object m) -> {});
    var other = scope.anonymous().newActor((Object m) -> {});

    assertTrue(one.name().startsWith("anonymous@"), one.name());
    assertEquals(one.name(), one.name());
    assertNotEquals(one.name(), other.name());
    assertEquals("actor '" + one.name() + "'", one.toString());
  }
}

package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.spi.BlockBuilder;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class NamesTest {
  sealed interface Shop {}

  record Order(String item) implements Shop {}

  private final ActorScope scope = Variants.scope(o -> o);

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @Promise("10.1")
  @Test
  void nameOfLivingActorIsRefusedForOtherActor() {
    var first = scope.named("one").newActor((Object m) -> {});

    var refusal = assertThrows(IllegalArgumentException.class, () -> scope.named("one").newActor((Object m) -> {}));

    for (String word : new String[] {"scope 'test'", "'one'", "another name"})
      assertTrue(refusal.getMessage().contains(word), refusal.getMessage());
    assertTrue(first.sendMessage("still there"));
  }

  @Promise("10.1")
  @Test
  void nameIsFreeAfterExit() {
    scope.named("phoenix").newActor((Object m) -> {}).close();

    assertEquals("phoenix", scope.named("phoenix").newActor((Object m) -> {}).name());
  }

  @Promise("10.1")
  @Test
  void actorIsFoundByNameUntilExitHooksHaveRun() {
    var results = new CopyOnWriteArrayList<Object>();
    var actor = scope.named("busy").protocol(Shop.class).newActor((Shop m) -> {});
    actor.closeOnExit(() -> results.add(scope.find("busy", Shop.class)));

    actor.close();

    assertEquals(List.of(Optional.of(actor)), results);
    assertEquals(Optional.empty(), scope.find("busy", Shop.class));
  }

  @Test
  void actorsOfTwoScopesMayHaveSameName() {
    var firstActor = scope.named("same").newActor((Object m) -> {});
    var secondActor = Variants.scope(o -> o).named("same").newActor((Object m) -> {});

    assertEquals(firstActor.name(), secondActor.name());
  }

  @Promise("10.3")
  @Test
  void findReturnsActorOnlyForItsNameAndProtocol() {
    var shop = scope.named("shop").protocol(Shop.class).newActor((Shop m) -> {});

    assertSame(shop, scope.find("shop", Shop.class).orElseThrow());
    assertEquals("actor 'shop' has the protocol Shop, not Order; ask for the protocol that it was made with",
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
  void actorSystemAndRootScopeFindActorByName() {
    try (var shop = ActorSystem.named("NamesTest").protocol(Shop.class).newActor((Shop m) -> {})) {
      assertSame(shop, ActorSystem.find("NamesTest", Shop.class).orElseThrow());
      assertSame(shop, ActorSystem.root().find("NamesTest", Shop.class).orElseThrow());
    }
    assertEquals("root", ActorSystem.root().name());
  }

  @Test
  void blankNameIsRefused() {
    for (String name : new String[] {"", " ", "\t"}) {
      var refusal = assertThrows(IllegalArgumentException.class, () -> scope.named(name));
      assertTrue(refusal.getMessage().contains("anonymous()"), refusal.getMessage());
    }
    assertThrows(IllegalArgumentException.class, () -> BlockBuilder.of(scope.named("whole")).child(" "));
  }

  @Test
  void anonymousActorGetsGeneratedName() {
    var first = scope.anonymous().newActor((Object m) -> {});
    var second = scope.anonymous().newActor((Object m) -> {});

    assertTrue(first.name().startsWith("anonymous@"), first.name());
    assertEquals(first.name(), first.name());
    assertNotEquals(first.name(), second.name());
    assertEquals("actor '" + first.name() + "'", first.toString());
  }
}

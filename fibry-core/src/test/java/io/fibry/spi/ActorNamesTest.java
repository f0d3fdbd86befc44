package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.testing.Promise;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests which name of a list an actor belongs to. */
class ActorNamesTest {

  private static String refusal(String... names) {
    return assertThrows(IllegalArgumentException.class, () -> ActorNames.of(List.of(names))).getMessage();
  }

  @Promise("19.24")
  @Test
  void actorBelongsToFirstNameThatMatches() {
    var names = ActorNames.of(List.of("cart-7", "cart-*", "payments", "c*"));

    assertEquals(List.of(0, 1, 1, 2, 3, -1),
        Stream.of("cart-7", "cart-77", "cart-", "payments", "cart", "payments2").map(names::indexOf).toList());
    assertEquals("[cart-7, cart-*, payments, c*]", names.toString());
  }

  @Promise("19.24")
  @Test
  void starAloneMatchesEachName() {
    var names = ActorNames.of(List.of("*"));

    assertEquals(List.of(0, 0), Stream.of("", "any").map(names::indexOf).toList());
  }

  @Promise("19.24")
  @Test
  void starInsideNameIsPartOfName() {
    var names = ActorNames.of(List.of("a*b"));

    assertEquals(List.of(0, -1), Stream.of("a*b", "axb").map(names::indexOf).toList());
  }

  @Promise("19.24")
  @Test
  void uselessNamesAreRefused() {
    assertEquals("no name of an actor is given; give at least one name", refusal());
    assertEquals("a blank name matches no actor; give a name, or a beginning such as \"cart-*\"", refusal(" "));
    assertEquals("\"cart-*\" is given twice; give each name once", refusal("cart-*", "pay", "cart-*"));
    assertEquals("\"cart-7\" can match no actor, because \"cart-*\" before it matches the same actors; give "
        + "\"cart-7\" first", refusal("cart-*", "cart-7"));
    assertEquals("\"cart-*\" can match no actor, because \"c*\" before it matches the same actors; give "
        + "\"cart-*\" first", refusal("c*", "cart-*"));
  }
}

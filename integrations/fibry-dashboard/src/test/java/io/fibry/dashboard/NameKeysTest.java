package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class NameKeysTest {
  private final ScopeSnapshot.NameKeys keys = new ScopeSnapshot.NameKeys();

  @Test
  void keysOfManyActorsWithSameNameAreShortAndDiffer() {
    var all = new HashSet<String>();
    for (int i = 0; i < 10_000; i++) all.add(keys.next("x"));

    assertEquals(10_000, all.size());
    assertEquals(7, all.stream().mapToInt(String::length).max().orElseThrow()); // "x", a line break, "10000"
  }

  @Test
  void eachNameHasKeysOfItsOwn() {
    assertEquals(List.of("x", "x\n2", "x2", "x\n3", "x2\n2"),
        List.of(keys.next("x"), keys.next("x"), keys.next("x2"), keys.next("x"), keys.next("x2")));
  }
}

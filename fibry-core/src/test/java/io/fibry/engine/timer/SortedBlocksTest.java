package io.fibry.engine.timer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.fibry.testing.StackEdge;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class SortedBlocksTest {
  private final long seed = System.nanoTime();
  private final SplittableRandom random = new SplittableRandom(seed);
  private final SortedBlocks<Integer> blocks = new SortedBlocks<>();
  private final TreeSet<Integer> model = new TreeSet<>();

  @Test
  void elementsLeaveInOrderOfTreeSetAfterRandomChanges() {
    for (int round = 0; round < 200; round++) {
      int changes = 1 << random.nextInt(13);
      int removalsInTen = random.nextInt(10);
      boolean isAscending = random.nextBoolean();
      for (int i = 0; i < changes; i++) {
        if (model.isEmpty() || random.nextInt(10) >= removalsInTen) add(isAscending);
        else removeOne();
        assertEquals(model.isEmpty() ? null : model.first(), blocks.first(), "seed " + seed);
        assertEquals(model.size(), blocks.size(), "seed " + seed);
      }
      assertDrained(List.copyOf(model));
      model.clear();
    }
  }

  @Test
  void ascendingElementsAreSorted() {
    for (int i = 0; i < 3 * SortedBlocks.MAX_BLOCK + 1; i++) addToBoth(i);

    assertDrained(List.copyOf(model));
  }

  @Test
  void descendingElementsAreSorted() {
    for (int i = 3 * SortedBlocks.MAX_BLOCK; i >= 0; i--) addToBoth(i);

    assertDrained(List.copyOf(model));
  }

  @Test
  void elementAddedTwiceIsKeptOnce() {
    for (int i = 0; i < 2 * SortedBlocks.MAX_BLOCK; i++) addToBoth(i);
    for (var element : model) blocks.add(element);

    assertDrained(List.copyOf(model));
  }

  @Test
  void stackOverflowWhileAddingLosesNoElement() {
    var added = new int[200 * 16_384]; // the stack of a round has 256 KiB, and a call takes at least 16 bytes
    var counts = new int[2]; // of numbers that were made, and of elements that were added
    var edge = new StackEdge(random);

    for (int round = 0; round < 200; round++)
      edge.overflow(level -> {
        Integer element = ++counts[0] * 0x9E3779B9; // a different number each time
        blocks.add(element);
        added[counts[1]++] = element; // the add above was the last call, so an overflow cannot come in between
      });

    assertDrained(Arrays.stream(added, 0, counts[1]).boxed().sorted().toList());
  }

  private void add(boolean isAscending) {
    int element;
    do element = isAscending && !model.isEmpty() ? model.last() + 1 + random.nextInt(3) : random.nextInt(100_000);
    while (model.contains(element));
    addToBoth(element);
  }

  private void addToBoth(Integer element) {
    blocks.add(element);
    model.add(element);
  }

  private void removeOne() {
    if (random.nextBoolean()) {
      blocks.removeFirst();
      model.pollFirst();
      return;
    }
    var element = model.floor(random.nextInt(model.first(), model.last() + 1));
    blocks.remove(element);
    model.remove(element);
    if (random.nextInt(4) == 0) blocks.remove(element); // changes nothing, because it has left
  }

  /** Removes all elements, and checks that they are the expected ones. */
  private void assertDrained(List<Integer> expected) {
    var drained = new ArrayList<Integer>();
    for (var element = blocks.first(); element != null; element = blocks.first()) {
      drained.add(element);
      blocks.removeFirst();
    }
    assertEquals(expected, drained, "seed " + seed);
    assertNull(blocks.first());
    assertEquals(0, blocks.size());
  }
}
